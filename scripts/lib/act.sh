# shellcheck shell=sh
# act.sh: the steps of uninstall: what each kind of record does. None of them stops the run: what could not be done is
# on record (FLEXNODE_LEFT) and reported at the end.

flexnode_describe_remove() { printf 'remove %s\n' "$2"; }
flexnode_act_remove() {
  if flexnode_is_needed "$2"; then
    flexnode_leave "$2" "$FLEXNODE_RESULT leads to it and could not be removed"
    return 0
  fi
  if [ -L "$2" ]; then set -- link "$2"; fi
  flexnode_remove "$2"
  [ "$?" != 2 ] || return # the fence refused what was planned: a fault of ours
  [ "$1" != link ] || flexnode_exists "$2" || flexnode_changed "$2"
}

# flexnode_is_needed PATH: does a link, which goes before what it leads to, still lead to this file of the layout or
# unit? Then it could not be removed, and must not dangle. Sets FLEXNODE_RESULT to the link. Links that did go are gone
# from the disk too afterwards: else a power cut might bring one back without what it led to.
# shellcheck disable=SC3013 # dash, bash, busybox ash, yash and mksh know -ef
flexnode_is_needed() {
  flexnode_ne_file=$1
  flexnode_ne_lib=${1%/*}
  case $1 in
    */lib/"$FLEXNODE_LIB_NAME/$FLEXNODE_CURRENT" | */lib/"$FLEXNODE_LIB_NAME/$FLEXNODE_LAST_GOOD")
      set -- "${flexnode_ne_lib%/lib/*}/bin/$FLEXNODE_BINARY_NAME"
      ;;
    */lib/"$FLEXNODE_LIB_NAME/$FLEXNODE_BINARY_NAME"-*)
      set -- "${flexnode_ne_lib%/lib/*}/bin/$FLEXNODE_BINARY_NAME" "$flexnode_ne_lib/$FLEXNODE_CURRENT" \
        "$flexnode_ne_lib/$FLEXNODE_LAST_GOOD"
      ;;
    "$FLEXNODE_UNIT_DIR"/*.wants/*) return 1 ;;
    "$FLEXNODE_UNIT_DIR"/*) set -- "$FLEXNODE_UNIT_DIR"/*.wants/"${1##*/}" ;;
    *) return 1 ;;
  esac
  flexnode_settle
  for FLEXNODE_RESULT in "$@"; do
    if flexnode_is_on_network "$FLEXNODE_RESULT" || [ ! -L "$FLEXNODE_RESULT" ]; then continue; fi
    [ ! "$FLEXNODE_RESULT" -ef "$flexnode_ne_file" ] || return 0
  done
  return 1
}

flexnode_describe_empty() { printf 'empty %s\n' "$2"; }
flexnode_act_empty() {
  if [ -L "$2" ] || [ ! -d "$2" ]; then return 0; fi
  flexnode_fence "$2" || return
  flexnode_empty "$2"
  ! flexnode_is_mount "$2" || flexnode_keep "$2" "emptied; it is a mount point"
}

flexnode_describe_keep() { printf 'keep %s: %s\n' "$2" "$3"; }
flexnode_act_keep() { flexnode_keep "$2" "$3"; }

flexnode_describe_leave() { printf 'leave %s: %s\n' "$2" "$3"; }
flexnode_act_leave() { flexnode_leave "$2" "$3"; }

flexnode_describe_aside() { printf 'set %s aside: %s\n' "$2" "$3"; }
flexnode_act_aside() {
  flexnode_journal_set_aside || flexnode_leave "$2" "could not be moved aside"
}

# restore: as it was before us: a directory with mode and owner (five digits: four would keep a setgid bit), a link.
flexnode_describe_restore() { printf 'have %s as it was (%s %s)\n' "$2" "$1" "$3"; }
flexnode_act_restore() {
  if [ "$1" = - ]; then
    flexnode_exists "$2" || flexnode_attempt "$2" ln -s -- "$3" "$2"
  elif [ -d "$2" ] || flexnode_attempt "$2" mkdir -m "$1" -- "$2"; then
    [ -L "$2" ] || { flexnode_attempt "$2" chown "$3" -- "$2" && flexnode_attempt "$2" chmod "0$1" -- "$2"; }
  fi
  return 0
}

