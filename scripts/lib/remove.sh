# shellcheck shell=sh
# remove.sh: the one way by which anything is removed. A path must be on one of three lists (sweep.sh makes them):
#   FLEXNODE_TREES    directories that are ours as a whole, with all that is in them
#   FLEXNODE_ENTRIES  files and links that are ours by name; a directory of that name is not
#   FLEXNODE_DIRS     directories that go when they are empty
# (a line a path), or have a temporary name in one of FLEXNODE_TEMP_DIRS. What cannot go is put on record in
# FLEXNODE_LEFT (`PATH: WHY` a line), what is not ours in FLEXNODE_KEPT, and the rest goes on.
# A shell cannot look and unlink in one step: against somebody hostile who already is root this protects nothing.

# flexnode_is_listed PATH LIST: is PATH a line of LIST? (LIST begins and ends with a newline.)
flexnode_is_listed() {
  case $2 in
    *"$FLEXNODE_NEWLINE$1$FLEXNODE_NEWLINE"*) return 0 ;;
    *) return 1 ;;
  esac
}

# flexnode_leave PATH WHY, flexnode_keep PATH WHY: put on record what could not be removed, what is not ours.
flexnode_leave() {
  flexnode_one_line "$1: $2"
  flexnode_is_listed "$FLEXNODE_RESULT" "$FLEXNODE_LEFT" || FLEXNODE_LEFT=$FLEXNODE_LEFT$FLEXNODE_RESULT$FLEXNODE_NEWLINE
}
flexnode_keep() {
  flexnode_one_line "$1: $2"
  flexnode_is_listed "$FLEXNODE_RESULT" "$FLEXNODE_KEPT" || FLEXNODE_KEPT=$FLEXNODE_KEPT$FLEXNODE_RESULT$FLEXNODE_NEWLINE
}

