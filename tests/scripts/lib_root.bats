#!/usr/bin/env bats
# shellcheck disable=SC2016 # snippets expand in the shell that runs them
# Host root, legacy root: the planned root, the linking table, the probe.

load only_in_sandbox.bash
load shells.bash

LEGACY='mkdir -p $T/usr/local/bin; : >$T/usr/local/bin/aks-flex-node'

@test "no root, nothing installed: the host root" { each_shell T/opt/unbounded 'flexnode_planned_root'; }
@test "no root, an agent under the legacy root: the legacy root" { each_shell T/usr/local "$LEGACY; flexnode_planned_root"; }
@test "a dangling slot link under the legacy root is an agent too" {
  each_shell T/usr/local 'mkdir -p $T/usr/local/lib/aks-flex-node; ln -s /gone $T/usr/local/lib/aks-flex-node/aks-flex-node-current; flexnode_planned_root'
}
@test "a helper under the legacy root is no agent" {
  each_shell T/opt/unbounded ': >$T/usr/local/bin/unbounded-agent-nspawn-lifecycle; flexnode_planned_root'
}
@test "our link with an agent behind it: the legacy root" { each_shell T/usr/local "$LEGACY; ln -s \$T/usr/local \$T/opt/unbounded; flexnode_planned_root"; }
@test "our link without an agent behind it: the host root itself" { each_shell T/opt/unbounded 'ln -s $T/usr/local $T/opt/unbounded; flexnode_planned_root'; }
@test "a link to elsewhere is followed" { each_shell T/srv 'mkdir $T/srv; ln -s $T/srv $T/opt/unbounded; flexnode_planned_root'; }
@test "a link in the middle of the root is followed" { each_shell T/data/unbounded 'mkdir $T/data; rmdir $T/opt; ln -s data $T/opt; flexnode_planned_root'; }
@test "what does not exist is appended to what does" { each_shell T/etc/x/y 'ln -s etc $T/e; flexnode_resolve $T/e/x/y'; }
@test "resolving a link to a file gives the file" { each_shell T/etc/f ': >$T/etc/f; ln -s etc/f $T/l; flexnode_resolve $T/l'; }

@test "link: absent root, an agent under the legacy root: linked" {
  each_shell 'link|-|T/opt/unbounded|T/usr/local' 'flexnode_check_link 1 && flexnode_plan_link 1'
}
@test "link: absent root, no legacy agent: nothing" { each_shell '0' 'flexnode_check_link "" && flexnode_plan_link ""; echo $?'; }
@test "link: a root that is no directory is an error" {
  each_shell 'test: error: layout: T/opt/unbounded is neither a directory nor a link; move it away [E_LAYOUT]' \
    ': >$T/opt/unbounded; flexnode_check_link "" || :'
}
@test "link: agents under both roots are an error that names reset" {
  each_shell "test: error: layout: an agent is installed under both T/opt/unbounded and T/usr/local; run 'T/opt/unbounded/bin/aks-flex-node reset', then uninstall.sh, then install again [E_LAYOUT]" \
    'mkdir -p $T/opt/unbounded/bin; : >$T/opt/unbounded/bin/aks-flex-node; flexnode_check_link 1 || :'
}
@test "link: a directory beside a legacy agent is an error that names both remedies" {
  each_shell 'test: error: layout: an agent is installed under T/usr/local, but T/opt/unbounded is a directory; remove T/opt/unbounded if it is not needed, or uninstall the agent under T/usr/local [E_LAYOUT]' \
    'mkdir $T/opt/unbounded; flexnode_check_link 1 || :'
}
@test "link: a directory alone is fine" { each_shell '0' 'mkdir $T/opt/unbounded; flexnode_check_link ""; echo $?'; }
@test "link: a link to elsewhere is left alone" { each_shell '0' 'ln -s $T/etc $T/opt/unbounded; flexnode_check_link 1 && flexnode_plan_link 1; echo $?'; }

@test "the probe leaves nothing behind" { each_shell '0' 'flexnode_probe $T/opt/a/b E_TARGET target; ls -A $T/opt | wc -l'; }
@test "the probe refuses a file in the way" {
  each_shell 'test: error: target: T/etc/f is not a directory; move it away [E_TARGET]' ': >$T/etc/f; flexnode_probe $T/etc/f/bin E_TARGET target || :'
}
@test "the probe names a read-only mount" {
  each_shell '7 1' 'words=$(flexnode_probe /sys/x E_TARGET target 2>&1); echo "$? $(printf "%s\n" "$words" | grep -c "/sys is on .*sysfs at /sys.*E_TARGET")"'
}
@test "a path is clean only without detours" {
  each_shell '/a /a/b ' 'for p in /a /a/b / a /a/ //a /a//b /a/./b /a/../b /.. /a/.. ""; do ! flexnode_is_clean_path "$p" || printf "%s " "$p"; done'
}
