# shellcheck shell=sh
# alone.sh: one bootstrap or uninstall at a time, from its first look to its last word. lock.sh's lock is free while the
# agent's start or reset runs, when to another run an unfinished first one looks like one that was cut short. The lock
# is on descriptor 8; its file says whose it is.

# flexnode_alone COMMAND…: runs COMMAND (a function) while no other bootstrap or uninstall runs, and returns its status.
# Waits FLEXNODE_OPT_WAIT seconds (0). Prints E_LOCKED, E_TOOL or E_USAGE and returns that code, without running COMMAND.
flexnode_alone() {
  flexnode_need flock util-linux && flexnode_check_wait || return
  [ ! -e "$FLEXNODE_BOOTSTRAP_LOCK" ] || [ -f "$FLEXNODE_BOOTSTRAP_LOCK" ] ||
    flexnode_error E_LOCKED lock "$FLEXNODE_BOOTSTRAP_LOCK is not a regular file" 'remove it' || return
  { true >>"$FLEXNODE_BOOTSTRAP_LOCK"; } 2>/dev/null ||
    flexnode_error E_LOCKED lock "cannot open $FLEXNODE_BOOTSTRAP_LOCK" 'make /run a writable directory' || return
  while :; do
    {
      flexnode_take_turn || return
      if flexnode_is_turn_current; then
        { printf '%s %s\n' "$FLEXNODE_PROGRAM" "$$" >"$FLEXNODE_BOOTSTRAP_LOCK"; } 2>/dev/null
        "$@"
        return
      fi
    } 8>>"$FLEXNODE_BOOTSTRAP_LOCK"
  done
}

# flexnode_is_turn_current: is descriptor 8 the lock's file? An uninstall removes it while it holds the lock.
# shellcheck disable=SC3013 # dash, bash, busybox ash, yash and mksh know -ef
flexnode_is_turn_current() { [ /proc/self/fd/8 -ef "$FLEXNODE_BOOTSTRAP_LOCK" ]; }

# flexnode_take_turn: locks descriptor 8, see flexnode_alone.
flexnode_take_turn() {
  flock -n 8 </dev/null 8>&8 && return
  flexnode_find_holder
  if [ "${FLEXNODE_OPT_WAIT:-0}" -gt 0 ]; then
    flexnode_say "$FLEXNODE_HOLDER is running: waiting up to $FLEXNODE_OPT_WAIT s"
    timeout "$FLEXNODE_OPT_WAIT" flock 8 </dev/null 8>&8 &
    FLEXNODE_CHILD=$!
    wait "$FLEXNODE_CHILD" 2>/dev/null && FLEXNODE_CHILD='' && return
    FLEXNODE_CHILD=''
    flexnode_find_holder
  fi
  flexnode_error E_LOCKED lock "$FLEXNODE_HOLDER holds $FLEXNODE_BOOTSTRAP_LOCK"
}

# flexnode_find_holder: sets FLEXNODE_HOLDER to words for the run that holds the lock.
flexnode_find_holder() {
  FLEXNODE_HOLDER='another bootstrap or uninstall'
  IFS=' ' read -r flexnode_ho_program flexnode_ho_pid 2>/dev/null <"$FLEXNODE_BOOTSTRAP_LOCK" || return 0
  case $flexnode_ho_program,$flexnode_ho_pid in
    *,*[!0-9]* | *,) ;;
    bootstrap,* | uninstall,*) FLEXNODE_HOLDER="another $flexnode_ho_program (process $flexnode_ho_pid)" ;;
  esac
}
