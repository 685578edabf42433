#!/usr/bin/env bats
# shellcheck disable=SC2016 # snippets expand in the shell that runs them
# The journal: written whole, read only when it is valid to the last line.

load only_in_sandbox.bash
load shells.bash

READ='flexnode_journal_read; echo "$? $FLEXNODE_J_ROOT $FLEXNODE_J_ATTEMPT $FLEXNODE_J_DONE"; [ -z "$FLEXNODE_J_REASON" ] || echo "$FLEXNODE_J_REASON"'
WRITE='flexnode_journal_read; flexnode_journal_write install $T/opt/unbounded "" "" "absent|-|$T/opt/unbounded|-" "mkdir|0755|$T/opt/unbounded|-"'
HEAD='flexnode-journal 1 $T/opt/unbounded\nattempt|install\n'

@test "no journal" { each_shell '1   ' "$READ"; }
@test "a journal without done is an open attempt" { each_shell '0 T/opt/unbounded install ' "$WRITE; $READ"; }
@test "a closed journal is done" { each_shell '0 T/opt/unbounded install 1' "$WRITE && flexnode_journal_close; $READ"; }
@test "the journal has the documented lines" {
  each_shell $'flexnode-journal 1 T/opt/unbounded\nattempt|install\nconfig|/etc/aks-flex-node/config.json\nlogdir|/var/log/aks-flex-node\nbefore|absent|-|T/opt/unbounded|-\nstep|mkdir|0755|T/opt/unbounded|-\ndone' \
    "$WRITE && flexnode_journal_close; cat \$FLEXNODE_JOURNAL"
}
@test "the journal is for root alone and no temporary name is left" {
  each_shell $'600\njournal' "$WRITE; stat -c %a \$FLEXNODE_JOURNAL; ls -A \$T/var/lib"
}
@test "what an earlier journal says about the time before us is kept" {
  each_shell $'before|absent|-|T/opt/unbounded|-\nbefore|dir|0755|T/opt|0:0' \
    "$WRITE && flexnode_journal_close; flexnode_journal_read; flexnode_journal_write install \$T/opt/unbounded '' '' \"dir|0755|\$T/opt/unbounded|0:0
dir|0755|\$T/opt|0:0\" ''; grep ^before \$FLEXNODE_JOURNAL"
}
@test "an install does not close an unfinished bootstrap" {
  each_shell '0 T/opt/unbounded bootstrap ' \
    "flexnode_journal_read; flexnode_journal_write bootstrap \$T/opt/unbounded '' '' '' ''; $WRITE && flexnode_journal_close; $READ"
}
@test "an install keeps the config path and log directory of an earlier bootstrap" {
  each_shell $'/srv/c|d.json\n/srv/log' \
    "flexnode_journal_read; flexnode_journal_write bootstrap \$T/opt/unbounded '/srv/c|d.json' /srv/log '' '' && flexnode_journal_close
    $WRITE; flexnode_journal_read; echo \"\$FLEXNODE_J_CONFIG\"; echo \$FLEXNODE_J_LOGDIR"
}
@test "a second config path is the one that counts, the first is remembered" {
  each_shell $'/b\n/a\n/b' \
    "for c in /a /b /b; do flexnode_journal_read; flexnode_journal_write bootstrap \$T/opt/unbounded \$c '' '' '' && flexnode_journal_close; done
    flexnode_journal_read; echo \$FLEXNODE_J_CONFIG; printf %s \"\$FLEXNODE_J_CONFIGS\""
}
@test "a torn last word is an open attempt, and is closed by completing it" {
  each_shell $'0 T/opt/unbounded install \n0 T/opt/unbounded install 1' "$WRITE; printf do >>\$FLEXNODE_JOURNAL; $READ; flexnode_journal_close; $READ"
}
@test "a torn line of another kind is not valid" {
  each_shell $'2   \nits last line is torn: step|mk' "$WRITE; printf 'step|mk' >>\$FLEXNODE_JOURNAL; $READ"
}
@test "another version is not valid" {
  each_shell $'2   \nits first line is not that of a journal of this version' 'printf "flexnode-journal 2 $T/opt/unbounded\n" >$FLEXNODE_JOURNAL; '"$READ"
}
@test "an empty file is not valid" {
  each_shell $'2   \nits first line is not that of a journal of this version' ": >\$FLEXNODE_JOURNAL; $READ"
}
@test "a line that nobody knows is not valid" {
  each_shell $'2   \nit has a line that is not understood: format|-|/x|-' "printf \"${HEAD}format|-|/x|-\\\\n\" >\$FLEXNODE_JOURNAL; $READ"
}
@test "a line after done is not valid" {
  each_shell $'2   \nit has a line that is not understood: attempt|install' "printf \"${HEAD}done\\\\nattempt|install\\\\n\" >\$FLEXNODE_JOURNAL; $READ"
}
@test "a root that is none of ours is not valid" {
  each_shell $'2   \nit names a root that is none of ours: /home' 'printf "flexnode-journal 1 /home\nattempt|install\n" >$FLEXNODE_JOURNAL; '"$READ"
}
@test "a path outside the known list is not valid" {
  each_shell $'2   \nit names a path that is not ours: /home/user' "printf \"${HEAD}before|absent|-|/home/user|-\\\\n\" >\$FLEXNODE_JOURNAL; $READ"
}
@test "a climbing path is not valid" {
  each_shell $'2   \nit names a path that is not ours: T/opt/unbounded/../../etc' "printf \"${HEAD}step|mkdir|0755|\$T/opt/unbounded/../../etc|-\\\\n\" >\$FLEXNODE_JOURNAL; $READ"
}
@test "a climbing config path is not valid" {
  each_shell $'2   \nit names a path that is not clean: /srv/../etc' "printf \"${HEAD}config|/srv/../etc\\\\n\" >\$FLEXNODE_JOURNAL; $READ"
}
@test "a link in the journal's place is not followed" {
  each_shell $'2   \nit is not a regular file' "printf \"$HEAD\" >\$T/j; ln -s \$T/j \$FLEXNODE_JOURNAL; $READ"
}
@test "a journal that is not valid is moved aside and reported" {
  each_shell $'test: warning: T/var/lib/journal is not used: it is odd; moved to T/var/lib/journal.invalid\njournal.invalid' \
    'echo x >$FLEXNODE_JOURNAL; FLEXNODE_J_REASON="it is odd"; flexnode_journal_set_aside; ls $T/var/lib'
}
@test "what stands there before is told by kind, mode, owner, content" {
  each_shell $'absent|-|T/none|-\ndir|1750|T/d|0:0\nfile|0604|T/f%7C|ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\nlink|-|T/l|/a b' \
    'mkdir $T/d; chmod 1750 $T/d; printf abc >"$T/f|"; chmod 604 "$T/f|"; ln -s "/a b" $T/l
    flexnode_before_records "$T/none
$T/d
$T/f|
$T/l"'
}
