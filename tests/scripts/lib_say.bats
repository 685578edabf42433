#!/usr/bin/env bats
# shellcheck disable=SC2016 # snippets expand in the shell that runs them
# Words for people: one line each, to stderr.

load only_in_sandbox.bash
load shells.bash

@test "a message is one line with the program in front" {
  each_shell 'test: one two' 'flexnode_say "one
two
"'
}

@test "an error names step, cause, remedy and id, and returns the exit code" {
  each_shell $'test: error: target: full; make the named mount writable [E_TARGET]\n7' 'flexnode_error E_TARGET target full; echo $?'
}

@test "an error may name a remedy of its own" {
  each_shell 'test: error: a: b; do c [E_USAGE]' 'flexnode_error E_USAGE a b "do c" || :'
}

@test "an id that nobody knows is an internal error" {
  each_shell '1' 'flexnode_error E_NONE a b 2>/dev/null; echo $?'
}

@test "words go to stderr only" {
  each_shell '' '{ flexnode_say a; flexnode_warn b; flexnode_error E_USAGE c d || :; } 2>/dev/null'
}

@test "--quiet leaves warnings and errors" {
  each_shell $'test: warning: b\ntest: error: c: d; see --help [E_USAGE]' \
    'FLEXNODE_OPT_QUIET=1; flexnode_say a; flexnode_debug a; flexnode_warn b; flexnode_error E_USAGE c d || :'
}

@test "steps are shown with --verbose only" {
  each_shell 'test: b' 'flexnode_debug a; FLEXNODE_OPT_VERBOSE=1; flexnode_debug b'
}

@test "the transcript gets every word, even the quiet ones" {
  each_shell $'test: a\ntest: b\ntest: warning: c' \
    'FLEXNODE_OPT_QUIET=1 FLEXNODE_OPT_LOG=$T/log; flexnode_say a; flexnode_debug b; flexnode_warn c 2>/dev/null; cat $T/log'
}

@test "a log that cannot be written is a usage error" {
  each_shell $'test: error: options: cannot write the log T/no/log; name another file [E_USAGE]\n2' \
    'FLEXNODE_OPT_LOG=$T/no/log; flexnode_open_log; echo $?'
}

@test "what is not a terminal gets no colour" {
  each_shell '0' 'flexnode_error E_USAGE a b 2>$T/words || :; tr -cd "\033" <$T/words | wc -c'
}

@test "what a hushed function prints is shown when it fails, and its status is kept" {
  each_shell $'0\nout\nerr\n7\n/run: ' 'f() { echo out >&2; echo err >&2; return $1; }
    flexnode_hushed f 0 2>&1; echo $?; flexnode_hushed f 7 2>&1; echo $?; echo "/run: $(ls -A $T/run)"'
}
