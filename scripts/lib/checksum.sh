# shellcheck shell=sh
# checksum.sh: is a file what it should be: SHA-256 sums, lists of them, its size, and whether it is a web page.

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

# flexnode_check_page FILE ID STEP WHAT: a portal's or proxy's page that came with status 200 is not WHAT was asked for;
# by its first byte that is neither white space nor a byte order mark. Prints ID and returns its code.
flexnode_check_page() {
  for flexnode_cp_byte in $(od -A n -v -t x1 -N 256 "$1" </dev/null 8>&- 9>&-); do
    case $flexnode_cp_byte in
      09 | 0a | 0d | 20 | ef | bb | bf) ;;
      3c) flexnode_error "$2" "$3" "what came is an HTML page, not $4" 'look for a portal or proxy in between' || return ;;
      *) return 0 ;;
    esac
  done
}
