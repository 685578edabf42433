# shellcheck shell=sh
# request.sh: one HTTP request by curl, GNU wget or busybox wget, and what came of it. The URL reaches curl and GNU wget
# by a file, never by argument: it may hold a secret. Works in FLEXNODE_STAGING_DIR.

# flexnode_request URL FILE: one request, no redirect followed (but by busybox), made again when what went wrong may
# pass. Sets FLEXNODE_HTTP_STATUS (empty: no whole answer), FLEXNODE_HTTP_LOCATION, FLEXNODE_HTTP_RETRY_AFTER,
# FLEXNODE_HTTP_FAULT (see flexnode_judge), FLEXNODE_HTTP_PROXY (1: a proxy would not connect us), FLEXNODE_HTTP_WORDS
# (the tool's own).
flexnode_request() {
  flexnode_rq_try=1
  flexnode_try_request "$1" "$2"
  while [ "$flexnode_rq_try" -lt "$FLEXNODE_DOWNLOAD_ATTEMPTS" ] && flexnode_may_pass; do
    flexnode_rq_pause=${FLEXNODE_HTTP_RETRY_AFTER:-$flexnode_rq_try}
    [ "$flexnode_rq_pause" -le "$FLEXNODE_RETRY_AFTER_LIMIT_S" ] || return 0
    flexnode_rq_words=${FLEXNODE_HTTP_STATUS:+HTTP status }${FLEXNODE_HTTP_STATUS:-$FLEXNODE_HTTP_WORDS}
    flexnode_say "$flexnode_rq_words: trying again in $flexnode_rq_pause s"
    flexnode_wait sleep "$flexnode_rq_pause"
    flexnode_rq_try=$((flexnode_rq_try + 1))
    flexnode_try_request "$1" "$2"
  done
}

# flexnode_may_pass: could the same request succeed a moment later?
flexnode_may_pass() {
  case $FLEXNODE_HTTP_STATUS,$FLEXNODE_HTTP_FAULT in
    408,* | 429,* | 500,* | 502,* | 503,* | 504,* | ,passing) ;;
    *) return 1 ;;
  esac
}

# flexnode_try_request URL FILE: the same, once.
flexnode_try_request() {
  flexnode_start "flexnode_run_$FLEXNODE_FETCHER" "$1" "$2"
  [ -z "$FLEXNODE_PROGRESS" ] || flexnode_show_progress "$2"
  flexnode_join
  flexnode_tr_status=$?
  flexnode_read_answer
  [ -z "$FLEXNODE_HTTP_LOCATION" ] || {
    flexnode_join_url "$1" "$FLEXNODE_HTTP_LOCATION"
    FLEXNODE_HTTP_LOCATION=$FLEXNODE_RESULT
  }
  case $flexnode_tr_status,$FLEXNODE_HTTP_STATUS in
    0,* | *,[345]??) ;;
    *) FLEXNODE_HTTP_STATUS='' ;; # a part of the file may have come: that is no answer
  esac
  flexnode_judge "$flexnode_tr_status" "$2"
  FLEXNODE_HTTP_WORDS=${FLEXNODE_HTTP_WORDS:-"$FLEXNODE_FETCHER failed with status $flexnode_tr_status"}
}

# flexnode_judge STATUS FILE: sets FLEXNODE_HTTP_FAULT to what the tool's exit STATUS means: large, late, trust
# (certificates), passing (worth another try), other. By the tools' manuals; a kill is 137, in yash 393.
flexnode_judge() {
  case $FLEXNODE_FETCHER,$1 in
    *,124 | *,137 | *,393) FLEXNODE_HTTP_FAULT=late ;;
    curl,63) FLEXNODE_HTTP_FAULT=large ;;
    curl,51 | curl,60 | curl,77 | curl,83 | curl,90 | curl,91 | wget,5) FLEXNODE_HTTP_FAULT=trust ;;
    curl,5 | curl,6 | curl,7 | curl,16 | curl,18 | curl,28 | curl,35 | curl,52 | curl,55 | curl,56 | curl,92) FLEXNODE_HTTP_FAULT=passing ;;
    wget,4 | busybox,1) FLEXNODE_HTTP_FAULT=passing ;;
    *) FLEXNODE_HTTP_FAULT=other ;;
  esac
  [ -z "$FLEXNODE_HTTP_PROXY" ] || FLEXNODE_HTTP_FAULT=other
  [ "$1" = 0 ] || ! flexnode_is_cut_off "$2" || FLEXNODE_HTTP_FAULT=large
}

# flexnode_is_cut_off FILE: did it grow to the limit?
flexnode_is_cut_off() {
  [ -f "$1" ] && [ "$(flexnode_x stat -c %s -- "$1")" -ge $((FLEXNODE_ARCHIVE_LIMIT_MIB << 20)) ]
}

# flexnode_limit_size: in a subshell: no file that its commands write gets larger than an archive may be, so an endless
# one does not fill the disk. bash counts in KiB, POSIX in 512 bytes. A lower limit that we cannot raise is as good.
# shellcheck disable=SC3028 # SHELLOPTS is asked of bash only
flexnode_limit_size() {
  case ${BASH_VERSION:+:${SHELLOPTS-}:} in
    '' | *:posix:*) ulimit -f $((FLEXNODE_ARCHIVE_LIMIT_MIB << 11)) ;;
    *) ulimit -f $((FLEXNODE_ARCHIVE_LIMIT_MIB << 10)) ;;
  esac 2>/dev/null
}

