# shellcheck shell=sh
# unpack.sh: take the agent out of an archive, and refuse an archive that holds what no agent archive does.

# flexnode_unpack ARCHIVE: takes the agent, and nothing else, out of ARCHIVE to FLEXNODE_CANDIDATE. The archive's
# owner and mode do not count, no path of it is ever made. Prints E_ARCHIVE and returns its code.
flexnode_unpack() {
  flexnode_un_tar=$FLEXNODE_STAGING_DIR/archive.tar
  flexnode_un_words=$FLEXNODE_STAGING_DIR/words
  flexnode_check_page "$1" E_ARCHIVE archive 'an archive' || return
  flexnode_wait flexnode_run_gzip "$1" "$flexnode_un_tar" ||
    flexnode_unpack_failed 'it is damaged or too large' || return
  flexnode_check_size "$flexnode_un_tar" E_ARCHIVE archive || return
  # Names and types in two listings: the long one has columns that an archive can confuse, and shows links' targets.
  if flexnode_x tar -tf "$flexnode_un_tar" >"$FLEXNODE_STAGING_DIR/names" 2>"$flexnode_un_words" &&
    flexnode_x tar -tvf "$flexnode_un_tar" >"$FLEXNODE_STAGING_DIR/types" 2>"$flexnode_un_words"; then
    flexnode_find_member 3<"$FLEXNODE_STAGING_DIR/names" 4<"$FLEXNODE_STAGING_DIR/types" || return
    flexnode_x tar -xOf "$flexnode_un_tar" -- "$FLEXNODE_MEMBER" >"$FLEXNODE_CANDIDATE" 2>"$flexnode_un_words" &&
      flexnode_x rm -f -- "$flexnode_un_tar" && [ -s "$FLEXNODE_CANDIDATE" ] && return
  fi
  flexnode_unpack_failed 'it is damaged'
}

# flexnode_run_gzip ARCHIVE TAR: in a subshell of its own; the limit stops a small archive that unpacks without end.
flexnode_run_gzip() {
  flexnode_limit_size
  exec gzip -dc <"$1" >"$2" 2>"$FLEXNODE_STAGING_DIR/words"
}

# flexnode_unpack_failed CAUSE: a full disk is not a damaged archive.
flexnode_unpack_failed() {
  flexnode_uf_words=
  IFS= read -r flexnode_uf_words <"$FLEXNODE_STAGING_DIR/words"
  case $flexnode_uf_words in
    *'No space left'* | *'Disk quota'* | *'write error'*)
      flexnode_mount_of "$FLEXNODE_STAGING_DIR"
      flexnode_error E_STATE archive "cannot unpack: ${flexnode_uf_words##*: }: $FLEXNODE_RESULT" 'free some space'
      ;;
    *) flexnode_error E_ARCHIVE archive "$1${flexnode_uf_words:+ ($flexnode_uf_words)}" ;;
  esac
}

# flexnode_find_member 3<NAMES 4<TYPES: sets FLEXNODE_MEMBER to the one regular file that is the agent. Refuses an
# archive with an absolute or climbing name, a link or a device, even though nothing but the agent is taken out.
flexnode_find_member() {
  FLEXNODE_MEMBER=
  while IFS= read -r flexnode_fm_name <&3; do
    IFS= read -r flexnode_fm_type <&4
    case /$flexnode_fm_name/ in
      //* | */../*) flexnode_error E_ARCHIVE archive "it holds an unsafe name: $flexnode_fm_name" || return ;;
    esac
    case $flexnode_fm_type in
      [-d]*" $flexnode_fm_name") ;;
      *) flexnode_error E_ARCHIVE archive "it holds a link or a device: $flexnode_fm_name" || return ;;
    esac
    case $flexnode_fm_type,${flexnode_fm_name##*/} in
      -*,"$FLEXNODE_BINARY_NAME" | -*,"$FLEXNODE_BINARY_NAME-linux-$FLEXNODE_ARCH")
        [ -z "$FLEXNODE_MEMBER" ] ||
          flexnode_error E_ARCHIVE archive "it holds the agent twice: $FLEXNODE_MEMBER, $flexnode_fm_name" || return
        FLEXNODE_MEMBER=$flexnode_fm_name
        ;;
    esac
  done
  [ -n "$FLEXNODE_MEMBER" ] ||
    flexnode_error E_ARCHIVE archive "it holds no $FLEXNODE_BINARY_NAME for $FLEXNODE_ARCH" 'use an agent archive'
}