# flexnode_find_class PATH: sets FLEXNODE_CLASS to tree, entry, dir, or nothing when PATH is on no list.
flexnode_find_class() {
  FLEXNODE_CLASS=
  flexnode_prefix=$1
  while [ -n "$flexnode_prefix" ]; do
    if flexnode_is_listed "$flexnode_prefix" "$FLEXNODE_TREES"; then FLEXNODE_CLASS=tree && return; fi
    case ${flexnode_prefix##*/} in
      "$FLEXNODE_TEMP_PREFIX"?*)
        if flexnode_is_listed "${flexnode_prefix%/*}" "$FLEXNODE_TEMP_DIRS"; then FLEXNODE_CLASS=tree && return; fi
        ;;
    esac
    flexnode_prefix=${flexnode_prefix%/*}
  done
  # The host root is on both lists: it may be our link.
  if flexnode_is_listed "$1" "$FLEXNODE_ENTRIES"; then FLEXNODE_CLASS=entry; fi
  if flexnode_is_listed "$1" "$FLEXNODE_DIRS"; then
    if [ -z "$FLEXNODE_CLASS" ] || { [ -d "$1" ] && [ ! -L "$1" ]; }; then FLEXNODE_CLASS=dir; fi
  fi
}

# flexnode_fence PATH: sets FLEXNODE_CLASS; prints E_USAGE and returns 2 for a path that is none or is on no list.
flexnode_fence() {
  [ -n "$1" ] || flexnode_error E_USAGE remove "the path is empty" "give an absolute path" || return
  flexnode_is_clean_path "$1" ||
    flexnode_error E_USAGE remove "'$1' is not a plain absolute path" "give one without '..', '.' and '//'" || return
  flexnode_find_class "$1"
  [ -n "$FLEXNODE_CLASS" ] ||
    flexnode_error E_USAGE remove "'$1' is not one of the paths of the agent" "remove it by hand if you want that"
}

# flexnode_passes_link PATH: is one of its parents a link that only somebody else can have made? The host's own
# directories (FLEXNODE_HOST_DIRS: /opt, /usr/local/bin, …) may be links, what is below them not.
flexnode_passes_link() {
  flexnode_prefix=${1%/*}
  while [ -n "$flexnode_prefix" ] && ! flexnode_is_listed "$flexnode_prefix" "$FLEXNODE_HOST_DIRS"; do
    [ ! -L "$flexnode_prefix" ] || return 0
    flexnode_prefix=${flexnode_prefix%/*}
  done
  return 1
}

# flexnode_remove PATH: removes what stands there, as far as its list allows. Returns 0 when it is gone or rightly
# stays, 13 when it should be gone and is not, 2 when the fence refuses it.
flexnode_remove() {
  flexnode_fence "$1" || return
  if flexnode_is_on_network "$1"; then
    flexnode_leave "$1" "on a network mount, not touched"
    return 13
  fi
  flexnode_exists "$1" || return 0
  if flexnode_passes_link "$1"; then
    flexnode_keep "$1" "behind a link that is not ours, not followed"
    return 0
  fi
  set -- "$1" "$FLEXNODE_LEFT"
  case $FLEXNODE_CLASS in
    tree) flexnode_remove_whole "$1" ;;
    entry) flexnode_remove_entry "$1" ;;
    dir) flexnode_remove_empty "$1" ;;
  esac
  [ "$FLEXNODE_LEFT" = "$2" ] || return 13
}

# flexnode_remove_whole PATH: a directory of ours, or something in it.
flexnode_remove_whole() {
  if flexnode_is_listed "$1" "$FLEXNODE_TREES" && [ -L "$1" ]; then
    flexnode_keep "$1" "a link where the agent has a directory"
  elif flexnode_is_listed "$1" "$FLEXNODE_TREES" && [ ! -d "$1" ]; then
    flexnode_keep "$1" "a file where the agent has a directory"
  elif flexnode_is_mount "$1" && flexnode_is_listed "$1" "$FLEXNODE_TREES"; then
    flexnode_empty "$1"
    flexnode_keep "$1" "emptied; it is a mount point"
  else
    flexnode_remove_tree "$1"
  fi
}

# flexnode_remove_tree PATH: PATH and all below it, but nothing that is mounted, nor what leads there.
flexnode_remove_tree() {
  if flexnode_is_mount "$1"; then
    flexnode_leave "$1" "a mount point, not entered"
  elif flexnode_has_mount_below "$1"; then
    flexnode_empty "$1"
  else
    flexnode_unlink "$1" -rf
  fi
}

# flexnode_empty DIR: all in it goes, but what is mounted below stays.
flexnode_empty() {
  for flexnode_entry in "$1"/* "$1"/.[!.]* "$1"/..?*; do
    flexnode_remove_tree "$flexnode_entry"
  done
}

# flexnode_is_odd PATH: is it neither a file nor a link (a directory, a FIFO, …)? The agent makes no such entry.
flexnode_is_odd() { [ ! -L "$1" ] && [ ! -f "$1" ]; }

flexnode_remove_entry() {
  if flexnode_is_odd "$1"; then
    flexnode_keep "$1" "not a file, where the agent has one"
  elif flexnode_is_mount "$1"; then
    flexnode_leave "$1" "a mount point"
  else
    flexnode_unlink "$1" -f
  fi
}

# flexnode_remove_empty DIR: removes it when it is empty.
flexnode_remove_empty() {
  if [ -L "$1" ] || [ ! -d "$1" ]; then
    flexnode_keep "$1" "not a directory"
  elif flexnode_is_mount "$1"; then
    flexnode_keep "$1" "a mount point"
  elif flexnode_has_entries "$1"; then
    flexnode_keep "$1" "not empty"
  else
    flexnode_attempt "$1" rmdir -- "$1"
  fi
}

flexnode_has_entries() {
  for flexnode_entry in "$1"/* "$1"/.[!.]* "$1"/..?*; do
    if flexnode_exists "$flexnode_entry"; then return 0; fi
  done
  return 1
}

# flexnode_unlink PATH OPTIONS: looks first, because on a read-only file system unlinking nothing is an error too.
flexnode_unlink() {
  flexnode_exists "$1" || return 0
  flexnode_attempt "$1" rm "$2" -- "$1"
}

# flexnode_attempt PATH COMMAND…: runs COMMAND; when it fails, its words are on record as the reason why PATH is left.
flexnode_attempt() {
  flexnode_tried=$1
  shift
  flexnode_why=$(exec "$@" 2>&1 </dev/null 8>&- 9>&-) && return # exec: no function of a caller, and no second process
  flexnode_leave "$flexnode_tried" "${flexnode_why:-$1 failed}"
}
