"""A clone starts what is allowed and nothing else, and preparing it never reaches outside."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pyhelpers.testhost import units

PROJECT = Path(__file__).resolve().parents[3]


def make(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x")


def files(root: Path) -> list[str]:
    return sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_symlink() or not path.is_dir())


@pytest.mark.parametrize(
    "unit", ["dbus.service", "systemd-journald.socket", "machines.target", "systemd-logind.service"]
)
def test_what_a_usable_system_needs_is_allowed(unit: str) -> None:
    assert units.is_allowed(unit)


@pytest.mark.parametrize(
    "unit", ["postgresql.service", "apt-daily.timer", "ssh.service", "kube.service", "docker.socket"]
)
def test_the_machines_services_are_not_allowed(unit: str) -> None:
    assert not units.is_allowed(unit)


def test_links_that_would_start_something_go_and_unit_files_stay(tmp_path: Path) -> None:
    make(
        tmp_path,
        "etc/systemd/system/db.service",
        "etc/systemd/system/multi-user.target.wants/db.service",
        "etc/systemd/system/multi-user.target.wants/machines.target",
        "etc/systemd/system/x.target.requires/db.service",
        "usr/lib/systemd/system/sockets.target.wants/dbus.socket",
        "usr/lib/systemd/system/sysinit.target.wants/db.service",
        "usr/lib/systemd/system-generators/cloud-init-generator",
        "usr/lib/systemd/system-generators/systemd-sysv-generator",
        "etc/rc3.d/S01db",
        "etc/init.d/db",
        "etc/cron.d/job",
        "etc/cron.daily/job",
        "var/spool/cron/crontabs/root",
    )
    units.restrict(tmp_path)
    assert files(tmp_path) == [
        "etc/init.d/db",
        "etc/systemd/system/db.service",
        "etc/systemd/system/multi-user.target.wants/machines.target",
        "usr/lib/systemd/system-generators/systemd-sysv-generator",
        "usr/lib/systemd/system/sockets.target.wants/dbus.socket",
    ]


def test_a_dangling_link_goes_too_and_a_directory_link_is_not_followed(tmp_path: Path) -> None:
    make(tmp_path, "usr/lib/systemd/system/a.target.wants/dbus.service")
    (tmp_path / "lib").symlink_to("usr/lib")
    wants = tmp_path / "etc/systemd/system/a.target.wants"
    wants.mkdir(parents=True)
    (wants / "gone.service").symlink_to("/nowhere")
    units.restrict(tmp_path)
    assert files(tmp_path) == ["lib", "usr/lib/systemd/system/a.target.wants/dbus.service"]


def test_fstab_and_crontab_are_emptied_not_removed(tmp_path: Path) -> None:
    make(tmp_path, "etc/fstab", "etc/crontab")
    units.restrict(tmp_path)
    assert [(tmp_path / name).read_text() for name in ("etc/fstab", "etc/crontab")] == ["", ""]


def test_the_default_target_is_multi_user_whatever_it_was(tmp_path: Path) -> None:
    target = tmp_path / "etc/systemd/system/default.target"
    units.start_multi_user(tmp_path)
    units.start_multi_user(tmp_path)
    assert str(target.readlink()) == "/usr/lib/systemd/system/multi-user.target"


PREPARE = """
import os, sys
from pathlib import Path
from pyhelpers.sandbox import kernel
from pyhelpers.testhost import overlay, prepare
kernel.unshare(kernel.NEWNS)
kernel.mount("", "/", "", kernel.MS_REC | kernel.MS_PRIVATE)
victim = sys.argv[1]
kernel.mount("store", "/run", "tmpfs", 0, "size=64m,mode=0755")
layers = overlay.Layers(os.open("/", os.O_PATH | os.O_DIRECTORY), [])
def change(root):
    for name in ("etc/fstab", "etc/crontab"):
        (root / name).unlink(missing_ok=True)
        (root / name).symlink_to(victim)
    prepare.prepare(root, [(victim + ".d/x", True)])
layers.make(change)
print(os.path.getsize("/run/layer0/prepared" + victim), os.path.isdir("/run/root" + victim + ".d/x"))
"""


def test_a_link_in_the_clone_that_names_a_file_of_the_machine_leads_to_the_clones_own(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    argv = [sys.executable, "-c", PREPARE, str(victim)]
    done = subprocess.run(argv, cwd=PROJECT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "0 True\n"), done.stderr
    assert victim.read_text() == "precious"
    assert not (tmp_path / "victim.d").exists()
