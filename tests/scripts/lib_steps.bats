#!/usr/bin/env bats
# shellcheck disable=SC2016 # snippets expand in the shell that runs them
# Plans: records are emitted, and one loop prints or acts on them.

load only_in_sandbox.bash
load shells.bash

@test "separator, percent and newline survive a record" {
  each_shell $'x|-|T/a%7Cb%25c%0Ad|%257C\n<x><-><T/a|b%c\nd><%7C>' \
    'r=$(flexnode_emit x - "$T/a|b%c
d" "%7C"); echo "$r"; show() { printf "<%s>" "$@"; }; flexnode_each show "$r"'
}

@test "a percent sign that encodes nothing stays" { each_shell '50% %zz' 'flexnode_decode "50% %zz"; echo "$FLEXNODE_RESULT"'; }

@test "the loop stops at the first failure with its status" {
  each_shell $'a\nb\n5' 'f() { echo $1; [ $1 != b ] || return 5; }; flexnode_each f "a|-|/x|-
b|-|/x|-
c|-|/x|-"; echo $?'
}

@test "no records are no work" { each_shell '0' 'flexnode_each false ""; echo $?'; }

@test "what is printed is what is done" {
  each_shell $'would make directory T/a b (0750)\nwould link T/a b/l -> /x\nwould remove T/gone\n750 /x' \
    'r="mkdir|0750|$T/a b|-
link|-|$T/a b/l|/x
unlink|-|$T/gone|-"; flexnode_each flexnode_print "$r"; flexnode_each flexnode_act "$r"
     echo "$(stat -c %a "$T/a b") $(readlink "$T/a b/l")"'
}

@test "a directory that is there keeps its mode" {
  each_shell '711' 'mkdir -m 711 $T/d; flexnode_act mkdir 0755 $T/d -; stat -c %a $T/d'
}

@test "a link never replaces what is there" {
  each_shell $'test: error: link T/f: something is there; run this again [E_TARGET]\n7\nold' \
    'echo old >$T/f; flexnode_act link - $T/f /x; echo $?; cat $T/f'
}

@test "a link is not made inside the directory that a link leads to" {
  each_shell '0' 'mkdir $T/d; ln -s $T/d $T/l; flexnode_act link - $T/l /x 2>/dev/null; ls $T/d | wc -l'
}

@test "a file is not moved into a directory of its name" {
  each_shell $'test: error: put T/d in place: it is a directory; move it away [E_TARGET]\n0' \
    'mkdir $T/d; : >$T/s; flexnode_act move 0755 $T/d $T/s; ls $T/d | wc -l'
}

@test "removing what is gone is done" { each_shell '0' 'flexnode_act unlink - $T/none -; echo $?'; }

@test "a step that fails says why" {
  each_shell $'test: error: make directory T/no/d: No such file or directory; make the named mount writable [E_TARGET]\n7' \
    'flexnode_act mkdir 0755 $T/no/d -; echo $?'
}
