"""Each preflight check on a host in a temporary directory: what passes, what fails, and what the message names."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from pyhelpers.agent.checks import disk_space
from pyhelpers.agent.checks.model import Question, Result
from pyhelpers.agent.checks.table import CHECKS
from pyhelpers.agent.config import ConfigErrors
from pyhelpers.host import Completed, Mount
from pyhelpers.rooted import RecordingHost

Ask = Callable[[str], list[Result]]


def put(host: RecordingHost, path: str, content: str = "") -> Path:
    """A file of the host."""
    file = Path(host.prefix + path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content)
    return file


@pytest.mark.parametrize("name", [check.id for check in CHECKS])
def test_a_good_host_passes_each_check_in_one_line(name: str, ask: Ask) -> None:
    assert [result.verdict for result in ask(name)] in (["pass"], ["pass", "pass"])


# --- is-privileged-user, agent-config ------------------------------------------------------------------------------
def test_another_user_than_root_is_an_error(host: RecordingHost, ask: Ask) -> None:
    host.user_id = 1000
    [result] = ask("is-privileged-user")
    assert (result.verdict, result.message) == ("fail", "runs as user id 1000, not as root")


def test_each_broken_rule_of_the_config_is_a_result(question: Question) -> None:
    errors = ConfigErrors("/c.json", ["agent.logLevel: must be a, b", "node: must be an object", "is not JSON: line 1"])
    check = next(check for check in CHECKS if check.id == "agent-config")
    results = check.run(replace(question, config=errors))
    assert [(r.verdict, r.target) for r in results] == [
        ("fail", "agent.logLevel"),
        ("fail", "node"),
        ("fail", "/c.json"),
    ]
    assert results[0].remedy == "correct agent.logLevel in /c.json"


# --- service-manager -----------------------------------------------------------------------------------------------
def test_another_process_1_is_an_error_that_names_it(host: RecordingHost, ask: Ask) -> None:
    put(host, "/proc/1/comm", "tini\n")
    [result] = ask("service-manager")
    assert result.verdict == "fail"
    assert "process 1 is tini" in result.message


def test_a_systemd_that_did_not_boot_the_host_is_an_error(host: RecordingHost, ask: Ask) -> None:
    Path(host.prefix, "run/systemd/system").rmdir()
    [result] = ask("service-manager")
    assert (result.verdict, "/run/systemd/system" in result.message) == ("fail", True)


def test_a_process_1_that_cannot_be_seen_is_unknown(host: RecordingHost, ask: Ask) -> None:
    Path(host.prefix, "proc/1/comm").unlink()
    assert ask("service-manager")[0].verdict == "unknown"


def test_a_degraded_systemd_is_a_warning_that_names_the_units(host: RecordingHost, ask: Ask) -> None:
    host.answers["systemctl is-system-running"] = Completed((), 1, "degraded\n")
    host.answers["systemctl list-units --failed"] = Completed((), 0, "a.service loaded failed failed A\nb.mount x\n")
    [result] = ask("service-manager")
    assert result.verdict == "warn"
    assert "a.service, b.mount failed" in result.message


@pytest.mark.parametrize(
    ("state", "verdict"),
    [("starting", "pass"), ("maintenance", "warn"), ("stopping", "fail"), ("offline", "unknown"), ("", "unknown")],
)
def test_the_state_of_systemd_decides(state: str, verdict: str, host: RecordingHost, ask: Ask) -> None:
    host.answers["systemctl is-system-running"] = Completed((), 1, state)
    assert ask("service-manager")[0].verdict == verdict


def test_an_old_systemd_is_a_warning(host: RecordingHost, ask: Ask) -> None:
    host.answers["systemctl --version"] = Completed((), 0, "systemd 245 (245.4-4ubuntu3)\n")
    [result] = ask("service-manager")
    assert (result.verdict, "systemd 245" in result.message) == ("warn", True)


def test_a_systemd_without_a_version_is_unknown(host: RecordingHost, ask: Ask) -> None:
    host.answers["systemctl --version"] = Completed((), 127)
    assert ask("service-manager")[0].verdict == "unknown"


# --- existing-deployment -------------------------------------------------------------------------------------------
ARTIFACTS = [
    "/run/systemd/machines/kube1",
    "/var/lib/machines/kube2",
    "/etc/systemd/nspawn/kube1.nspawn",
    "/etc/systemd/system/systemd-nspawn@kube2.service.d",
    "/run/bpffs/kube1",
    "/etc/unbounded/agent/kube1-applied-config.json",
    "/etc/systemd/system/aks-flex-node-agent.service",
    "/etc/systemd/system/aks-flex-node-agent-recovery.service",
]
UNIT = "/etc/systemd/system/aks-flex-node-agent.service"
JOURNAL = "/var/lib/aks-flex-node/journal"


@pytest.mark.parametrize("path", ARTIFACTS)
def test_each_artifact_of_a_deployment_is_an_error_that_names_it(path: str, host: RecordingHost, ask: Ask) -> None:
    put(host, path)
    [result] = ask("existing-deployment")
    assert (result.verdict, result.target) == ("fail", path)
    assert path in result.message


def test_a_dangling_unit_link_counts(host: RecordingHost, ask: Ask) -> None:
    Path(host.prefix + UNIT).symlink_to("/nowhere")
    assert ask("existing-deployment")[0].verdict == "fail"


@pytest.mark.parametrize(
    "path",
    [
        "/opt/unbounded/bin/aks-flex-node",
        "/opt/unbounded/lib/aks-flex-node/aks-flex-node-recovery.sh",
        "/usr/local/lib/aks-flex-node/aks-flex-node-blue",
        "/etc/systemd/system/aks-flex-node-bootstrap.service",
        "/etc/aks-flex-node/config.json",
        "/var/lib/machines/other",
    ],
)
def test_what_reset_keeps_or_others_made_does_not_count(path: str, host: RecordingHost, ask: Ask) -> None:
    put(host, path)
    assert ask("existing-deployment") == [Result("pass", "none")]


@pytest.mark.parametrize(
    ("journal", "verdict"),
    [
        ("flexnode-journal 1 /opt/unbounded\nattempt|bootstrap\nstep|mkdir|0755|/opt|-\n", "pass"),
        ("flexnode-journal 1 /opt/unbounded\nattempt|bootstrap\ndone\n", "fail"),
        ("flexnode-journal 1 /opt/unbounded\nattempt|install\n", "fail"),
        ("flexnode-journal 2 /opt/unbounded\nattempt|bootstrap\n", "fail"),
        ("attempt|bootstrap\n", "fail"),
        ("", "fail"),
    ],
)
def test_only_an_unfinished_bootstrap_of_ours_excuses_the_unit(
    journal: str, verdict: str, host: RecordingHost, ask: Ask
) -> None:
    put(host, UNIT)
    put(host, JOURNAL, journal)
    assert ask("existing-deployment")[0].verdict == verdict


def test_an_unfinished_start_excuses_the_unit_and_is_named(host: RecordingHost, ask: Ask) -> None:
    put(host, UNIT)
    put(host, "/var/lib/aks-flex-node/start-attempt")
    [result] = ask("existing-deployment")
    assert (result.verdict, result.target) == ("pass", "/var/lib/aks-flex-node/start-attempt")


def test_an_unfinished_start_does_not_excuse_a_machine(host: RecordingHost, ask: Ask) -> None:
    put(host, "/var/lib/machines/kube1/etc/os-release")
    put(host, "/var/lib/aks-flex-node/start-attempt")
    assert ask("existing-deployment")[0].verdict == "fail"


def test_what_cannot_be_inspected_is_an_error(host: RecordingHost, ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(path: str) -> bool:
        raise PermissionError(errno.EACCES, "Permission denied", path)

    monkeypatch.setattr(host, "present", denied)
    results = ask("existing-deployment")
    assert {result.verdict for result in results} == {"fail"}
    assert "cannot see whether" in results[0].message


# --- host-packages -------------------------------------------------------------------------------------------------
def test_a_missing_tool_is_a_warning_that_names_package_and_tool(host: RecordingHost, ask: Ask) -> None:
    host.tools -= {"systemd-nspawn", "nft"}
    results = ask("host-packages")
    assert [result.verdict for result in results] == ["warn", "warn"]
    assert "systemd-container (provides systemd-nspawn)" in results[0].message
    assert "may be installed by bootstrap" in results[0].message


def test_without_a_package_manager_a_missing_tool_is_an_error(host: RecordingHost, ask: Ask) -> None:
    host.tools -= {"systemd-nspawn", "apt-get"}
    [result] = ask("host-packages")
    assert result.verdict == "fail"
    assert "no supported package manager" in result.message
    assert "systemd-container (provides systemd-nspawn)" in result.message


def test_without_a_package_manager_tools_that_are_there_are_enough(host: RecordingHost, ask: Ask) -> None:
    host.tools -= {"apt-get"}
    assert ask("host-packages")[0].verdict == "pass"


def test_on_an_image_managed_host_a_missing_tool_asks_for_a_system_extension(host: RecordingHost, ask: Ask) -> None:
    put(host, "/etc/os-release", "ID=flatcar\n")
    host.tools = {"tdnf"}
    results = ask("host-packages")
    assert [result.verdict for result in results] == ["fail"] * 4
    for words in ("image-managed", "Flatcar", "systemd-container (provides systemd-nspawn)", "system extension"):
        assert words in results[0].message
    assert not [result for result in results if "package manager" in result.message + result.remedy]


def test_with_offline_artifacts_a_missing_tool_is_an_error(host: RecordingHost, question: Question, ask: Ask) -> None:
    host.tools -= {"nft"}
    question.config.data["bootstrap"] = {"offlineArtifacts": {"source": "/opt/a"}}  # type: ignore[union-attr]
    assert ask("host-packages")[0].verdict == "fail"


def test_a_read_only_usr_is_named_when_something_is_missing(host: RecordingHost, ask: Ask) -> None:
    host.mounted = [Mount("/", "ext4", "/dev/sda1", ("rw",)), Mount("/usr", "ext4", "/dev/sda2", ("ro",))]
    assert ask("host-packages")[0].verdict == "pass"
    host.tools -= {"nft"}
    [result] = ask("host-packages")
    assert result.verdict == "fail"
    assert "/usr is mounted from /dev/sda2 (ext4, ro)" in result.message


# --- agent-install-dir, host-os-configuration ----------------------------------------------------------------------
def test_a_noexec_target_is_an_error_with_its_mount(host: RecordingHost, ask: Ask) -> None:
    host.answers["/opt/.flexnode-probe"] = Completed((), 126, "", "[Errno 13] Permission denied: '/opt/x'")
    host.mounted = [Mount("/", "ext4", "/dev/sda1", ("rw",)), Mount("/opt", "xfs", "/dev/sdb", ("rw", "noexec"))]
    [result] = ask("agent-install-dir")
    assert result.verdict == "fail"
    assert "cannot be executed: permission denied; /opt is mounted from /dev/sdb (xfs, noexec)" in result.message


def test_a_busy_probe_is_executed_again(host: RecordingHost, ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = [Completed((), 126, "", "[Errno 26] Text file busy")] * 3 + [Completed((), 0)] * 9
    monkeypatch.setattr(host, "run", lambda argv, timeout=0: answers.pop(0))
    assert ask("agent-install-dir")[0].verdict == "pass"


def test_a_file_in_the_way_of_a_directory_is_named(host: RecordingHost, ask: Ask) -> None:
    put(host, "/opt/unbounded")
    [result] = ask("agent-install-dir")
    assert "/opt/unbounded is not a directory" in result.message
    assert [path in result.target for path in ("bin", "lib/aks-flex-node", "libexec")] == [True] * 3


def test_a_dangling_link_in_the_way_is_named(host: RecordingHost, ask: Ask) -> None:
    Path(host.prefix, "opt/unbounded").symlink_to("/mnt/gone")
    [result] = ask("agent-install-dir")
    assert "/opt/unbounded is a link to /mnt/gone, which does not exist" in result.message


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.EROFS, "it is on a read-only file system; /var is mounted from /dev/sdc (ext4, ro)"),
        (errno.ENOSPC, "its file system is full"),
        (errno.EACCES, "permission denied"),
    ],
)
def test_a_directory_that_refuses_files_says_why(
    number: int, words: str, host: RecordingHost, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.open

    def refuse(path: str | Path, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        if "/var/" in str(path) and flags & os.O_CREAT:
            raise OSError(number, os.strerror(number), str(path))
        return real(path, flags, mode, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", refuse)
    host.mounted = [Mount("/", "ext4", "/dev/sda1", ("rw",)), Mount("/var", "ext4", "/dev/sdc", ("ro",))]
    text = " ".join(result.message for result in ask("host-os-configuration"))
    assert words in text
    assert "/var/lib/aks-flex-node (journal, staging and state)" in text
    assert "/etc" not in text


def test_the_configured_log_directory_is_tried_too(host: RecordingHost, question: Question, ask: Ask) -> None:
    put(host, "/srv")
    question.config.data["agent"]["logDir"] = "/srv/logs"  # type: ignore[union-attr]
    [result] = ask("host-os-configuration")
    assert (result.verdict, "/srv is not a directory" in result.message) == ("fail", True)


# --- disk-space ----------------------------------------------------------------------------------------------------
class TwoDisks(RecordingHost):
    """/opt is one disk, /var another; each with its own room."""

    free: dict[str, int]

    def stat(self, path: str) -> os.stat_result | None:
        found = super().stat(path)
        if found is None:
            return None
        fields = list(found)
        fields[2] = 7 if path.startswith("/var") else 5  # st_dev
        return os.stat_result(fields)

    def space(self, path: str) -> os.statvfs_result:
        self.room = self.free["/var" if path.startswith("/var") else "/opt"]
        return super().space(path)


MIB = 1 << 20


@pytest.mark.parametrize(
    ("target", "state", "verdicts"),
    [
        (94, 84, ["pass", "pass"]),  # three copies, two copies of 10 MiB, and 64 MiB each in reserve
        (93, 84, ["fail", "pass"]),
        (94, 83, ["pass", "fail"]),
    ],
)
def test_target_and_var_are_looked_at_apart(
    target: int, state: int, verdicts: list[str], host: RecordingHost, question: Question
) -> None:
    disks = TwoDisks(Path(host.prefix))
    disks.free = {"/opt": target * MIB, "/var": state * MIB}
    results = disk_space.run(replace(question, host=disks))
    assert [result.verdict for result in results] == verdicts
    assert [result.target for result in results] == ["/opt/unbounded/bin", "/var/lib/aks-flex-node"]


def test_on_one_file_system_the_needs_add_up(host: RecordingHost, ask: Ask) -> None:
    host.room = 113 * MIB
    [result] = ask("disk-space")
    assert (result.verdict, "only 113 MiB free" in result.message) == ("fail", True)
    assert "114 MiB needed" in result.message
    host.room += MIB
    assert ask("disk-space")[0].verdict == "pass"
