"""The order of uninstall.sh: what is read first, the units, the agent's reset, and what happens when it fails."""

from __future__ import annotations

import pytest

from pyhelpers.sandbox import Box
from tests.scripts.uninstall import (
    AGENT,
    CONFIG,
    FIRST_BOOT,
    JOURNAL,
    LEGACY,
    LOG,
    ROOT,
    STATE,
    UNINSTALL,
    UNITS,
    WANTS,
    Uninstall,
)

# Stands for systemctl on a host that systemd booted: says what it was asked, knows the agent as active.
SYSTEMCTL = f"""#!/bin/sh
echo "systemctl $*" >>{LOG}
case $1 in
  is-active)
    shift 2
    for unit; do
      case $unit in {AGENT} | {FIRST_BOOT}) echo active ;; *) echo inactive ;; esac
    done
    ;;
  is-failed) exit 1 ;;
  stop) exit ${{STOP_STATUS-0}} ;;
esac
"""


@pytest.fixture
def host(box: Box) -> Uninstall:
    return Uninstall(box)


def booted(host: Uninstall) -> None:
    """Make the box look as if systemd had booted it."""
    host.sh("mkdir -p /run/systemd/system")
    host.put("/usr/bin/systemctl", SYSTEMCTL.encode(), 0o755)


def test_the_agent_of_the_host_root_is_asked_before_the_legacy_one(host: Uninstall) -> None:
    host.put_agent(ROOT)
    host.put_agent(LEGACY)
    host.run("--yes")
    assert host.resets() == [f"{ROOT}/bin/aks-flex-node reset"]


def test_a_legacy_agent_is_asked_too(host: Uninstall) -> None:
    host.put_agent(LEGACY)
    host.run("--yes")
    assert host.resets() == [f"{LEGACY}/bin/aks-flex-node reset"]


def test_the_active_slot_is_asked_when_the_binary_link_is_gone(host: Uninstall) -> None:
    host.put_layout()
    host.sh(f"rm {ROOT}/bin/aks-flex-node")
    host.run("--yes")
    assert host.resets() == [f"{ROOT}/lib/aks-flex-node/aks-flex-node-current reset"]


def test_reset_finds_config_units_and_journal_still_there(host: Uninstall) -> None:
    host.put_journal()
    host.put_units()
    host.put(f"{CONFIG}/config.json", b"{}")
    host.put_agent(reset=f"ls {CONFIG}/config.json {UNITS}/{AGENT} {JOURNAL} >>{LOG}")
    host.run("--yes")
    assert host.resets()[1:] == [f"{CONFIG}/config.json", f"{UNITS}/{AGENT}", JOURNAL]


def test_the_first_boot_unit_is_gone_before_reset(host: Uninstall) -> None:
    host.put_units()
    host.put_agent(reset=f"ls {UNITS}/{FIRST_BOOT} {WANTS}/{FIRST_BOOT} >>{LOG} 2>&1; exit 0")
    host.run("--yes")
    assert [line.split(": ")[-1] for line in host.resets()[1:]] == ["No such file or directory"] * 2


def test_the_lock_is_not_held_while_reset_runs(host: Uninstall) -> None:
    host.put_agent(reset=f"flock -n /run/aks-flex-node-agent-upgrade.lock echo free >>{LOG}")
    host.run("--yes")
    assert host.resets()[1:] == ["free"]


def test_reset_gets_neither_our_stdin_nor_our_umask(host: Uninstall) -> None:
    host.put_agent(reset=f"cat >>{LOG}; umask >>{LOG}")
    host.sh(f"cat {UNINSTALL} | sh -s -- --yes")
    assert host.resets()[1:] == ["0022"]


def test_reset_writes_no_python_caches(host: Uninstall) -> None:
    host.put_agent(reset=f"echo $PYTHONDONTWRITEBYTECODE >>{LOG}")
    host.run("--yes")
    assert host.resets()[1:] == ["1"]


@pytest.mark.parametrize(
    ("options", "status", "shown"),
    [((), 0, False), (("--verbose",), 0, True), (("--quiet",), 0, False), (("--quiet",), 7, True), ((), 7, True)],
)
def test_what_reset_prints_is_shown_when_it_fails_or_on_request(
    host: Uninstall, options: tuple[str, ...], status: int, shown: bool
) -> None:
    host.put_agent(reset=f"echo told; echo complained >&2; exit {status}")
    result = host.run("--yes", *options, code=13 if status else 0)
    assert ("told\ncomplained\n" in result.stderr, "told" in result.stderr) == (shown, shown)
    assert not host.exists("/run/.flexnode-words")
    assert "--quiet" not in options or status or result.stderr == ""


