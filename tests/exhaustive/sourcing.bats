#!/usr/bin/env bats
# Sourcing uninstall.sh: it defines functions, and nothing else changes in the caller, in any shell.
# shellcheck disable=SC2016,SC2086 # scripts for other shells stand in single quotes; a shell may be two words

load ../scripts/only_in_sandbox.bash

SHELLS=(dash bash 'bash --posix' 'busybox ash')

setup() {
  cd "$BATS_TEST_TMPDIR" || return
  UNINSTALL=$(realpath "$BATS_TEST_DIRNAME/../../scripts/uninstall.sh")
}

# in_each_shell SCRIPT: runs SCRIPT in every shell, in which $UNINSTALL is the script; each must print ok and no more.
in_each_shell() {
  local shell
  printf '%s\n' "$1" >script
  for shell in "${SHELLS[@]}"; do
    run env UNINSTALL="$UNINSTALL" $shell ./script one 'two words'
    [ "$status,$output" = 0,ok ] || { printf '%s: %s\n%s\n' "$shell" "$status" "$output" && return 1; }
  done
}

# an_agent RESET: an agent below the host root whose reset is this command.
an_agent() {
  mkdir -p /opt/unbounded/bin /etc/aks-flex-node
  printf '#!/bin/sh\n%s\n' "$1" >/opt/unbounded/bin/aks-flex-node
  chmod 0755 /opt/unbounded/bin/aks-flex-node
  printf '{}\n' >/etc/aks-flex-node/config.json
}

@test "sourcing prints nothing and returns 0" {
  in_each_shell '. "$UNINSTALL"; [ $? = 0 ] && echo ok'
}

@test "sourcing works under set -eu" {
  in_each_shell 'set -eu; . "$UNINSTALL"; echo ok'
}

@test "sourcing works under pipefail and errexit in functions" {
  printf 'set -Eeuo pipefail; trap "echo trapped" ERR; f() { . "$UNINSTALL"; }; f; echo ok\n' >script
  run env UNINSTALL="$UNINSTALL" bash ./script
  [ "$output" = ok ]
}

@test "sourcing changes no variable" {
  in_each_shell 'set -u; set >before; . "$UNINSTALL"; set >after
    sed -n "/^[A-Za-z_0-9]* *()/,\$d; /^\(_\|BASH_LINENO\|BASH_ARG[CV]\|PIPESTATUS\|RANDOM\|SECONDS\|EPOCH[A-Z]*\|SRANDOM\|FUNCNAME\)=/d; p" before >b
    sed -n "/^[A-Za-z_0-9]* *()/,\$d; /^\(_\|BASH_LINENO\|BASH_ARG[CV]\|PIPESTATUS\|RANDOM\|SECONDS\|EPOCH[A-Z]*\|SRANDOM\|FUNCNAME\)=/d; p" after >a
    cmp a b && [ -s a ] && echo ok'
}

@test "sourcing changes no option, trap, directory, IFS, umask or parameter" {
  in_each_shell 'umask 027; trap "echo trapped" USR1; IFS=,; cd /etc
    state() { printf "%s|" "$-" "$IFS" "$PWD" "$(umask)" "$#" "$1" "$2" "$(trap)"; }
    before=$(state "$@"); . "$UNINSTALL"; [ "$(state "$@")" = "$before" ] && echo ok'
}

@test "calling changes no option, trap, directory, IFS, umask, variable or parameter" {
  an_agent 'exit 0'
  in_each_shell 'set -u; umask 027; trap "echo trapped" USR1 TERM; IFS=,; cd /etc; FLEXNODE_LEFT=mine
    state() { printf "%s|" "$-" "$IFS" "$PWD" "$(umask)" "$#" "$1" "$2" "$(trap)" "$FLEXNODE_LEFT" "${FLEXNODE_ROOTS-unset}"; }
    . "$UNINSTALL"; before=$(state "$@")
    flexnode_find_roots >/dev/null; flexnode_uninstall --plan >/dev/null; flexnode_remove_path /srv 2>/dev/null
    [ "$(state "$@")" = "$before" ] && echo ok'
}

@test "only functions named flexnode_ are defined" {
  run env -i PATH="$PATH" bash -c '. "$1"; compgen -A function | grep -v ^flexnode_; compgen -v | grep -i flexnode' x "$UNINSTALL"
  [ "$output" = "" ]
}

@test "the public functions are there" {
  in_each_shell '. "$UNINSTALL"
    for f in uninstall find_roots remove_units remove_layout remove_path; do command -v flexnode_$f >/dev/null || exit; done
    echo ok'
}

@test "flexnode_uninstall does the job and the caller goes on" {
  local shell
  for shell in "${SHELLS[@]}"; do
    an_agent 'exit 0'
    run $shell -euc '. "$1"; flexnode_uninstall --yes --quiet; echo ok' x "$UNINSTALL"
    [ "$status,$output" = 0,ok ]
    [ ! -e /opt/unbounded ]
    [ ! -e /etc/aks-flex-node ]
  done
}

