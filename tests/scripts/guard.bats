#!/usr/bin/env bats
# shellcheck disable=SC2016 # snippets expand in the shell that runs them
# The guard: run from a file, piped or sourced, in each shell. A wrong answer is a silent no-op or acts in a caller.

load only_in_sandbox.bash

setup() {
  cd "$BATS_TEST_TMPDIR" || return
  {
    printf '#!/bin/sh\n# flexnode-mark-7c1e probe.sh\n{\n'
    cat "$BATS_TEST_DIRNAME/../../scripts/lib/guard.sh"
    printf "%s\n" "! flexnode_is_run '# flexnode-mark-7c1e probe.sh' || {" '  printf "ran %s\n" "$*"' '  exit 0' '}' '}'
  } >probe.sh
  printf 'echo sourced\n' >after.sh
}

# each_shell EXPECTED COMMAND: COMMAND, in which SH stands for the shell, prints EXPECTED in every shell.
each_shell() {
  local shell
  for shell in dash bash 'busybox ash' 'bash --posix'; do
    run sh -c "${2//SH/$shell}"
    [ "$output" = "$1" ] || { printf '%s: %s\n' "$shell" "$output" && return 1; }
  done
}

@test "a script that is run from a file runs" { each_shell 'ran a b' 'SH probe.sh a b'; }
@test "a script that is run by its path runs" { each_shell 'ran a' 'SH "$PWD/probe.sh" a'; }
@test "a script that is executed runs" { each_shell 'ran a' 'printf "#!/usr/bin/env -S SH\n" >x; tail -n +2 probe.sh >>x; chmod +x x; ./x a'; }
@test "a piped script runs" { each_shell 'ran a' 'cat probe.sh | SH -s -- a'; }
@test "a script on stdin runs" { each_shell 'ran a' 'SH -s -- a <probe.sh'; }
@test "a script given by -c runs" { each_shell 'ran a' 'SH -c "$(cat probe.sh)" x a'; }
@test "a script from a process substitution runs" { each_shell 'ran a' "bash -c 'SH <(cat probe.sh) a'"; }
@test "a piped script runs with a pipe inherited on another descriptor" { each_shell 'ran a' 'cat probe.sh | SH -s -- a 7<&0'; }
@test "a piped script runs with the script itself on stderr" { each_shell 'ran a' 'cat probe.sh | SH -s -- a 2<probe.sh'; }
@test "sourced from a file" { each_shell sourced 'printf ". ./probe.sh\necho sourced\n" >f; SH f'; }
@test "sourced from a piped script" { each_shell sourced 'printf ". ./probe.sh\necho sourced\n" | SH'; }
@test "sourced from a script on stdin" { each_shell sourced 'printf ". ./probe.sh\necho sourced\n" >f; SH <f'; }
@test "sourced from -c" { each_shell sourced 'SH -c ". ./probe.sh; echo sourced"'; }
@test "sourced as a pipe" { each_shell sourced 'cat probe.sh | SH -c ". /dev/stdin; echo sourced"'; }
@test "sourced from a function" {
  each_shell sourced 'SH -c "f() { . ./probe.sh; }; f; echo sourced"'
}
@test "sourced from a subshell" { each_shell sourced 'SH -c "(. ./probe.sh; echo sourced)"'; }
@test "sourced from a subshell of a script" { each_shell sourced 'echo "(. ./probe.sh; echo sourced)" >f; SH f'; }
@test "sourced from a command substitution" { each_shell sourced 'SH -c "x=\$(. ./probe.sh; echo sourced); echo \$x"'; }
@test "sourced by a script that was sourced" { each_shell sourced 'echo ". ./probe.sh; echo sourced" >g; echo ". ./g" >f; SH f'; }
@test "sourced with globbing off" { each_shell 'sourced f' 'SH -c "set -f; . ./probe.sh; echo sourced; case \$- in *f*) echo f;; esac" | paste -sd" "'; }
@test "sourced with a strange IFS" { each_shell sourced 'SH -c "IFS=0123456789; . ./probe.sh; echo sourced"'; }
@test "sourced under set -eu" { each_shell sourced 'SH -euc ". ./probe.sh; echo sourced"'; }
@test "FLEXNODE_SOURCE_ONLY=1 sources a piped script" { each_shell '' 'cat probe.sh | FLEXNODE_SOURCE_ONLY=1 SH'; }

@test "sourcing leaves no variable and no option behind" {
  printf 'set -u; before=$(set; echo "$-"); . ./probe.sh; after=$(set; echo "$-")
    printf "%%s\n" "$before" >before; printf "%%s\n" "$after" >after
    diff before after | grep -i "[<>] flexnode_[a-z]*=" || echo clean; case $- in *u*) echo u ;; esac' >f
  each_shell $'clean\nu' 'SH f'
}

@test "the real scripts say that they are sourced, silently" {
  for script in "$BATS_TEST_DIRNAME"/../../scripts/*.sh; do
    each_shell sourced "SH -euc '. $script; echo sourced'"
  done
}

@test "the real scripts run when piped" {
  for script in "$BATS_TEST_DIRNAME"/../../scripts/*.sh; do
    for shell in dash bash 'busybox ash'; do
      run sh -c "cat $script | $shell -s -- --help"
      [ "$status" -eq 0 ]
      [[ $output == usage:* ]]
    done
  done
}