def test_a_failed_reset_keeps_all_that_it_needs_rocm_cli_299(host: Uninstall) -> None:
    host.put_journal()
    host.put_layout()
    host.put_units()
    host.put(f"{CONFIG}/config.json", b"{}")
    host.sh(
        f"rm {UNITS}/{FIRST_BOOT} {WANTS}/{FIRST_BOOT}\n"
        f"sed -i 's/^  reset).*/  reset) exit 7 ;;/' {ROOT}/bin/aks-flex-node"
    )
    before = host.diff()
    result = host.run("--yes", code=13)
    assert "reset failed (status 7); agent, config, journal and units stay" in result.stderr
    assert "[E_RESET]" in result.stderr
    assert [c for c in host.diff() if "/run/" not in c] == before


def test_after_a_failed_reset_the_next_run_finishes(host: Uninstall) -> None:
    host.put_journal()
    host.put_agent(reset="exit 7")
    host.run("--yes", code=13)
    host.put_agent()
    host.run("--yes")
    assert host.diff() == []


def test_an_agent_that_does_not_run_counts_as_a_failed_reset(host: Uninstall) -> None:
    host.put(f"{ROOT}/bin/aks-flex-node", b"\x7fELF broken", 0o755)
    host.run("--yes", code=13)
    assert host.exists(f"{ROOT}/bin/aks-flex-node")


def test_with_ignore_reset_failure_it_goes_on(host: Uninstall) -> None:
    host.put_agent(reset="exit 7")
    host.run("--yes", "--ignore-reset-failure")
    assert host.diff() == []


def test_with_ignore_reset_failure_what_reset_would_have_cleaned_is_named(host: Uninstall) -> None:
    host.put_agent(reset="exit 7")
    host.put("/var/lib/machines/kube1/etc/hostname")
    host.put("/etc/systemd/nspawn/kube1.nspawn")
    result = host.run("--yes", "--ignore-reset-failure", code=13)
    assert "left /var/lib/machines/kube1: the agent's reset would have cleaned it" in result.stderr
    assert "left /etc/systemd/nspawn/kube1.nspawn: " in result.stderr
    assert not host.exists(ROOT)
    assert not host.exists(STATE)


def test_without_a_binary_the_units_go_directly(host: Uninstall) -> None:
    host.put_units()
    result = host.run("--yes")
    assert "there is no agent to reset the node" in result.stderr
    assert host.diff() == []


@pytest.mark.parametrize("unit", [AGENT, FIRST_BOOT, "unbounded-localdns-network.service"])
def test_a_masked_unit_goes_rke2_9107(host: Uninstall, unit: str) -> None:
    host.sh(f"ln -s /dev/null {UNITS}/{unit}")
    host.run("--yes")
    assert host.diff() == []


def test_dangling_links_of_units_go_wazuh_1918(host: Uninstall) -> None:
    host.sh(f"mkdir {UNITS}/sockets.target.requires; ln -s ../{AGENT} {UNITS}/sockets.target.requires/{AGENT}")
    host.sh(f"ln -s ../{AGENT} {WANTS}/{AGENT}")
    host.run("--yes")
    assert [c.path for c in host.changes()] == [f"{UNITS}/sockets.target.requires"]


def test_a_unit_enabled_for_this_boot_only_goes(host: Uninstall) -> None:
    booted(host)
    link = f"/run/systemd/system/multi-user.target.wants/{AGENT}"
    host.sh(f"mkdir {link.rpartition('/')[0]}; ln -s {UNITS}/{AGENT} {link}")
    host.run("--yes")
    assert not host.exists(link)


def test_a_drop_in_of_the_operator_is_kept_and_named(host: Uninstall) -> None:
    host.put_units()
    host.put(f"{UNITS}/{AGENT}.d/override.conf")
    result = host.run("--yes")
    assert f"kept {UNITS}/{AGENT}.d/override.conf: a drop-in is not ours" in result.stderr
    assert host.exists(f"{UNITS}/{AGENT}.d/override.conf")


