"""From inside a sandbox nothing outside can be changed; and the check that says so does notice a leak."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from pyhelpers.sandbox import Box, Server, outside

pytestmark = pytest.mark.needs("sandbox")

WATCHED = [
    *("/boot", "/etc", "/home", "/opt", "/srv", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/lib/systemd"),
    *("/usr/share/doc", "/var/lib/dpkg", "/var/lib/systemd", "/var/spool"),
]
# What a script may do within, and the outside must not see.
WORKS_INSIDE = [
    *(f"touch {place}/escaped" for place in ("", "/usr", "/usr/local", "/etc", "/opt", "/var", "/boot", "/root")),
    *(f"touch {place}/escaped" for place in ("/home", "/srv", "/run", "/tmp", "/dev", "/dev/shm")),
    "rm -r /usr/share/doc /boot /srv",
    "chown 33:33 /etc/passwd; chmod 600 /etc/passwd; chmod 644 /etc/passwd; chown 0:0 /etc/passwd",
    "mv /var/lib/systemd /var/lib/moved",
    "mount -t tmpfs none /opt && touch /opt/escaped",
    "mkdir /srv && mount --bind /etc /srv && touch /srv/escaped",
    "umount -l /sys",  # its own sysfs; the one beneath is as read-only
    "unshare -m sh -c 'mount -t tmpfs none /etc'",
    "unshare -Ur touch /etc/escaped-again",
    "hostname escaped",
    "swapoff -a",
    "ip link set lo down",
    "setsid sh -c 'while :; do touch /etc/daemon; done' &",
]
# What the kernel must refuse.
REFUSED = [
    "echo 1 >/proc/sys/kernel/panic",
    "sysctl -w kernel.panic=1",
    "mount -o remount,rw /proc/sys",
    "mount -o remount,rw,bind /proc/sys",
    "mount -o remount,rw /proc",
    "umount /proc/sys",
    "umount -l /proc/sys",
    "umount -l /proc",
    "echo b >/proc/sysrq-trigger",
    "mount -o remount,rw /sys",
    "mount -o remount,rw,bind /sys",
    "umount -l /sys; echo add >/sys/devices/virtual/mem/null/uevent",
    "umount -l /sys; mount -o remount,rw,bind /sys",
    "umount -l /run",
    "umount -l /tmp",
    "umount -l /dev",
    "umount -l /dev/null",
    "umount -l /",
    "mount -o remount,rw,bind /dev/null",
    "chmod 600 /dev/null",
    "mount -o remount,dev /",
    "mount -t proc none /mnt",
    "mount -t sysfs none /mnt",
    "mount -t cgroup2 none /mnt",
    "mount -t cgroup -o pids none /mnt",
    "mount -t devtmpfs none /mnt",
    "mount -t debugfs none /mnt",
    "unshare -C true",
    "unshare -UrC true",
    "mknod /opt/disk b 254 0",
    "mknod /tmp/null c 1 3",
    "date -s 2001-01-01",
    "dmesg -C",
    "python3 -c 'import ctypes, sys; sys.exit(ctypes.CDLL(None).reboot(0x1234567) != 0)'",
    "systemctl start escaped.service",
    "systemctl daemon-reload",
    "nsenter -t 1 -a true",
    "ls /proc/1/root/",
    "cat /proc/1/environ",
    "echo $$ >/sys/fs/cgroup/cgroup.procs",
    "mkdir /sys/fs/cgroup/escaped",
    "ulimit -Hc unlimited",
]


@pytest.fixture(scope="module", autouse=True)
def files_stay_as_they_were() -> Iterator[None]:
    """Checked after all tests of this file; `flexkit test` walks over the whole machine as well."""
    before = outside.Walk.take(roots=WATCHED)
    yield
    assert [line for line in before.changes_since() if line.startswith("files: ")] == []


@pytest.fixture
def box(server: Server) -> Iterator[Box]:
    with server.box() as made:
        yield made


@pytest.mark.parametrize("script", REFUSED)
def test_it_is_refused(box: Box, script: str) -> None:
    result = box.run(["bash", "-c", script])
    assert result.code not in (0, 127), result.stderr


def test_what_works_inside_stays_inside(box: Box) -> None:
    for script in WORKS_INSIDE:
        result = box.run(["bash", "-c", script])
        assert result.code == 0, (script, result.stderr)
    assert len(box.diff()) > 1000
    hostname = Path("/proc/sys/kernel/hostname").read_text()
    assert "escaped" not in hostname


REMOVALS = [
    "dpkg --no-triggers --purge --force-all",
    "apt-get -o Dpkg::Options::=--no-triggers remove -y --allow-remove-essential",
]


@pytest.mark.needs("dpkg", "apt-get")
@pytest.mark.parametrize("command", REMOVALS)
def test_a_package_removed_inside_is_still_there_outside(box: Box, command: str) -> None:
    result = box.run(["bash", "-c", f"{command} hostname && ! test -e /bin/hostname"])
    assert result.code == 0, result.stderr
    assert "/usr/bin/hostname" in [change.path for change in box.diff() if change.kind == "removed"]


def test_a_socket_of_the_outside_cannot_be_reached(box: Box) -> None:
    """Path sockets ignore the network namespace; abstract ones do not."""
    connect = "import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1].replace('@', '\\0'))"
    paths = [f"/run/escape-{os.getpid()}", f"/dev/shm/escape-{os.getpid()}", f"@escape-{os.getpid()}"]
    python = ["/usr/bin/python3", "-c", connect]
    for path in paths:
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(path.replace("@", "\0"))
            listening.listen()
            try:
                assert subprocess.run([*python, path], check=False).returncode == 0
                assert box.run([*python, path]).code == 1, path
            finally:
                Path(path).unlink(missing_ok=True)


def test_a_process_of_the_outside_cannot_be_seen_or_signalled(box: Box) -> None:
    with subprocess.Popen(["sleep", "1000"]) as sleeping:
        try:
            assert box.run(["pgrep", "-x", "sleep"]).code == 1
            assert box.run(["bash", "-c", f"kill -9 {sleeping.pid}; kill -9 -1; true"]).code in (0, 137)
            assert sleeping.poll() is None
        finally:
            sleeping.kill()


def test_shared_memory_and_queues_of_the_outside_are_not_seen(box: Box) -> None:
    made = subprocess.check_output(["ipcmk", "-Q"], text=True).split()[-1]
    try:
        assert made in subprocess.check_output(["ipcs", "-q"], text=True)
        assert box.run(["sh", "-c", f"ipcs -q | grep {made}"]).code == 1
    finally:
        subprocess.run(["ipcrm", "-q", made], check=True)


def test_a_crash_inside_dumps_no_core_through_a_program_outside(box: Box) -> None:
    limits = box.run(["cat", "/proc/self/limits"]).stdout
    assert next(line for line in limits.splitlines() if "core" in line).split()[4:6] == ["1", "1"]


LEAKS = {
    "a new file": ("touch {}/leak", "files: new: {}/leak"),
    "a changed file": ("echo more >>{}/old", "files: changed: {}/old"),
    "a file with its times put back": ("touch -d @1 {}/old", "files: changed: {}/old"),
    "a removed file": ("rm {}/old", "files: gone: {}/old"),
    "a daemon": ("setsid sleep 1000 >/dev/null 2>&1 & echo $!", "processes: new: "),
}


@pytest.mark.parametrize(("script", "expected"), LEAKS.values(), ids=LEAKS)
def test_a_planted_leak_is_reported(tmp_path: Path, script: str, expected: str) -> None:
    (tmp_path / "old").write_text("old")
    os.utime(tmp_path / "old", (1, 1))
    before = outside.Walk.take(skip=(), roots=[str(tmp_path)])
    said = subprocess.check_output(["sh", "-c", script.format(tmp_path)], text=True)
    try:
        assert any(line.startswith(expected.format(tmp_path)) for line in before.changes_since(skip=()))
    finally:
        if said:
            os.kill(int(said), 9)
            os.waitpid(int(said), 0)  # taking a fingerprint made this process its parent


@pytest.mark.needs("unshare", "ip")
@pytest.mark.parametrize(
    ("leak", "expected"),
    [
        ("mount -t tmpfs none /srv", "mounts: new: tmpfs on /srv"),
        ("umount /srv2", "mounts: gone: tmpfs on /srv2"),
        ("ip link add leak type veth peer name kael", "links: new: leak"),
    ],
)
def test_a_planted_mount_or_link_is_reported(leak: str, expected: str, tmp_path: Path) -> None:
    """In namespaces of its own, so that the leak does not leak."""
    place = tmp_path / "srv2"
    place.mkdir()
    code = (
        "import subprocess, sys; from pyhelpers.sandbox.outside import Fingerprint as F; before = F.take(); "
        "subprocess.run(sys.argv[1].split(), check=True); print(*before.changes_since(), sep='\\n')"
    )
    leak, expected = leak.replace("/srv2", str(place)), expected.replace("/srv2", str(place))
    script = f'mount -t tmpfs none {place} && mount -t sysfs none /sys && exec python3 -c "$1" "$2"'
    argv = ["unshare", "-m", "-n", "sh", "-ec", script, "sh", code, leak]
    said = subprocess.check_output(argv, text=True, cwd=Path(__file__).resolve().parents[3])
    assert any(line.startswith(expected) for line in said.splitlines()), said
