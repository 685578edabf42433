#!/usr/bin/env bats
# shellcheck disable=SC2016 # snippets expand in the shell that runs them
# The lock: one run at a time, and only by the file that the next run will look at.

load shells.bash

HELD='flock -n $FLEXNODE_LOCK true && echo free || echo held'

@test "the lock is held while the command runs and free again afterwards" {
  each_shell $'held\nfree' "f() { $HELD; }; flexnode_locked f; $HELD"
}

@test "the status and the arguments are those of the command" {
  each_shell $'a b\n5' 'f() { echo "$1"; return 5; }; flexnode_locked f "a b"; echo $?'
}

@test "a lock that somebody holds is an error that names it, and the command does not run" {
  each_shell $'test: error: lock: another run holds T/run/lock; try again later, or give --wait [E_LOCKED]\n8' \
    'exec 7>>$FLEXNODE_LOCK; flock 7 7>&7; flexnode_locked echo ran; echo $?'
}

@test "a lock whose file was removed while it was waited for does not count" {
  each_shell $'the file that is there' \
    'flexnode_take_lock() { flock 9 9>&9; [ -e $T/once ] || { : >$T/once; rm $FLEXNODE_LOCK; }; }
     f() { [ /proc/self/fd/9 -ef $FLEXNODE_LOCK ] && echo the file that is there; }; flexnode_locked f'
}

@test "a lock that cannot be opened is an error" {
  each_shell $'test: error: lock: cannot open T/none/lock; make /run a writable directory [E_LOCKED]\n8' \
    'FLEXNODE_LOCK=$T/none/lock; flexnode_locked echo ran; echo $?'
}
