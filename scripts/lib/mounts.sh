# shellcheck shell=sh
# mounts.sh: what is mounted where. Reads mountinfo once and decides by the text of a path alone, because whoever
# merely looks at a path on a dead network mount hangs.

# flexnode_mount_table: prints the file that lists what is mounted; a function, so that a test can give another one.
flexnode_mount_table() { printf '%s\n' /proc/self/mountinfo; }

# flexnode_read_mounts: sets FLEXNODE_MOUNTS, a line `PATH//TYPE` for each mount point, and
# FLEXNODE_NETWORK_MOUNTS, a line `PATH` for each on a network. Prints E_INTERNAL and returns 1 when the
# table cannot be read: nothing may be removed by somebody who cannot see the mounts.
flexnode_read_mounts() {
  FLEXNODE_MOUNTS=$FLEXNODE_NEWLINE
  FLEXNODE_NETWORK_MOUNTS=$FLEXNODE_NEWLINE
  set -- "$(flexnode_mount_table)"
  [ -r "$1" ] || flexnode_error E_INTERNAL mounts "cannot read $1" "mount /proc" || return
  while IFS=' ' read -r _ _ _ _ flexnode_point flexnode_type; do
    case $flexnode_point in *\\*) flexnode_decode_point ;; esac
    flexnode_type=" $flexnode_type"
    flexnode_type=${flexnode_type#* - }
    flexnode_type=${flexnode_type%% *}
    FLEXNODE_MOUNTS=$FLEXNODE_MOUNTS$flexnode_point//$flexnode_type$FLEXNODE_NEWLINE
    # A root on a network is the host's own; if that is dead we do not run.
    if [ "$flexnode_point" = / ] || ! flexnode_is_network_type "$flexnode_type"; then continue; fi
    FLEXNODE_NETWORK_MOUNTS=$FLEXNODE_NETWORK_MOUNTS$flexnode_point$FLEXNODE_NEWLINE
  done <"$1"
  [ "$FLEXNODE_MOUNTS" != "$FLEXNODE_NEWLINE" ] || flexnode_error E_INTERNAL mounts "$1 is empty" "mount /proc"
}

# flexnode_decode_point: replaces the octal escapes (\040) in flexnode_point. A newline stays \012: one line a mount.
flexnode_decode_point() {
  flexnode_rest=$flexnode_point
  flexnode_point=
  while :; do
    case $flexnode_rest in
      *\\[0-7][0-7][0-7]*) ;;
      *) break ;;
    esac
    flexnode_point=$flexnode_point${flexnode_rest%%\\*}
    flexnode_rest=${flexnode_rest#*\\}
    flexnode_octal=${flexnode_rest%"${flexnode_rest#???}"}
    flexnode_rest=${flexnode_rest#???}
    case $flexnode_octal in
      040) flexnode_point="$flexnode_point " ;;
      012) flexnode_point="$flexnode_point\\012" ;;
      *) flexnode_point=$flexnode_point$(printf '%b' "\\0$flexnode_octal") ;;
    esac
  done
  flexnode_point=$flexnode_point$flexnode_rest
}

# flexnode_is_network_type TYPE: can it hang because of somebody else? (autofs mounts what one looks at.)
flexnode_is_network_type() {
  case $1 in
    nfs | nfs4 | cifs | smb3 | smbfs | 9p | afs | coda | ceph | glusterfs | lustre | gpfs | beegfs | orangefs) return 0 ;;
    gfs2 | ocfs2 | davfs | autofs | fuse | fuse.*) return 0 ;;
    *) return 1 ;;
  esac
}

# flexnode_mount_name PATH: sets FLEXNODE_RESULT to PATH as FLEXNODE_MOUNTS would spell it.
flexnode_mount_name() {
  FLEXNODE_RESULT=$1
  while :; do
    case $FLEXNODE_RESULT in
      *"$FLEXNODE_NEWLINE"*)
        FLEXNODE_RESULT="${FLEXNODE_RESULT%%"$FLEXNODE_NEWLINE"*}\\012${FLEXNODE_RESULT#*"$FLEXNODE_NEWLINE"}"
        ;;
      *) return 0 ;;
    esac
  done
}

# flexnode_is_mount PATH: is it a mount point?
flexnode_is_mount() {
  flexnode_mount_name "$1"
  case $FLEXNODE_MOUNTS in
    *"$FLEXNODE_NEWLINE$FLEXNODE_RESULT//"*) return 0 ;;
    *) return 1 ;;
  esac
}

# flexnode_has_mount_below PATH: is anything mounted below it?
flexnode_has_mount_below() {
  flexnode_mount_name "$1"
  case $FLEXNODE_MOUNTS in
    *"$FLEXNODE_NEWLINE$FLEXNODE_RESULT/"[!/]*) return 0 ;;
    *) return 1 ;;
  esac
}

# flexnode_is_on_network PATH: is it a network mount or below one? Looks at no file.
flexnode_is_on_network() {
  flexnode_mount_name "$1"
  flexnode_prefix=$FLEXNODE_RESULT
  while [ -n "$flexnode_prefix" ]; do
    case $FLEXNODE_NETWORK_MOUNTS in *"$FLEXNODE_NEWLINE$flexnode_prefix$FLEXNODE_NEWLINE"*) return 0 ;; esac
    case $flexnode_prefix in */*) flexnode_prefix=${flexnode_prefix%/*} ;; *) return 1 ;; esac
  done
  return 1
}
