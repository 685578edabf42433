# shellcheck shell=sh
# fetch.sh: URLs, downloads, checksum files. Works in FLEXNODE_STAGING_DIR. A URL may hold a secret (a signed query,
# user:password@): it reaches curl and wget by a file, never by argument, and is never shown whole.

# flexnode_show_url URL: sets FLEXNODE_RESULT to URL without user info, query and fragment.
flexnode_show_url() {
  FLEXNODE_RESULT=${1%%[?#]*}
  case $FLEXNODE_RESULT in
    *://*/*) flexnode_su_path=/${FLEXNODE_RESULT#*://*/} ;;
    *) flexnode_su_path= ;;
  esac
  flexnode_su_host=${FLEXNODE_RESULT#*://}
  flexnode_su_host=${flexnode_su_host%%/*}
  FLEXNODE_RESULT=${FLEXNODE_RESULT%%://*}://${flexnode_su_host##*@}$flexnode_su_path
}

# flexnode_is_loopback_url URL: is the host a literal loopback address? (A name may resolve to anything.)
flexnode_is_loopback_url() {
  flexnode_lo_host=${1#*://}
  flexnode_lo_host=${flexnode_lo_host%%[/?#]*}
  flexnode_lo_host=${flexnode_lo_host##*@}
  case $flexnode_lo_host in
    '[::1]' | '[::1]:'*) return 0 ;;
    127.*) ;;
    *) return 1 ;;
  esac
  case ${flexnode_lo_host%%:*} in *[!0-9.]*) return 1 ;; esac
}

# flexnode_check_url URL [FROM]: https, or http to a loopback address; with FROM, the URL that redirected here: to
# loopback only from loopback. Prints E_URL and returns its code.
flexnode_check_url() {
  flexnode_show_url "$1"
  case $1 in
    *[!!-~]* | *[\"\\\<\>\`{}\|^]*)
      flexnode_error E_URL download "$FLEXNODE_RESULT holds a character that no URL has" "correct the URL" || return
      ;;
    https://[!/?#]*) return 0 ;;
    http://*) if flexnode_is_loopback_url "$1" && flexnode_is_loopback_url "${2:-$1}"; then return 0; fi ;;
  esac
  if [ -n "${2-}" ]; then
    flexnode_error E_URL download "a redirect to $FLEXNODE_RESULT is not followed" "see where the URL leads"
  else
    flexnode_error E_URL download "$FLEXNODE_RESULT is neither https nor a loopback address"
  fi
}

# flexnode_find_fetcher: sets FLEXNODE_FETCHER to curl, wget (GNU) or busybox, which verifies no certificate and so
# serves only when a sum was given. Prints E_TOOL and returns its code.
flexnode_find_fetcher() {
  FLEXNODE_FETCHER=curl
  flexnode_has curl && return
  FLEXNODE_FETCHER=wget
  if flexnode_has wget; then
    case $(wget --version 2>&1 </dev/null 8>&- 9>&-) in *GNU*) return ;; esac
    FLEXNODE_FETCHER=busybox
    [ -z "$FLEXNODE_WANT_SHA256" ] || return 0
    flexnode_error E_TOOL tools "this wget verifies no certificate" "install curl, or give the archive's SHA-256 sum"
  else
    flexnode_error E_TOOL tools "neither curl nor wget is there" "install curl"
  fi
}

# flexnode_fetch URL FILE [MAY_BE_MISSING]: downloads URL to FILE, following redirects that are allowed. Prints
# E_DOWNLOAD, E_URL or E_TOOL and returns that code; FILE is then not to be used. With the third argument the answers
# 403 and 404 are no error: nothing is printed, 1 is returned.
flexnode_fetch() {
  flexnode_fe_url=$1
  flexnode_check_url "$1" && flexnode_find_fetcher || return
  for flexnode_fe_hop in 1 2 3 4 5 6 7 8 9 10; do
    flexnode_request "$flexnode_fe_url" "$2"
    flexnode_show_url "$flexnode_fe_url"
    case $FLEXNODE_HTTP_STATUS in
      2??) flexnode_check_size "$2" E_DOWNLOAD download && return ;;
      3??) [ -z "$FLEXNODE_HTTP_LOCATION" ] || {
        flexnode_check_url "$FLEXNODE_HTTP_LOCATION" "$flexnode_fe_url" || return
        flexnode_debug "download: redirected to $FLEXNODE_RESULT"
        flexnode_fe_url=$FLEXNODE_HTTP_LOCATION
        continue
      } ;;
    esac
    case $FLEXNODE_HTTP_STATUS,${3-} in 403,?* | 404,?*) return 1 ;; esac
    flexnode_explain_http "$FLEXNODE_HTTP_STATUS"
    flexnode_show_url "$flexnode_fe_url"
    flexnode_error E_DOWNLOAD download "$FLEXNODE_RESULT: $FLEXNODE_HTTP_WORDS" || return
  done
  flexnode_error E_DOWNLOAD download "$FLEXNODE_RESULT: more than $flexnode_fe_hop redirects"
}

# flexnode_explain_http STATUS: puts the status in front of FLEXNODE_HTTP_WORDS, the tool's own words (empty STATUS:
# there was no answer).
flexnode_explain_http() {
  case $1 in
    '') ;;
    403) FLEXNODE_HTTP_WORDS='HTTP status 403, access is denied' ;;
    404) FLEXNODE_HTTP_WORDS='HTTP status 404, there is no such file' ;;
    429) FLEXNODE_HTTP_WORDS='HTTP status 429, too many requests from this address' ;;
    *) FLEXNODE_HTTP_WORDS="HTTP status $1" ;;
  esac
}

# flexnode_request URL FILE: one request, no redirect followed. Sets FLEXNODE_HTTP_STATUS (empty: no whole answer),
# FLEXNODE_HTTP_LOCATION, FLEXNODE_HTTP_WORDS.
flexnode_request() {
  FLEXNODE_HTTP_STATUS='' FLEXNODE_HTTP_LOCATION='' FLEXNODE_HTTP_WORDS=''
  flexnode_wait "flexnode_run_$FLEXNODE_FETCHER" "$1" "$2"
  flexnode_rq_status=$?
  "flexnode_read_$FLEXNODE_FETCHER" "$flexnode_rq_status"
  case $flexnode_rq_status,$FLEXNODE_HTTP_STATUS in
    0,* | *,[345]??) ;;
    *) FLEXNODE_HTTP_STATUS='' ;; # a part of the file may have come: that is no answer
  esac
  FLEXNODE_HTTP_WORDS=${FLEXNODE_HTTP_WORDS:-"$FLEXNODE_FETCHER failed with status $flexnode_rq_status"}
}

# The runners: URL FILE, in a subshell of their own. The limit stops an endless body (blocks of 512 or 1024 bytes).
flexnode_run_curl() {
  printf 'url = "%s"\n' "$1" >"$FLEXNODE_STAGING_DIR/request" || return
  ulimit -f $((FLEXNODE_ARCHIVE_LIMIT_MIB * 2048))
  exec curl -q -K "$FLEXNODE_STAGING_DIR/request" -sS -f --proto '=http,https' -o "$2" \
    --connect-timeout 20 --speed-limit 1 --speed-time 60 --retry 2 --retry-max-time 60 \
    -w '%{http_code} %{redirect_url}\n' >"$FLEXNODE_STAGING_DIR/response" 2>"$FLEXNODE_STAGING_DIR/words"
}
flexnode_run_wget() {
  printf '%s\n' "$1" >"$FLEXNODE_STAGING_DIR/request" || return
  ulimit -f $((FLEXNODE_ARCHIVE_LIMIT_MIB * 2048))
  exec wget --no-config --no-hsts -i "$FLEXNODE_STAGING_DIR/request" -O "$2" --server-response --no-verbose \
    --max-redirect=0 --tries=3 --timeout=20 >/dev/null 2>"$FLEXNODE_STAGING_DIR/words"
}
# Without -T, which crashes some builds (Debian 12's): after 900 s of silence it gives up by itself.
flexnode_run_busybox() {
  ulimit -f $((FLEXNODE_ARCHIVE_LIMIT_MIB * 2048))
  exec wget -q -O "$2" "$1" >/dev/null 2>"$FLEXNODE_STAGING_DIR/words"
}

# The readers: what the runner left behind; STATUS is its exit status.
flexnode_read_curl() {
  IFS=' ' read -r FLEXNODE_HTTP_STATUS FLEXNODE_HTTP_LOCATION <"$FLEXNODE_STAGING_DIR/response"
  [ "$FLEXNODE_HTTP_STATUS" != 000 ] || FLEXNODE_HTTP_STATUS=''
  while IFS= read -r flexnode_rc_line; do
    FLEXNODE_HTTP_WORDS=${flexnode_rc_line#curl: \(*\) }
  done <"$FLEXNODE_STAGING_DIR/words"
}
flexnode_read_wget() {
  while IFS=' ' read -r flexnode_rw_word flexnode_rw_rest; do
    case $flexnode_rw_word in
      HTTP/*) FLEXNODE_HTTP_STATUS=${flexnode_rw_rest%% *} FLEXNODE_HTTP_LOCATION='' ;;
      [Ll]ocation:) FLEXNODE_HTTP_LOCATION=$flexnode_rw_rest ;;
      wget:) FLEXNODE_HTTP_WORDS=$flexnode_rw_rest ;;
      *failed:) FLEXNODE_HTTP_WORDS=${flexnode_rw_rest%.} ;;
    esac
  done <"$FLEXNODE_STAGING_DIR/words"
}
flexnode_read_busybox() {
  [ "$1" != 0 ] || FLEXNODE_HTTP_STATUS=200
  while IFS= read -r flexnode_rb_line; do
    FLEXNODE_HTTP_WORDS=${flexnode_rb_line#wget: }
    case $flexnode_rb_line in
      *'server returned error: HTTP/'*)
        flexnode_rb_line=${flexnode_rb_line#*error: * }
        FLEXNODE_HTTP_STATUS=${flexnode_rb_line%% *}
        ;;
    esac
  done <"$FLEXNODE_STAGING_DIR/words"
}

# flexnode_is_version TEXT: v1.2.3 or v1.2.3-pre?
flexnode_is_version() {
  case $1 in v[0-9]*.[0-9]*.[0-9]*) ;; *) return 1 ;; esac
  flexnode_iv_core=${1#v}
  case ${flexnode_iv_core#"${flexnode_iv_core%%-*}"} in -) return 1 ;; *[!0-9A-Za-z.-]*) return 1 ;; esac
  case ${flexnode_iv_core%%-*} in *[!0-9.]* | *.*.*.* | *..* | *.) return 1 ;; esac
}

# flexnode_find_latest BASE: sets FLEXNODE_VERSION to what BASE/latest redirects to. Prints E_VERSION and returns its
# code. (Not the API, which is rate-limited by address.)
flexnode_find_latest() {
  flexnode_fl_url=$1/latest
  flexnode_check_url "$flexnode_fl_url" && flexnode_find_fetcher || return
  [ "$FLEXNODE_FETCHER" != busybox ] ||
    flexnode_error E_TOOL version "this wget cannot ask for the latest version" "pin one with $FLEXNODE_VERSION_FLAG" || return
  # shellcheck disable=SC2034 # only counts
  for flexnode_fl_hop in 1 2 3; do
    flexnode_request "$flexnode_fl_url" "$FLEXNODE_STAGING_DIR/latest"
    case $FLEXNODE_HTTP_STATUS,$FLEXNODE_HTTP_LOCATION in 3??,?*) ;; *) break ;; esac
    FLEXNODE_VERSION=${FLEXNODE_HTTP_LOCATION%%[?#]*}
    FLEXNODE_VERSION=${FLEXNODE_VERSION##*/}
    flexnode_is_version "$FLEXNODE_VERSION" && return
    flexnode_check_url "$FLEXNODE_HTTP_LOCATION" "$flexnode_fl_url" || return
    flexnode_fl_url=$FLEXNODE_HTTP_LOCATION
  done
  flexnode_show_url "$flexnode_fl_url"
  flexnode_explain_http "$FLEXNODE_HTTP_STATUS"
  flexnode_error E_VERSION version "$FLEXNODE_RESULT does not lead to a release ($FLEXNODE_HTTP_WORDS)" \
    "pin one with $FLEXNODE_VERSION_FLAG"
}

# flexnode_expected_sum CHECKSUMS NAME: sets FLEXNODE_RESULT to the sum of NAME by the file CHECKSUMS: exactly one
# line for exactly this name. Prints E_CHECKSUM and returns its code.
flexnode_expected_sum() {
  FLEXNODE_RESULT=
  flexnode_es_return=$(printf '\r')
  while IFS= read -r flexnode_es_line || [ -n "$flexnode_es_line" ]; do
    flexnode_es_line=${flexnode_es_line%"$flexnode_es_return"}
    case $flexnode_es_line in *"  $2" | *" *$2") ;; *) continue ;; esac
    flexnode_es_sum=${flexnode_es_line%%" "*}
    case $flexnode_es_line in "$flexnode_es_sum  $2" | "$flexnode_es_sum *$2") ;; *) continue ;; esac
    [ -z "$FLEXNODE_RESULT" ] ||
      flexnode_error E_CHECKSUM checksum "$FLEXNODE_CHECKSUMS_NAME has two lines for $2" || return
    flexnode_is_sum "$flexnode_es_sum" ||
      flexnode_error E_CHECKSUM checksum "$FLEXNODE_CHECKSUMS_NAME has no SHA-256 sum for $2" || return
    FLEXNODE_RESULT=$flexnode_es_sum
  done <"$1"
  [ -n "$FLEXNODE_RESULT" ] ||
    flexnode_error E_CHECKSUM checksum "$FLEXNODE_CHECKSUMS_NAME has no line for $2"
}

