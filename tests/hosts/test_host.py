"""What a throwaway host promises: real systemd, exact results, an exact difference, a disk that outlives a cut."""

from __future__ import annotations

import hashlib
import sys
import threading
import time
from pathlib import Path

import pytest

from pyhelpers.sandbox import mounts
from pyhelpers.testhost import IGNORED, Host, HostError
from pyhelpers.tree import matcher

HERE = Path(__file__).resolve()
PROJECT = HERE.parents[2]


def test_systemd_reaches_running_with_nothing_failed(host: Host) -> None:
    assert host.state == "running"
    assert host.run(["systemctl", "--failed", "--no-legend", "--plain"]).stdout == ""
    assert host.run(["cat", "/proc/1/comm"]).stdout == "systemd\n"


def test_a_command_gives_its_exit_code_and_both_outputs_apart(host: Host) -> None:
    result = host.run(["sh", "-c", "echo out; echo err >&2; exit 3"])
    assert (result.code, result.stdout, result.stderr) == (3, "out\n", "err\n")
    assert not result.timed_out


def test_a_command_reads_all_of_a_long_stdin(host: Host) -> None:
    data = bytes(range(256)) * 4000
    assert host.run(["sha256sum"], stdin=data).stdout.split()[0] == hashlib.sha256(data).hexdigest()


def test_death_by_a_signal_and_a_missing_command_have_the_codes_of_a_shell(host: Host) -> None:
    assert host.run(["sh", "-c", "kill -TERM $$"]).code == 143
    assert host.run(["/no/such/command"]).code == 127
    assert host.run(["/etc/passwd"]).code == 126


def test_arguments_arrive_as_they_are(host: Host) -> None:
    hostile = ["$HOME", "${PATH}", "%n %%", "a b", "", "ü\n\t\\", "-x"]
    assert host.run(["printf", "[%s]", *hostile]).stdout == "".join(f"[{text}]" for text in hostile)


def test_the_environment_is_exactly_what_was_given(host: Host) -> None:
    result = host.run(["/usr/bin/env"], env={"A": "1 $X", "HOME": "/h"})
    assert sorted(line for line in result.stdout.splitlines() if not line.startswith("PWD=")) == ["A=1 $X", "HOME=/h"]


def test_a_command_that_takes_too_long_is_killed_with_its_children(host: Host) -> None:
    result = host.run(["sh", "-c", "echo started; sleep 4242 & sleep 4242"], timeout=1)
    assert (result.timed_out, result.code, result.stdout) == (True, 137, "started\n")
    assert result.seconds < 5
    assert host.run(["sh", "-c", "grep -lx 4242 /proc/[0-9]*/cmdline -z"]).stdout == ""


def test_what_a_command_leaves_running_goes_on(host: Host) -> None:
    pid = host.run(["sh", "-c", "setsid sleep 4343 >/dev/null 2>&1 & echo $!"]).stdout.strip()
    assert host.run(["kill", pid]).code == 0


def test_commands_run_at_the_same_time(host: Host) -> None:
    assert host.run(["mkfifo", "/run/both"]).code == 0
    reader: list[str] = []
    thread = threading.Thread(target=lambda: reader.append(host.run(["cat", "/run/both"]).stdout))
    thread.start()
    assert host.run(["sh", "-c", "echo met >/run/both"]).code == 0
    thread.join()
    assert reader == ["met\n"]


def test_neither_clock_nor_kernel_nor_disks_of_the_machine_can_be_reached(host: Host) -> None:
    before = time.time()
    assert host.run(["date", "-s", "2001-01-01"]).code != 0
    assert abs(time.time() - before) < 60
    assert host.run(["sh", "-c", "echo 1 >/proc/sys/kernel/panic"]).code != 0
    major, minor = _a_disk()
    reading = f"mknod /dev/disk b {major} {minor} && head -c 1 /dev/disk"
    assert "Operation not permitted" in host.run(["sh", "-c", reading]).stderr
    assert host.run(["sh", "-c", "grep ^CapEff /proc/self/status"]).stdout.split()[1] == _all_but(16, 17, 25)


def test_the_network_is_its_own_and_holds_only_loopback(host: Host) -> None:
    assert host.run(["ls", "/sys/class/net"]).stdout == "lo\n"
    assert host.run(["sh", "-c", "echo 1 >/proc/sys/net/ipv4/ip_forward"]).code == 0


def test_the_difference_is_what_was_done_and_nothing_else(fresh: Host) -> None:
    fresh.write("/opt/new/file", "text", 0o640)
    fresh.run(["sh", "-c", "rm /etc/issue; chmod 700 /srv; ln -s x /opt/link; cp /etc/group /etc/g; rm /etc/g"])
    assert [(change.path, change.kind) for change in fresh.diff()] == [
        ("/etc/issue", "removed"),
        ("/opt/link", "added"),
        ("/opt/new", "added"),
        ("/opt/new/file", "added"),
        ("/srv", "metadata"),
    ]


def test_a_mere_boot_changes_only_ignored_paths_and_each_of_them(fresh: Host) -> None:
    fresh.reboot()
    changed = [change.path for change in fresh.diff(all_paths=True)]
    assert [path for path in changed if not matcher(IGNORED)(path)] == []
    assert [pattern for pattern in IGNORED if not any(map(matcher([pattern]), changed))] == []
    assert len(IGNORED) <= 10
    assert fresh.diff() == []


def test_files_written_and_read_from_outside_obey_the_links_of_the_host(fresh: Host) -> None:
    fresh.run(["ln", "-s", "/run/target", "/opt/absolute"])
    fresh.write("/opt/absolute", b"\x00\xff", 0o600)
    assert fresh.read("/run/target") == b"\x00\xff"
    assert fresh.run(["stat", "-c", "%a %U", "/run/target"]).stdout == "600 root\n"
    with pytest.raises(FileNotFoundError):
        fresh.read("/opt/missing")