# park: ARGUMENT is the directory of the copies. An earlier run's are completed: reset may have removed the rest.
flexnode_describe_park() { printf 'keep a copy of %s until the agent is gone\n' "$2"; }
flexnode_act_park() {
  flexnode_exists "$2" || return 0
  flexnode_attempt "$2" mkdir -p -- "$3" && flexnode_attempt "$2" cp -a -- "$2" "$3/" && flexnode_sync "$3"
}

# unpark: puts back what is missing of what ARGUMENT holds, each file whole or not at all.
flexnode_describe_unpark() { printf 'put the copies from %s back into %s\n' "$3" "$2"; }
flexnode_act_unpark() {
  [ -d "$2" ] || flexnode_attempt "$2" mkdir -m 0755 -- "$2" || return 0
  for flexnode_up_entry in "$3"/*; do
    flexnode_unpark_entry "$flexnode_up_entry" "$2/${flexnode_up_entry##*/}"
    if [ -d "$flexnode_up_entry" ] && [ ! -L "$flexnode_up_entry" ]; then
      for flexnode_up_file in "$flexnode_up_entry"/* "$flexnode_up_entry"/.[!.]*; do
        flexnode_unpark_entry "$flexnode_up_file" "$2/${flexnode_up_entry##*/}/${flexnode_up_file##*/}"
      done
    fi
  done
  return 0
}

# flexnode_unpark_entry FROM TO: copies to a temporary name beside TO, then renames.
flexnode_unpark_entry() {
  if flexnode_exists "$2" || ! flexnode_exists "$1"; then return 0; fi
  flexnode_up_new=${2%/*}/${FLEXNODE_TEMP_PREFIX}new.${2##*/}
  flexnode_attempt "$2" cp -a -- "$1" "$flexnode_up_new" && flexnode_sync "$flexnode_up_new" &&
    flexnode_attempt "$2" mv -- "$flexnode_up_new" "$2" && flexnode_sync "${2%/*}"
}

# flexnode_sync_parents: puts the removals in every directory that anything was removed from on the disk.
flexnode_sync_parents() {
  flexnode_sy_rest=${FLEXNODE_HOST_DIRS#"$FLEXNODE_NEWLINE"}
  set --
  while [ -n "$flexnode_sy_rest" ]; do
    flexnode_sy_dir=${flexnode_sy_rest%%"$FLEXNODE_NEWLINE"*}
    flexnode_sy_rest=${flexnode_sy_rest#*"$FLEXNODE_NEWLINE"}
    flexnode_is_on_network "$flexnode_sy_dir" || [ ! -d "$flexnode_sy_dir" ] || set -- "$@" "$flexnode_sy_dir"
  done
  flexnode_sync "$@"
}

# forget: the state directory with the journal. While anything is left the journal stays, so that the next run knows
# what this one knew. All other changes are on the disk before it goes. ARGUMENT: remove the directory, or empty it.
flexnode_describe_forget() { printf '%s %s with the journal\n' "$3" "$2"; }
flexnode_act_forget() {
  if [ "$FLEXNODE_LEFT" != "$FLEXNODE_NEWLINE" ]; then
    ! flexnode_exists "$FLEXNODE_JOURNAL" || flexnode_say "$FLEXNODE_JOURNAL stays until all is gone"
    return 0
  fi
  flexnode_sync_parents
  # One rename, on the disk before the rest: a directory without a journal would not be known to be ours.
  if [ "$3" = remove ] && ! flexnode_is_mount "$2"; then
    flexnode_attempt "$2" mv -- "$2" "$FLEXNODE_STATE_NEW" && flexnode_sync "${2%/*}" &&
      flexnode_act_remove - "$FLEXNODE_STATE_NEW" -
    flexnode_sync "${2%/*}"
  else
    flexnode_remove_tree "$FLEXNODE_JOURNAL.invalid"
    flexnode_unlink "$FLEXNODE_JOURNAL" -f
    flexnode_act_empty - "$2" -
    flexnode_sync "$2"
  fi
}
