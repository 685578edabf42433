"""install.sh, uninstall.sh where something is odd: descriptors, functions of the caller, links, what is in the way."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyhelpers.agent.checks.host_os_configuration import DIRECTORIES
from pyhelpers.sandbox import Box
from tests.scripts.install import SHELLS, archive
from tests.scripts.uninstall import CONFIG, INSTALL, JOURNAL, LEGACY, LOGS, ROOT, STATE, UNINSTALL, Uninstall, agent

INSTALL_QUICK = f"{INSTALL} --binary /tmp/agent"
OWN = (CONFIG, STATE, LOGS)


@pytest.fixture
def host(box: Box) -> Uninstall:
    box.write("/tmp/agent", agent(), 0o755)
    return Uninstall(box)


def round_trip(host: Uninstall, around: str, shell: str = "dash") -> None:
    """Install and uninstall, each run as `around` says; nothing of it may be left."""
    before = host.diff()
    for script, there in ((INSTALL_QUICK, True), (f"{UNINSTALL} --yes", False)):
        call = around.replace("SCRIPT", " ".join((*SHELLS[shell], script)))
        result = host.box.run(["bash", "-c", call])
        assert result.code == 0, result
        assert host.exists(f"{ROOT}/bin/aks-flex-node") == there
    assert host.diff() == before


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize("shell", SHELLS)
def test_closed_descriptors_do_not_disturb_it(host: Uninstall, shell: str, closed: str) -> None:
    round_trip(host, f"SCRIPT {closed}", shell)


@pytest.mark.parametrize("shell", SHELLS)
def test_a_full_standard_error_does_not_disturb_it(host: Uninstall, shell: str) -> None:
    round_trip(host, "SCRIPT 2>/dev/full", shell)


@pytest.mark.parametrize("shell", SHELLS)
def test_when_nobody_reads_the_messages_it_stops_and_leaves_nothing_staged(host: Uninstall, shell: str) -> None:
    reader_gone = f"mkfifo /tmp/f; exec 3<>/tmp/f 4>/tmp/f 3<&-; {' '.join(SHELLS[shell])} {INSTALL_QUICK} 2>&4"
    assert host.box.run(["bash", "-c", reader_gone]).code == 141
    assert [line for line in host.diff() if "staging" in line or ".flexnode-" in line] == []
    host.run("--yes")
    assert host.diff() == []


def test_functions_that_bash_inherits_are_not_called(host: Uninstall) -> None:
    names = "rm mv cp mkdir printf stat chmod flock"
    functions = " ".join(f"{name}() {{ echo called >>/tmp/called; }};" for name in names.split())
    round_trip(host, f"{functions} export -f {names}; SCRIPT", "bash")
    assert not host.exists("/tmp/called")


@pytest.mark.parametrize("shell", SHELLS)
def test_functions_of_a_caller_are_not_called(host: Uninstall, shell: str) -> None:
    host.install()
    functions = "rm() { echo called >>/tmp/called; }; mv() { rm; }; rmdir() { rm; }"
    result = host.box.run([*SHELLS[shell], "-c", f"{functions}\n. {UNINSTALL}\nflexnode_uninstall --yes"])
    assert result.code == 0, result
    assert (host.diff(), host.exists("/tmp/called")) == ([], False)


@pytest.mark.parametrize("target", ["/srv/o", "../srv/o", "/srv/o o", "one-more-link"])
def test_a_host_root_that_is_a_link_is_followed_and_left(host: Uninstall, target: str) -> None:
    host.sh(f"mkdir /srv/o '/srv/o o'; ln -s ../srv/o /opt/one-more-link; ln -s '{target}' {ROOT}")
    round_trip(host, "SCRIPT")


@pytest.mark.parametrize("target", ["unbounded", "/opt/unbounded", "nowhere", "../../../.."])
def test_a_host_root_that_leads_nowhere_does_not_stop_uninstall(host: Uninstall, target: str) -> None:
    host.put(f"{LEGACY}/bin/aks-flex-node", agent(), 0o755)
    host.sh(f"ln -s {target} {ROOT}")
    host.run("--yes")
    assert host.diff() == [f"added    {ROOT} (link 0777 0:0)"]


def test_a_relative_link_to_a_network_mount_is_not_followed(host: Uninstall) -> None:
    host.put_units()
    host.sh(f"mkdir -p /srv/net/x; ln -s ../srv/net/x {ROOT}")
    mounts = "mount -t ramfs net /srv/net; sed 's/ - ramfs / - nfs /' /proc/self/mountinfo >/tmp/mounts"
    table = f"{mounts}; flexnode_mount_table() {{ echo /tmp/mounts; }}"
    result = host.call(f"{table}\nflexnode_uninstall --yes")
    assert (result.code, f"left {ROOT}: a link to a network mount" in result.stderr) == (13, True), result


def test_a_place_that_cannot_be_looked_at_is_not_nothing_to_do(host: Uninstall) -> None:
    host.sh(f"mkdir -p /srv/net; ln -s /srv/net {ROOT}")
    mounts = "mount -t ramfs net /srv/net; sed 's/ - ramfs / - nfs /' /proc/self/mountinfo >/tmp/mounts"
    table = f"{mounts}; flexnode_mount_table() {{ echo /tmp/mounts; }}"
    result = host.call(f"{table}\nflexnode_uninstall --yes")
    assert (result.code, "nothing to do" in result.stderr) == (13, False), result
    assert f"left {ROOT}: a link to a network mount" in result.stderr


@pytest.mark.parametrize("kind", ["ln -s /srv", "ln -s /nowhere", "touch"])
@pytest.mark.parametrize("place", OWN)
def test_a_link_or_file_where_a_directory_of_ours_goes_is_refused_and_kept(
    host: Uninstall, place: str, kind: str
) -> None:
    host.sh(f"{kind} {place}")
    before = host.diff()
    result = host.box.run(["sh", INSTALL, "--binary", "/tmp/agent"])
    assert (result.code, result.stderr.count("\n")) == (7, 1), result
    assert f"{place} is" in result.stderr
    host.run("--yes")
    assert host.diff() == before


def test_a_directory_in_the_journals_place_goes_with_the_rest(host: Uninstall) -> None:
    host.sh(f"mkdir -p {JOURNAL}/x")
    host.install()
    host.run("--yes")
    assert [line for line in host.diff() if STATE in line and "journal" in line] == []


def test_an_agent_that_would_go_beside_one_under_the_legacy_root_is_refused(host: Uninstall) -> None:
    host.install(host_root="echo unknown command >&2; exit 1")
    host.box.write("/tmp/agent", agent(), 0o755)
    before = host.diff()
    result = host.box.run(["sh", INSTALL, "--binary", "/tmp/agent"])
    assert (result.code, "E_LAYOUT" in result.stderr) == (7, True), result
    assert host.diff() == before


@pytest.mark.parametrize("place", ["/opt/.flexnode-probe", f"{ROOT}/bin/.flexnode-new.aks-flex-node"])
def test_a_foreign_directory_by_a_temporary_name_stops_install_and_is_named(host: Uninstall, place: str) -> None:
    host.sh(f"mkdir -p {place}; touch /run/aks-flex-node-agent-upgrade.lock")
    before = host.diff()
    result = host.box.run(["sh", INSTALL, "--binary", "/tmp/agent"])
    assert (result.code, result.stderr.count("\n")) == (7, 1), result
    assert f"{place} is a directory; move it away" in result.stderr
    assert host.diff() == before


def test_a_fifo_by_a_temporary_name_does_not_hold_install_up(host: Uninstall) -> None:
    host.sh("mkfifo /opt/.flexnode-probe")
    result = host.box.run(["sh", INSTALL, "--binary", "/tmp/agent"], timeout=20)
    assert result.code == 0, result


@pytest.mark.parametrize("kind", ["mkfifo", "mkdir"])
def test_what_is_no_file_in_the_agents_place_is_kept_and_named(host: Uninstall, kind: str) -> None:
    place = f"{ROOT}/bin/aks-flex-node"
    host.sh(f"mkdir -p {ROOT}/bin; {kind} {place}")
    before = host.diff()
    assert f"kept {place}: not a file, where the agent has one" in host.run("--yes").stderr
    assert host.diff() == before


@pytest.mark.parametrize("config", ["/etc/passwd", "/srv/mine"])
def test_a_journal_cannot_have_a_file_removed_that_is_no_config(host: Uninstall, config: str) -> None:
    host.put("/srv/mine", b"mine\n")
    before = host.diff()
    host.put_journal(config=config)
    assert f"kept {config}" in host.run("--yes").stderr
    assert host.diff() == before


@pytest.mark.parametrize("directory", ["/home", "/srv", "/home/somebody", "/var/cache"])
def test_a_journal_cannot_have_a_directory_of_the_host_removed_as_logs(host: Uninstall, directory: str) -> None:
    host.put(f"{directory}/mine")
    before = host.diff()
    host.put_journal(f"before|absent|-|{directory}|-", logdir=directory)
    assert f"kept {directory}" in host.run("--yes").stderr
    assert host.diff() == before


@pytest.mark.parametrize("record", ["dir|-R 777|/etc|0:0", "dir|9999|/etc|0:0", "dir|0755|/etc|-R", "dir|0755|/etc|0:"])
def test_a_journal_with_a_mode_or_owner_that_is_none_is_not_obeyed(host: Uninstall, record: str) -> None:
    host.put_journal(f"before|{record}")
    result = host.run("--yes")
    assert "a mode or owner that is none" in result.stderr
    assert host.diff() == []


@pytest.mark.parametrize("limit", ["size=4k", "nr_inodes=3"])
def test_a_full_state_directory_is_not_taken_for_a_bad_agent(host: Uninstall, limit: str) -> None:
    install = f"mkdir {STATE}; mount -t tmpfs -o {limit} full {STATE}; sh {INSTALL_QUICK}"
    result = host.box.run(["sh", "-c", install])
    assert (result.code, result.stderr.count("\n"), "[E_STATE]" in result.stderr) == (7, 1, True), result


@pytest.mark.parametrize("script", [INSTALL_QUICK, f"{UNINSTALL} --yes"])
def test_a_lock_that_is_a_fifo_is_refused_at_once(host: Uninstall, script: str) -> None:
    host.install()
    host.sh("rm -f /run/aks-flex-node-agent-upgrade.lock; mkfifo /run/aks-flex-node-agent-upgrade.lock")
    result = host.box.run(["sh", "-c", f"sh {script}"], timeout=10)
    assert (result.code, "is not a regular file" in result.stderr) == (8, True), result


def test_a_wait_that_no_shell_can_count_is_refused(host: Uninstall) -> None:
    result = host.box.run(["sh", "-c", f"sh {INSTALL_QUICK} --wait 99999999999999999999"])
    assert (result.code, result.stderr.count("\n")) == (2, 1), result


@pytest.mark.parametrize("signal", ["INT", "TERM", "HUP"])
def test_a_run_that_waits_for_the_lock_leaves_the_other_runs_staging_alone(host: Uninstall, signal: str) -> None:
    host.sh(f"mkdir -p {STATE}/staging; touch {STATE}/staging/theirs")
    waiting = (
        f"exec 7>>/run/aks-flex-node-agent-upgrade.lock; flock 7\n"
        f"env --default-signal={signal} sh {INSTALL_QUICK} --wait 20 2>/tmp/words 7>&- & waiter=$!\n"
        f"until grep -q waiting /tmp/words; do :; done; kill -{signal} $waiter; wait $waiter"
    )
    assert host.box.run(["sh", "-c", waiting]).code > 128
    assert host.exists(f"{STATE}/staging/theirs")


def test_a_signal_between_making_the_state_directory_and_noting_it_leaves_nothing(host: Uninstall) -> None:
    made = 'mv -- "$FLEXNODE_STATE_NEW" "$FLEXNODE_STATE_DIR" && flexnode_sync "$flexnode_op_dir"\n}'
    script = Path(INSTALL).read_text()
    assert script.count(made) == 1
    host.box.write("/tmp/i.sh", script.replace(made, made[:-2] + " && kill -TERM $$\n}").encode(), 0o755)
    assert host.box.run(["dash", "/tmp/i.sh", "--binary", "/tmp/agent"]).code == 143
    assert host.diff() == ["added    /run/aks-flex-node-agent-upgrade.lock (file 0600 0:0)"]


def test_bootstrap_writes_its_config_over_no_other_file(host: Uninstall) -> None:
    script = str(Path(INSTALL).with_name("bootstrap.sh"))
    result = host.box.run(["sh", script, "--plan", "--base-config", "/tmp/base", "--config-path", "/etc/passwd"])
    assert (result.code, "/etc/passwd is there and is no config" in result.stderr) == (7, True), result


def test_a_python_home_of_the_caller_does_not_reach_the_agent(host: Uninstall) -> None:
    env = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "PYTHONHOME": "/nowhere", "PYTHONPATH": "/nowhere"}
    result = host.box.run(["sh", INSTALL, "--archive", archive("current")], env=env)
    assert result.code == 0, result


@pytest.mark.parametrize("folder", [ROOT, f"{ROOT}/bin", STATE, LOGS])
def test_an_empty_directory_of_somebody_outlives_a_second_uninstall(host: Uninstall, folder: str) -> None:
    host.sh(f"mkdir -p {folder}; chmod 2750 {folder}; chown 5:6 {folder}")
    before = host.diff()
    host.install()
    for _ in range(2):
        host.run("--yes")
        assert host.diff() == before


def test_the_probe_of_a_killed_install_goes_from_a_state_directory_that_stays(host: Uninstall) -> None:
    host.sh(f"mkdir -m 0711 {STATE}")
    before = host.diff()
    host.sh(f"touch {STATE}/.flexnode-probe")
    host.run("--yes")
    assert host.diff() == before


@pytest.mark.parametrize("place", [*(path for path, _ in DIRECTORIES), f"{ROOT}/bin", f"{ROOT}/lib", f"{ROOT}/libexec"])
def test_a_probe_that_a_killed_preflight_left_goes(host: Uninstall, place: str) -> None:
    host.put(f"{place}/.flexnode-probe.ed54c96225f0.renamed")
    host.run("--yes")
    assert [line for line in host.diff() if "probe" in line] == []