# flexnode_is_sum TEXT: 64 hexadecimal digits?
flexnode_is_sum() {
  case $1 in *[!0-9a-fA-F]*) return 1 ;; esac
  [ ${#1} -eq 64 ]
}

# flexnode_verify FILE SUM WHAT: has FILE this SHA-256 sum? Prints E_CHECKSUM and returns its code.
flexnode_verify() {
  flexnode_need sha256sum coreutils || return
  flexnode_ve_sum=$(flexnode_sha256 "$1") ||
    flexnode_error E_CHECKSUM checksum "sha256sum failed on $3" || return
  flexnode_ve_wanted=$2
  case $2 in *[A-F]*) flexnode_ve_wanted=$(printf '%s' "$2" | tr ABCDEF abcdef 8>&- 9>&-) ;; esac
  [ "$flexnode_ve_sum" = "$flexnode_ve_wanted" ] ||
    flexnode_error E_CHECKSUM checksum "$3 has the sum $flexnode_ve_sum, not $flexnode_ve_wanted"
}

# flexnode_check_size FILE ID STEP: prints ID and returns its code when FILE is larger than the limit.
flexnode_check_size() {
  flexnode_cs_size=$(flexnode_x stat -L -c %s -- "$1") && [ "$flexnode_cs_size" -le $((FLEXNODE_ARCHIVE_LIMIT_MIB << 20)) ] ||
    flexnode_error "$2" "$3" "it is larger than $FLEXNODE_ARCHIVE_LIMIT_MIB MiB" "see where it comes from"
}