def test_a_reboot_keeps_the_disk_and_renews_the_rest(fresh: Host) -> None:
    boot_id = fresh.run(["cat", "/proc/sys/kernel/random/boot_id"]).stdout
    fresh.write("/opt/kept", "1")
    fresh.write("/run/lost", "1")
    fresh.reboot()
    assert fresh.state == "running"
    assert fresh.run(["cat", "/proc/sys/kernel/random/boot_id"]).stdout != boot_id
    assert fresh.read("/opt/kept") == b"1"
    with pytest.raises(FileNotFoundError):
        fresh.read("/run/lost")


def test_an_enabled_unit_is_started_by_the_next_boot(fresh: Host) -> None:
    unit = "[Service]\nType=oneshot\nExecStart=/bin/touch /opt/ran\n[Install]\nWantedBy=multi-user.target\n"
    fresh.write("/etc/systemd/system/mark.service", unit)
    assert fresh.run(["systemctl", "enable", "mark"]).code == 0
    fresh.reboot()
    assert fresh.read("/opt/ran") == b""


def test_a_power_cut_keeps_the_disk_and_lets_nothing_shut_down(fresh: Host) -> None:
    unit = "[Service]\nExecStart=/bin/sleep 9999\nExecStop=/bin/touch /opt/stopped\n"
    fresh.write("/etc/systemd/system/mark.service", unit)
    assert fresh.run(["systemctl", "start", "mark"]).code == 0
    fresh.power_cut()
    assert fresh.state == "running"
    assert fresh.read("/etc/systemd/system/mark.service") == unit.encode()
    with pytest.raises(FileNotFoundError):
        fresh.read("/opt/stopped")


def test_a_host_without_power_can_be_read_and_started_but_not_used(fresh: Host) -> None:
    fresh.write("/opt/kept", "1")
    fresh.power_cut(boot=False)
    assert fresh.state == "off"
    assert fresh.read("/opt/kept") == b"1"
    assert [change.path for change in fresh.diff()] == ["/opt/kept"]
    with pytest.raises(HostError, match="the host is off"):
        fresh.run(["true"])
    fresh.boot()
    assert fresh.state == "running"


def test_two_hosts_at_once_do_not_see_each_other() -> None:
    with Host.clone_of_this_machine() as one, Host.clone_of_this_machine() as two:
        one.write("/opt/one", "1")
        two.power_cut()
        assert one.run(["cat", "/opt/one"]).stdout == "1"
        assert [change.path for change in one.diff()] == ["/opt/one"]
        assert two.diff() == []
        ids = {host.run(["cat", "/etc/machine-id"]).stdout for host in (one, two)}
        assert len(ids) == 2


def test_several_hosts_start_at_the_same_time() -> None:
    hosts: list[Host] = []
    threads = [threading.Thread(target=lambda: hosts.append(Host.clone_of_this_machine())) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    try:
        assert [host.state for host in hosts] == ["running"] * 3
    finally:
        for host in hosts:
            host.down()


@pytest.mark.skipif(
    "overlay" in {mount.kind for mount in mounts.parse(Path("/proc/self/mountinfo").read_text()) if mount.point == "/"},
    reason="the kernel stacks two overlays at most, and the root is one already",
)
def test_a_host_can_be_made_on_a_machine_that_systemd_booted_with_pure_cgroup2() -> None:
    script = (
        f"import sys; sys.path.insert(0, {str(PROJECT)!r})\n"
        "from pyhelpers.testhost import Host\n"
        "with Host.clone_of_this_machine(size='64m') as host:\n"
        "    host.write('/opt/inner', ''); host.reboot()\n"
        "    print(host.state, [change.path for change in host.diff()])\n"
    )
    with Host.clone_of_this_machine(binds=[PROJECT]) as host:
        assert host.run(["stat", "-f", "-c", "%T", "/sys/fs/cgroup"]).stdout == "cgroup2fs\n"
        result = host.run([sys.executable, "-B", "-c", script])
        assert (result.code, result.stdout) == (0, "running ['/opt/inner']\n"), result.stderr
        assert host.diff() == []


def test_project_paths_are_there_read_only_at_their_target() -> None:
    with Host.clone_of_this_machine(binds=[(HERE.parent, "/opt/project"), HERE]) as host:
        assert host.read(f"/opt/project/{HERE.name}") == HERE.read_bytes()
        assert host.run(["touch", "/opt/project/x"]).code != 0
        assert host.diff() == []


def test_a_full_disk_is_the_commands_failure_and_the_host_lives_on() -> None:
    with Host.clone_of_this_machine(size="64m") as host:
        result = host.run(["sh", "-c", "head -c 100M /dev/zero >/opt/big"])
        assert (result.code, "No space left on device" in result.stderr) == (1, True)
        assert host.run(["rm", "/opt/big"]).code == 0
        assert host.state == "running"


def test_a_host_that_cannot_be_made_says_why() -> None:
    with pytest.raises(HostError, match=r"No space left|cannot be prepared"):
        Host.clone_of_this_machine(size="4k")
    with pytest.raises(HostError, match="not a host's name"):
        Host.clone_of_this_machine(name="../x")


def _a_disk() -> tuple[str, str]:
    major, minor, *_ = Path("/proc/partitions").read_text().splitlines()[2].split()
    return major, minor


def _all_but(*capabilities: int) -> str:
    last = int(Path("/proc/sys/kernel/cap_last_cap").read_text())
    own = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("CapBnd"))
    mask = int(own.split()[1], 16) & ((1 << (last + 1)) - 1)
    for capability in capabilities:
        mask &= ~(1 << capability)
    return f"{mask:016x}"
