"""Sandboxes over machines that are laid out in other ways, each in a mount namespace of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pyhelpers.sandbox import mounts

pytestmark = pytest.mark.needs("sandbox", "unshare")

PROJECT = Path(__file__).resolve().parents[3]


def run_on(layout: str, code: str) -> str:
    """What CODE prints in Python on a machine that the shell commands LAYOUT have changed."""
    prelude = "from pyhelpers.sandbox import Server\nserver = Server(jobs=1)\n"
    argv = [sys.executable, "-B", "-c", prelude + code]
    run = subprocess.run(
        ["unshare", "-m", "sh", "-ec", f'{layout}\nexec "$@"', "sh", *argv],
        cwd=PROJECT,
        check=False,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_a_further_file_system_is_overlaid_too() -> None:
    said = run_on(
        "mount -t tmpfs -o mode=750 none /srv; echo outside >/srv/file; mkdir /srv/deep; mount -t tmpfs none /srv/deep",
        "result = server.run(['sh', '-ec', 'echo more >>/srv/file; touch /srv/deep/new; stat -c %a /srv'])\n"
        "print(result.stdout, *result.diff(), result.read('/srv/file'), open('/srv/file').read(), sep='|')",
    )
    assert said == (
        "750\n|added    /srv/deep/new (file 0644 0:0)|modified /srv/file (content)|b'outside\\nmore\\n'|outside\n\n"
    )


def test_a_file_system_that_is_read_only_stays_so() -> None:
    said = run_on(
        "mount -t tmpfs none /srv; touch /srv/file; mount -o remount,ro /srv",
        "result = server.run(['sh', '-c', 'ls /srv; touch /srv/new; mount -o remount,rw /srv; touch /srv/new'])\n"
        "print(result.stdout, result.stderr, result.diff(ignore=['/run/**']))",
    )
    assert said.startswith("file\n")
    assert said.count("Read-only file system") == 2
    assert said.endswith(" []\n")


def test_a_file_system_that_cannot_be_overlaid_is_masked() -> None:
    said = run_on(
        "mount -t mqueue none /srv; touch /srv/queue; mount -t tmpfs none /opt; mount -t tmpfs none '/opt/'",
        "result = server.run(['sh', '-c', 'ls -A /srv; touch /srv/new'])\nprint(result.stdout, result.stderr)",
    )
    assert "Read-only file system" in said
    assert "queue" not in said


def test_mount_points_with_odd_names_are_overlaid() -> None:
    said = run_on(
        "mount -t tmpfs none /srv; for n in 'a b' 'c,d:e' 'f\\g'; do mkdir \"/srv/$n\"; "
        'mount -t tmpfs none "/srv/$n"; done',
        "result = server.run(['sh', '-ec', 'for n in /srv/*; do touch \"$n/new\"; done'])\n"
        "print(result.code, result.stderr, *(change.path for change in result.diff()), sep='|')",
    )
    assert said == "0||/srv/a b/new|/srv/c,d:e/new|/srv/f\\g/new\n"


def test_a_file_mounted_over_a_file_shows_the_one_beneath() -> None:
    said = run_on(
        "mount -t tmpfs none /srv; echo above >/srv/above; echo beneath >/srv/file; mount --bind /srv/above /srv/file",
        "result = server.run(['cat', '/srv/file'])\nprint(result.stdout, result.diff())",
    )
    assert said == "beneath\n []\n"


def test_a_mount_made_after_a_sandbox_was_built_ahead_is_overlaid() -> None:
    said = run_on(
        "",
        "import subprocess\nserver.run(['true'])\n"
        "subprocess.run(['mount', '-t', 'tmpfs', 'none', '/srv'], check=True)\nopen('/srv/late', 'w').close()\n"
        "result = server.run(['sh', '-c', 'ls /srv; touch /srv/new'])\n"
        "import os; print(result.stdout, os.listdir('/srv'))",
    )
    assert said == "late\n ['late']\n"


def test_the_root_may_be_a_plain_directory_that_was_pivoted_into() -> None:
    said = run_on(
        "mount --make-rprivate /; mount --bind / /mnt; mount --rbind /dev /mnt/dev; mount --rbind /sys /mnt/sys; "
        "mount -t proc none /mnt/proc; cd /mnt; pivot_root . mnt; umount -l /mnt; cd /; cd " + str(PROJECT),
        "result = server.run(['sh', '-c', 'touch /usr/new; id -u'])\nprint(result.stdout, *result.diff())",
    )
    assert said == "0\n added    /usr/new (file 0644 0:0)\n"


def test_a_root_that_is_an_overlay_itself_can_be_overlaid_once_more(tmp_path: Path) -> None:
    said = run_on(
        f"mount -t tmpfs none {tmp_path}; cd {tmp_path}; mkdir u w r; "
        "mount -t overlay none -o lowerdir=/,upperdir=u,workdir=w r; mount --rbind /dev r/dev; "
        f"mount --rbind /sys r/sys; mount -t proc none r/proc; cd r; pivot_root . mnt; umount -l /mnt; cd {PROJECT}",
        "result = server.run(['sh', '-c', 'touch /usr/new; rm -r /etc/default'])\n"
        "print(result.code, *sorted({change.kind for change in result.diff()}))",
    )
    assert said == "0 added removed\n"


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ("1 0 8:1 / / rw - ext4 /dev/sda1 rw", []),
        ("2 1 8:2 / /boot rw - ext4 /dev/sda2 rw", [mounts.Plan("/boot", True, False)]),
        ("2 1 8:2 / /boot ro - xfs /dev/sda2 ro", [mounts.Plan("/boot", True, True)]),
        ("2 1 8:2 / /boot/efi rw shared:1 - vfat /dev/sda2 rw", [mounts.Plan("/boot/efi", False, False)]),
        ("2 1 0:2 / /home rw - nfs4 server:/home rw", [mounts.Plan("/home", False, False)]),
        ("2 1 0:2 / /dev/shm rw - tmpfs none rw\n3 1 0:3 / /run/user/0 rw - tmpfs none rw", []),
        ("2 1 0:2 / /data\\040x rw - tmpfs none rw", [mounts.Plan("/data x", True, False)]),
        (
            "2 1 0:2 / /srv/a rw - tmpfs none rw\n3 1 0:3 / /srv rw - nfs x rw",
            [mounts.Plan("/srv", False, False)],
        ),
        (
            "3 1 0:3 / /srv rw - ext4 x rw\n2 3 0:2 / /srv/a rw - tmpfs none rw\n4 1 0:4 / /srvx rw - ext4 x rw",
            [mounts.Plan(point, True, False) for point in ("/srv", "/srv/a", "/srvx")],
        ),
    ],
)
def test_each_mount_is_overlaid_masked_or_made_anew(table: str, expected: list[mounts.Plan]) -> None:
    assert mounts.plan(mounts.parse(table)) == expected
