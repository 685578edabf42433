# shellcheck shell=sh
# fetch.sh: the latest version, and downloads: where redirects may lead, and what is said when nothing came. Works in
# FLEXNODE_STAGING_DIR; request.sh makes each request.

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
# E_DOWNLOAD, E_URL, E_STATE or E_TOOL and returns that code; FILE is then not to be used. With the third argument the
# answers 403 and 404 are no error: nothing is printed, 1 is returned.
flexnode_fetch() {
  flexnode_fe_url=$1
  flexnode_check_url "$1" && flexnode_find_fetcher || return
  [ "$FLEXNODE_FETCHER" != busybox ] || [ "$FLEXNODE_RESULT" = "$1" ] ||
    flexnode_error E_TOOL download "this wget would show the URL's secret to every user" "install curl" || return
  for flexnode_fe_hop in 1 2 3 4 5 6 7 8 9 10; do
    flexnode_request "$flexnode_fe_url" "$2"
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
    flexnode_explain || return
    flexnode_show_url "$flexnode_fe_url"
    flexnode_error E_DOWNLOAD download "$FLEXNODE_RESULT: $FLEXNODE_HTTP_WORDS" "$FLEXNODE_HTTP_REMEDY" || return
  done
  flexnode_show_url "$flexnode_fe_url"
  flexnode_error E_DOWNLOAD download "$FLEXNODE_RESULT: more than $flexnode_fe_hop redirects"
}

# flexnode_explain: turns FLEXNODE_HTTP_WORDS, the tool's own, into what kept the file from coming, and sets
# FLEXNODE_HTTP_REMEDY (empty: the usual). A full disk is an error of its own: prints E_STATE and returns its code.
flexnode_explain() {
  FLEXNODE_HTTP_REMEDY=''
  case $FLEXNODE_HTTP_STATUS,$FLEXNODE_HTTP_FAULT in
    ,large) FLEXNODE_HTTP_WORDS="it is larger than $FLEXNODE_ARCHIVE_LIMIT_MIB MiB" ;;
    ,late) FLEXNODE_HTTP_WORDS="it took longer than $FLEXNODE_DOWNLOAD_TIMEOUT_S s" ;;
    ,trust)
      FLEXNODE_HTTP_WORDS="the server's certificate is not trusted: $FLEXNODE_HTTP_WORDS"
      FLEXNODE_HTTP_REMEDY="install ca-certificates or your CA's certificate, and look at the clock"
      ;;
    ,*) flexnode_staging_takes || return ;;
    *) flexnode_explain_status "$FLEXNODE_HTTP_STATUS" ;;
  esac
}

# flexnode_explain_status STATUS: sets FLEXNODE_HTTP_WORDS to what it means.
flexnode_explain_status() {
  case $1,$FLEXNODE_HTTP_PROXY in
    407,*) FLEXNODE_HTTP_WORDS='HTTP status 407, the proxy wants credentials' ;;
    *,1) FLEXNODE_HTTP_WORDS="HTTP status $1 from the proxy" ;;
    403,*) FLEXNODE_HTTP_WORDS='HTTP status 403, access is denied' ;;
    404,*) FLEXNODE_HTTP_WORDS='HTTP status 404, there is no such file' ;;
    429,*) FLEXNODE_HTTP_WORDS='HTTP status 429, too many requests from this address' ;;
    *) FLEXNODE_HTTP_WORDS="HTTP status $1" ;;
  esac
  [ -z "$FLEXNODE_HTTP_RETRY_AFTER" ] ||
    FLEXNODE_HTTP_WORDS="$FLEXNODE_HTTP_WORDS, it asks to wait $FLEXNODE_HTTP_RETRY_AFTER s"
}

# flexnode_is_version TEXT: v1.2.3 or v1.2.3-pre?
flexnode_is_version() {
  case $1 in v[0-9]*.[0-9]*.[0-9]*) ;; *) return 1 ;; esac
  flexnode_iv_core=${1#v}
  case ${flexnode_iv_core#"${flexnode_iv_core%%-*}"} in -) return 1 ;; *[!0-9A-Za-z.-]*) return 1 ;; esac
  case ${flexnode_iv_core%%-*} in *[!0-9.]* | *.*.*.* | *..* | *.) return 1 ;; esac
}

# flexnode_find_latest BASE: sets FLEXNODE_VERSION to what BASE/latest redirects to. Prints E_VERSION (or E_URL, E_TOOL,
# E_STATE) and returns that code. (Not the API, which is rate-limited by address.)
flexnode_find_latest() {
  flexnode_fl_url=$1/latest
  flexnode_check_url "$flexnode_fl_url" && flexnode_find_fetcher || return
  [ "$FLEXNODE_FETCHER" != busybox ] ||
    flexnode_error E_TOOL version "this wget cannot ask for the latest version" "pin one with $FLEXNODE_VERSION_FLAG" || return
  # shellcheck disable=SC2034 # only counts
  for flexnode_fl_hop in 1 2 3 4 5; do
    flexnode_request "$flexnode_fl_url" "$FLEXNODE_STAGING_DIR/latest"
    case $FLEXNODE_HTTP_STATUS,$FLEXNODE_HTTP_LOCATION in 3??,?*) ;; *) break ;; esac
    flexnode_is_good_url "$FLEXNODE_HTTP_LOCATION" "$flexnode_fl_url" || break
    FLEXNODE_VERSION=${FLEXNODE_HTTP_LOCATION%%[?#]*}
    FLEXNODE_VERSION=${FLEXNODE_VERSION##*/}
    flexnode_is_version "$FLEXNODE_VERSION" && return
    flexnode_fl_url=$FLEXNODE_HTTP_LOCATION
  done
  flexnode_explain || return
  flexnode_show_url "$FLEXNODE_HTTP_LOCATION"
  FLEXNODE_HTTP_WORDS=$FLEXNODE_HTTP_WORDS${FLEXNODE_HTTP_LOCATION:+, which leads to $FLEXNODE_RESULT}
  flexnode_show_url "$flexnode_fl_url"
  [ "$flexnode_fl_url" = "$1/latest" ] || FLEXNODE_HTTP_WORDS="$FLEXNODE_RESULT: $FLEXNODE_HTTP_WORDS"
  flexnode_show_url "$1/latest"
  flexnode_error E_VERSION version "$FLEXNODE_RESULT does not lead to a release ($FLEXNODE_HTTP_WORDS)" \
    "${FLEXNODE_HTTP_REMEDY:-pin one with $FLEXNODE_VERSION_FLAG}"
}
