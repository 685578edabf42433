# shellcheck shell=sh
# url.sh: which URLs are asked, and how they are shown. A URL may hold a secret (a signed query, user:password@): it is
# never shown whole.

# flexnode_show_url URL: sets FLEXNODE_RESULT to URL without user info, query and fragment, up to the first character
# that no URL has: a server may send anything, and this goes to a terminal.
flexnode_show_url() {
  FLEXNODE_RESULT=${1%%[?#]*}
  FLEXNODE_RESULT=${FLEXNODE_RESULT%%[!!-~]*}
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

# flexnode_is_good_url URL [FROM]: https, or http to a loopback address; with FROM, the URL that redirected here: to
# loopback only from loopback.
flexnode_is_good_url() {
  case $1 in
    *[!!-~]* | *[\"\\\<\>\`{}\|^]*) return 1 ;;
    https://[!/?#]*) return 0 ;;
    http://*) if flexnode_is_loopback_url "$1" && flexnode_is_loopback_url "${2:-$1}"; then return 0; fi ;;
  esac
  return 1
}

# flexnode_check_url URL [FROM]: the same; prints E_URL and returns its code.
flexnode_check_url() {
  flexnode_show_url "$1"
  flexnode_is_good_url "$@" && return
  case $1,${2-} in
    *[!!-~]*,* | *[\"\\\<\>\`{}\|^]*,*)
      flexnode_error E_URL download "$FLEXNODE_RESULT holds a character that no URL has" "correct the URL"
      ;;
    *,) flexnode_error E_URL download "$FLEXNODE_RESULT is neither https nor a loopback address" ;;
    *) flexnode_error E_URL download "a redirect to $FLEXNODE_RESULT is not followed" "see where the URL leads" ;;
  esac
}

# flexnode_join_url BASE REFERENCE: sets FLEXNODE_RESULT to where REFERENCE, a Location header, leads from BASE.
flexnode_join_url() {
  flexnode_ju_base=${1%%[?#]*}
  flexnode_ju_host=${flexnode_ju_base#*://}
  flexnode_ju_origin=${flexnode_ju_base%%://*}://${flexnode_ju_host%%/*}
  flexnode_ju_path=${flexnode_ju_base#"$flexnode_ju_origin"}
  case ${2%%[/?#]*},$2 in
    [A-Za-z]*:*,*) FLEXNODE_RESULT=$2 ;;
    ,//*) FLEXNODE_RESULT=${1%%://*}:$2 ;;
    ,/*) FLEXNODE_RESULT=$flexnode_ju_origin$2 ;;
    ,*) FLEXNODE_RESULT=$flexnode_ju_base$2 ;;
    *) FLEXNODE_RESULT=$flexnode_ju_origin${flexnode_ju_path%/*}/$2 ;;
  esac
}