def test_a_directory_in_the_place_of_a_unit_is_kept(host: Uninstall) -> None:
    host.put(f"{UNITS}/{AGENT}/mine")
    host.put_agent()
    assert f"kept {UNITS}/{AGENT}: not a file" in host.run("--yes").stderr
    assert host.exists(f"{UNITS}/{AGENT}/mine")


def test_systemd_disables_the_first_boot_unit_first_and_reloads_last(host: Uninstall) -> None:
    booted(host)
    host.put_units()
    host.put_agent()
    host.run("--yes")
    asked = [line for line in host.resets() if "is-" not in line]
    assert asked == [
        f"systemctl disable --now -- {FIRST_BOOT}",
        "systemctl daemon-reload",
        f"{ROOT}/bin/aks-flex-node reset",
        f"systemctl stop -- {AGENT}",
        "systemctl daemon-reload",
    ]


def test_a_unit_that_does_not_stop_is_reported_and_the_rest_goes_on(host: Uninstall) -> None:
    booted(host)
    host.put_units()
    host.put_agent()
    result = host.box.run(["sh", UNINSTALL, "--yes"], env={"PATH": "/usr/bin:/bin:/usr/sbin", "STOP_STATUS": "4"})
    assert result.code == 13
    assert f"left {AGENT}: " in result.stderr
    assert not host.exists(ROOT)
    assert not host.exists(f"{UNITS}/{AGENT}")


def test_a_journal_stays_while_anything_is_left(host: Uninstall) -> None:
    host.put_journal()
    host.put(f"{LEGACY}/bin/aks-flex-node")
    host.sh(f"touch /tmp/f; mount --bind /tmp/f {LEGACY}/bin/aks-flex-node")
    host.run("--yes", code=13)
    assert host.exists(JOURNAL)
    host.sh(f"umount {LEGACY}/bin/aks-flex-node")
    host.run("--yes")
    assert host.diff() == []


BAD_JOURNALS = {
    "of another version, nix-installer 667 and 1269": b"flexnode-journal 2 /opt/unbounded\nattempt|install\ndone\n",
    "that is empty": b"",
    "that is no journal": b"\x00\xff\n\n",
    "with a line nobody knows": b"flexnode-journal 1 /opt/unbounded\nattempt|install\nerase|/srv\ndone\n",
    "that names the root of the host": b"flexnode-journal 1 /\nattempt|install\ndone\n",
    "with an empty root": b"flexnode-journal 1 \nattempt|install\ndone\n",
    "that names a foreign path": (
        b"flexnode-journal 1 /opt/unbounded\nattempt|install\nconfig|/etc/aks-flex-node/config.json\n"
        b"logdir|/var/log/aks-flex-node\nbefore|absent|-|/srv/precious|-\ndone\n"
    ),
    "that names a path with ..": (
        b"flexnode-journal 1 /opt/unbounded\nattempt|install\nlogdir|/var/log/../../srv/precious\ndone\n"
    ),
}


@pytest.mark.parametrize("name", BAD_JOURNALS)
def test_a_bad_journal_is_not_obeyed_but_reported_and_swept(host: Uninstall, name: str) -> None:
    host.sh("mkdir -p /srv/precious")
    host.put(JOURNAL, BAD_JOURNALS[name])
    host.put_agent()
    assert f"{JOURNAL} is not used: " in host.run("--yes").stderr
    assert [c.path for c in host.changes()] == ["/srv/precious"]


def test_without_a_journal_the_known_paths_are_swept_nix_installer_235(host: Uninstall) -> None:
    host.put_layout()
    host.put_units()
    host.put(f"{CONFIG}/config.json", b"{}")
    host.put(f"{STATE}/staging/archive.tar.gz")
    host.run("--yes")
    assert host.diff() == []


def test_the_recorded_root_is_used_rke2_2691(host: Uninstall) -> None:
    host.sh(f"mkdir -p /srv/agent; ln -s /srv/agent {ROOT}")
    host.put_agent("/srv/agent")
    host.put_journal("before|absent|-|/srv/agent/bin|-", root="/srv/agent")
    host.run("--yes")
    assert host.resets() == ["/srv/agent/bin/aks-flex-node reset"]
    assert host.sh("ls -A /srv/agent") == ""
