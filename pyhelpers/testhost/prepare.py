"""Turns the machine's own files into a host that boots quickly and quietly. Changes go into the prepared layer.

Whatever a first boot would make anyway (by tmpfiles and sysusers) is made here, so that a later difference holds
only what the tested program did.
"""

from __future__ import annotations

import os
import subprocess
import traceback
import uuid
from pathlib import Path

from pyhelpers.sandbox import kernel
from pyhelpers.testhost import units

JOURNALD = "etc/systemd/journald.conf.d/99-flexkit.conf"
OWN_TREES = ("/dev", "/proc", "/sys", "/run", "/tmp")  # made anew at each boot
TMPFILES_DONE = (0, 65, 73)  # its unit takes these two as success: a line it does not know, a file it cannot make


def prepare(root: Path, binds: list[tuple[str, bool]], resolv_conf: str = "") -> None:
    """Prepare ROOT; `binds`: targets (path in the host, whether it is a directory) that need a mount point.

    `resolv_conf`, when it is not empty, is what the host's /etc/resolv.conf holds.

    It happens in a child that has ROOT as its root: an absolute link there must never lead to the machine's files.
    """
    pid = os.fork()
    if pid == 0:
        try:
            _enter(root)
            _change(Path("/"), binds)
            if resolv_conf:
                Path("/etc/resolv.conf").unlink(missing_ok=True)
                Path("/etc/resolv.conf").write_text(resolv_conf)
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
    _, status = os.waitpid(pid, 0)
    if status != 0:
        raise RuntimeError("the host's file system cannot be prepared")


def _enter(root: Path) -> None:
    kernel.unshare(kernel.NEWNS)
    kernel.mount("proc", f"{root}/proc", "proc", kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC)
    kernel.mount("/dev", f"{root}/dev", "", kernel.MS_BIND)
    os.chroot(root)
    os.chdir("/")


def _change(root: Path, binds: list[tuple[str, bool]]) -> None:
    units.restrict(root)
    units.start_multi_user(root)
    _new_identity(root)
    journald = root / JOURNALD
    journald.parent.mkdir(parents=True, exist_ok=True)
    journald.write_text("# A throwaway host keeps its log in memory.\n[Journal]\nStorage=volatile\n")
    (root / "etc/.pwd.lock").touch(mode=0o600)
    (root / "var/lib/systemd/linger").mkdir(parents=True, exist_ok=True)  # StateDirectory= of systemd-logind
    _as_booted()
    for target, is_directory in binds:
        _mount_point(root / target.lstrip("/"), is_directory)


def _new_identity(root: Path) -> None:
    """A machine-id of its own, also where D-Bus keeps a copy."""
    machine_id = uuid.uuid4().hex + "\n"
    for name in ("etc/machine-id", "var/lib/dbus/machine-id"):
        path = root / name
        if name.startswith("etc/") or (path.is_file() and not path.is_symlink()):
            path.unlink(missing_ok=True)
            path.write_text(machine_id)
            path.chmod(0o444)


def _as_booted() -> None:
    """Do ahead what each boot does to /etc and /var."""
    excluded = [f"--exclude-prefix={tree}" for tree in OWN_TREES]
    subprocess.run(["systemd-sysusers"], check=True, capture_output=True)
    done = subprocess.run(
        ["systemd-tmpfiles", "--create", "--remove", "--boot", *excluded],
        check=False,
        capture_output=True,
    )
    if done.returncode not in TMPFILES_DONE:
        done.check_returncode()


def _mount_point(path: Path, is_directory: bool) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if is_directory:
        path.mkdir(exist_ok=True)
    else:
        path.touch()