@test "a failure is a status, not an exit, under set -eu" {
  an_agent 'exit 1'
  in_each_shell 'set -eu; . "$UNINSTALL"; if flexnode_uninstall --yes --quiet 2>/dev/null; then echo no; else [ $? = 13 ] && echo ok; fi'
}

@test "a wrong option is a status, not an exit" {
  in_each_shell '. "$UNINSTALL"; flexnode_uninstall --nonsense 2>/dev/null; [ $? = 2 ] && echo ok'
}

@test "without an answer nothing is done and the caller goes on" {
  an_agent 'exit 0'
  in_each_shell '. "$UNINSTALL"; flexnode_uninstall 2>/dev/null; [ $? = 2 ] && [ -e /opt/unbounded/bin/aks-flex-node ] && echo ok'
}

@test "flexnode_find_roots prints the host root and, last, the legacy root" {
  in_each_shell '. "$UNINSTALL"; set -- $(flexnode_find_roots); [ "$1 $3" = "/opt/unbounded /usr/local" ] && echo ok'
}

@test "flexnode_remove_units removes files, masks and links" {
  local units=/etc/systemd/system
  touch $units/aks-flex-node-agent.service
  ln -s /dev/null $units/aks-flex-node-bootstrap.service
  ln -s ../x $units/multi-user.target.wants/aks-flex-node-agent.service
  run sh -c '. "$1"; flexnode_remove_units' x "$UNINSTALL"
  [ "$status" = 0 ]
  run find $units -name 'aks-flex-node*'
  [ "$output" = "" ]
}

@test "flexnode_remove_layout removes the layout below one root and nothing below the other" {
  an_agent 'exit 0'
  rm -rf /usr/local/bin # as on a host where nothing else is in it
  mkdir /usr/local/bin
  cp /opt/unbounded/bin/aks-flex-node /usr/local/bin/
  run sh -c '. "$1"; flexnode_remove_layout /usr/local' x "$UNINSTALL"
  [ "$status" = 0 ]
  [ -d /usr/local/bin ]
  [ ! -e /usr/local/bin/aks-flex-node ]
  [ -e /opt/unbounded/bin/aks-flex-node ]
}

@test "flexnode_remove_path says with a status what it did" {
  an_agent 'exit 0'
  in_each_shell '. "$UNINSTALL"; flexnode_remove_path /etc/aks-flex-node/nothing && ! flexnode_remove_path "" 2>/dev/null && echo ok'
}

@test "the names of the official script exist only on request" {
  in_each_shell '. "$UNINSTALL"
    for f in run_reset remove_directories remove_binary remove_host_root find_install_dir; do ! command -v $f >/dev/null || exit; done
    echo ok'
}

@test "the functions of the official script do what they say" {
  local shell
  for shell in "${SHELLS[@]}"; do
    an_agent 'echo reset >>/tmp/resets'
    rm -f /tmp/resets
    run env FLEXNODE_OFFICIAL_NAMES=1 $shell -euc '. "$1"; exec 2>/dev/null
      find_install_dir; [ "$INSTALL_DIR" = /opt/unbounded/bin ]
      run_reset; [ -e /tmp/resets ]
      remove_directories; [ ! -e /etc/aks-flex-node ]; [ -e /opt/unbounded/bin/aks-flex-node ]
      remove_binary; [ ! -e /opt/unbounded ]
      mkdir -p /opt/unbounded/lib; remove_host_root; [ ! -e /opt/unbounded ]; echo ok' x "$UNINSTALL"
    [ "$status,$output" = 0,ok ]
  done
}

@test "a function of the caller named like a tool is not called" {
  an_agent 'exit 0'
  in_each_shell '. "$UNINSTALL"; rm() { echo caught; }; mv() { echo caught; }; rmdir() { echo caught; }
    flexnode_uninstall --yes --quiet 2>&1; mkdir -p /opt/unbounded/bin; echo ok'
}

@test "every example of the document does what it says" {
  local project shell
  project=$(realpath "$BATS_TEST_DIRNAME/../..")
  awk -v RS='```' 'NR % 2 == 0 { sub(/^sh\n/, ""); printf "%s", $0 >("example" NR / 2) }' "$project/docs/sourcing-uninstall.md"
  for shell in "${SHELLS[@]}"; do
    for example in 1 2 3; do
      an_agent 'exit 0'
      run $shell -euc 'cd "$1"; . "$2"' x "$project" "$PWD/example$example"
      [ "$status" = 0 ]
      [ ! -e /opt/unbounded/bin/aks-flex-node ]
      [ "$example" = 2 ] || [ ! -e /opt/unbounded ]
      [ "$example" = 2 ] || [ ! -e /etc/aks-flex-node ]
    done
  done
  [ ! -e example4 ]
}