# flexnode_run_limited URL COMMAND…: the runners run in a subshell of their own. What comes goes to the staging files
# `headers` (curl) and `words`.
flexnode_run_limited() {
  { printf '%s\n' "$1" >"$FLEXNODE_STAGING_DIR/request" && : >"$FLEXNODE_STAGING_DIR/headers"; } 2>/dev/null || return
  flexnode_limit_size
  shift
  { exec timeout -s KILL "$FLEXNODE_DOWNLOAD_TIMEOUT_S" "$@" >"$FLEXNODE_STAGING_DIR/words" 2>&1; } 2>/dev/null
}
flexnode_run_curl() { # URL FILE
  flexnode_run_limited "url = \"$1\"" curl -q -K "$FLEXNODE_STAGING_DIR/request" -g -sS -f --proto '=http,https' -o "$2" \
    -D "$FLEXNODE_STAGING_DIR/headers" -w 'connect: %{http_connect}\n' --max-filesize $((FLEXNODE_ARCHIVE_LIMIT_MIB << 20)) \
    --connect-timeout 20 --speed-limit 1 --speed-time "$FLEXNODE_STALL_TIMEOUT_S"
}
flexnode_run_wget() { # URL FILE
  # It knows only the names in small letters.
  https_proxy=${https_proxy:-${HTTPS_PROXY-}} no_proxy=${no_proxy:-${NO_PROXY-}}
  export https_proxy no_proxy
  flexnode_run_limited "$1" wget --no-config --no-hsts --no-netrc -i "$FLEXNODE_STAGING_DIR/request" -O "$2" \
    --server-response --no-verbose --max-redirect=0 --tries=1 --auth-no-challenge \
    --dns-timeout=20 --connect-timeout=20 --read-timeout="$FLEXNODE_STALL_TIMEOUT_S"
}
# Without -T, which crashes some builds (Debian 12's). It has no list of hosts that need no proxy.
flexnode_run_busybox() { # URL FILE
  flexnode_rb_proxy=on
  ! flexnode_is_loopback_url "$1" || flexnode_rb_proxy=off
  flexnode_run_limited "$1" wget -q -S -Y "$flexnode_rb_proxy" -O "$2" "$1"
}

# flexnode_read_answer: reads what a runner left: the header of the last answer (wget shows it among its words).
flexnode_read_answer() {
  FLEXNODE_HTTP_STATUS='' FLEXNODE_HTTP_LOCATION='' FLEXNODE_HTTP_RETRY_AFTER='' FLEXNODE_HTTP_LENGTH=''
  FLEXNODE_HTTP_WORDS='' FLEXNODE_HTTP_PROXY=''
  flexnode_ra_return=$(printf '\r')
  for flexnode_ra_file in headers words; do
    [ -f "$FLEXNODE_STAGING_DIR/$flexnode_ra_file" ] || continue
    while IFS=' ' read -r flexnode_ra_word flexnode_ra_rest; do
      flexnode_read_line "$flexnode_ra_word" "${flexnode_ra_rest%"$flexnode_ra_return"}"
    done <"$FLEXNODE_STAGING_DIR/$flexnode_ra_file"
  done
}

# flexnode_read_line WORD REST: one line of them.
flexnode_read_line() {
  case $1,${2%% *} in
    HTTP/*,[1-5][0-9][0-9])
      FLEXNODE_HTTP_STATUS=${2%% *}
      FLEXNODE_HTTP_LOCATION='' FLEXNODE_HTTP_RETRY_AFTER='' FLEXNODE_HTTP_LENGTH=''
      ;;
    [Ll]ocation:,*) FLEXNODE_HTTP_LOCATION=$2 ;;
    [Rr]etry-[Aa]fter:,*) flexnode_is_short_number "$2" && FLEXNODE_HTTP_RETRY_AFTER=$2 ;;
    [Cc]ontent-[Ll]ength:,*) flexnode_is_short_number "$2" && FLEXNODE_HTTP_LENGTH=$2 ;;
    curl:,*) FLEXNODE_HTTP_WORDS=${2#\(*\) } ;;
    ERROR:,*) FLEXNODE_HTTP_WORDS=${2%.} ;;
    wget:,*) FLEXNODE_HTTP_WORDS=$2 ;;
    The,certificate*) FLEXNODE_HTTP_WORDS=${2%.} ;;
    connect:,[345]??) FLEXNODE_HTTP_PROXY=1 ;;
    Proxy,tunneling)
      FLEXNODE_HTTP_PROXY=1
      FLEXNODE_HTTP_WORDS="the proxy refused: ${2#tunneling failed: }"
      FLEXNODE_HTTP_WORDS=${FLEXNODE_HTTP_WORDS%Unable to establish*}
      ;;
    *failed:,*) FLEXNODE_HTTP_WORDS=${2%.} ;;
  esac
}

# flexnode_is_short_number TEXT: digits, few enough to count with? (A date in Retry-After is none.)
flexnode_is_short_number() {
  case $1 in '' | *[!0-9]* | ????????????*) return 1 ;; esac
}
