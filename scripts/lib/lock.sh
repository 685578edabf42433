# shellcheck shell=sh
# lock.sh: one run at a time. The lock is on descriptor 9, which is closed for every child (9>&-), so that none of
# them can keep it. Install, bootstrap's install phase, upgrade, recovery and uninstall share the file.

# flexnode_locked COMMAND…: runs COMMAND (a function) with the lock held and returns its status; the lock is free
# again afterwards. Waits FLEXNODE_OPT_WAIT seconds (0) for another run. Prints E_LOCKED or E_TOOL and returns that
# code, without running COMMAND, when the lock cannot be had.
flexnode_locked() {
  flexnode_need flock util-linux && flexnode_check_wait || return
  # Opening a fifo would wait for its reader.
  [ ! -e "$FLEXNODE_LOCK" ] || [ -f "$FLEXNODE_LOCK" ] ||
    flexnode_error E_LOCKED lock "$FLEXNODE_LOCK is not a regular file" 'remove it' || return
  # `true` first: a failing redirection of a compound command would print the shell's own words.
  { true >>"$FLEXNODE_LOCK"; } 2>/dev/null ||
    flexnode_error E_LOCKED lock "cannot open $FLEXNODE_LOCK" "make /run a writable directory" || return
  while :; do
    {
      flexnode_take_lock || return
      if flexnode_is_lock_current; then
        "$@"
        return
      fi
    } 9>>"$FLEXNODE_LOCK"
  done
}

# flexnode_check_wait: is --wait a number? Prints E_USAGE and returns its code.
flexnode_check_wait() {
  case ${FLEXNODE_OPT_WAIT:-0} in
    *[!0-9]* | ??????????*) flexnode_error E_USAGE options "--wait takes a number of seconds, not '$FLEXNODE_OPT_WAIT'" ;;
  esac
}

# flexnode_is_lock_current: is descriptor 9 the lock's file? uninstall removes it while it holds the lock: then what was
# waited for is nobody's lock any more.
# shellcheck disable=SC3013 # dash, bash, busybox ash, yash and mksh know -ef
flexnode_is_lock_current() { [ /proc/self/fd/9 -ef "$FLEXNODE_LOCK" ]; }

# flexnode_take_lock: locks descriptor 9, see flexnode_locked.
flexnode_take_lock() {
  flock -n 9 </dev/null 9>&9 && return
  if [ "${FLEXNODE_OPT_WAIT:-0}" -gt 0 ]; then
    flexnode_say "another run holds $FLEXNODE_LOCK: waiting up to $FLEXNODE_OPT_WAIT s"
    # timeout and not flock -w, which busybox lacks; in the background, so that a signal ends the waiting.
    timeout "$FLEXNODE_OPT_WAIT" flock 9 </dev/null 9>&9 &
    FLEXNODE_CHILD=$!
    wait "$FLEXNODE_CHILD" 2>/dev/null && FLEXNODE_CHILD= && return
    FLEXNODE_CHILD=
  fi
  flexnode_error E_LOCKED lock "another run holds $FLEXNODE_LOCK"
}
