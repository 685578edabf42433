"""Builds a sandbox around the calling process, which is pid 1 of a new pid namespace and forked from a single thread.

The order matters. As real root: private copy of the mounts, all read-only; the store; overlays of the root and of
each further file system; /dev, /proc, /sys, /run, /tmp anew; project binds; pivot, and the old root is gone. Then
the user namespace (every id is itself, so chown works, but no capability counts outside) and one more mount
namespace, which locks all that was mounted before. A list of overlaid directories instead would fail open: what is
not listed is the real thing. Nothing here may import more than the fork server holds already.
"""

from __future__ import annotations

import fcntl
import os
import resource
import socket
import stat
import struct
from typing import NamedTuple

from pyhelpers.sandbox import kernel as k
from pyhelpers.sandbox import mounts
from pyhelpers.sandbox.spec import DEVICES, MADE, MADE_MODES, Spec, store_name

STAGE = "/sys"  # where the store is put while building: it exists, and no real file system is mounted below it
ROOT = STAGE + "/new"
OVERLAY = "index=off,metacopy=off,redirect_dir=on,xino=off,volatile"
QUIET = k.MS_NOSUID | k.MS_NODEV | k.MS_NOEXEC
DEVICE_LINKS = {
    "fd": "/proc/self/fd",
    "stdin": "/proc/self/fd/0",
    "stdout": "/proc/self/fd/1",
    "stderr": "/proc/self/fd/2",
    "ptmx": "pts/ptmx",
}
# The identity map makes uid 0 the owner of these; without a capability that alone would let it write.
PROC_READ_ONLY = ("sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "scsi", "mtrr", "dynamic_debug", "latency_stats")


class Built(NamedTuple):
    """How the sandbox looks from outside: the overlaid mount points, and directories made for bind mounts."""

    layers: list[str]
    made: list[str]


def build(spec: Spec, store: int, userns: int) -> Built:
    """Enter a new sandbox. Raises OSError when it cannot be made; the process must then exit."""
    k.unshare(k.NEWNS)
    k.mount("", "/", "", k.MS_REC | k.MS_PRIVATE)
    plans = mounts.plan(mounts.parse(_read("/proc/self/mountinfo")))
    k.mount_setattr("/", k.ATTR_RDONLY, recursive=True)
    k.move_mount(store, STAGE)
    layers = _overlays(plans)
    _store_directories()
    made = _binds(spec)
    _proc(ROOT)
    k.mount("sysfs", ROOT + "/sys", "sysfs", k.MS_RDONLY | QUIET)
    _devices()
    _leave_old_root()
    k.setns(userns, k.NEWUSER)
    k.unshare(k.NEWNS | k.NEWUTS | k.NEWIPC | k.NEWNET)
    _loopback_up()
    # A sysfs shows the network namespace that it was mounted in; the kernel keeps it read-only like the one below.
    k.mount("sysfs", "/sys", "sysfs", k.MS_RDONLY | QUIET)
    _limit_process()
    return Built(layers, made)


def rejoin(mntns: int, netns: int, userns: int) -> None:
    """Enter a copy of the mounts of a sandbox whose processes are gone, with a /proc for the new pid namespace."""
    k.setns(mntns, k.NEWNS)
    k.unshare(k.NEWNS)  # while still real root, so that the next unshare locks what is mounted now
    k.mount("", "/", "", k.MS_REC | k.MS_PRIVATE)
    _proc("")
    k.setns(userns, k.NEWUSER)
    k.setns(netns, k.NEWNET)
    k.unshare(k.NEWNS | k.NEWUTS | k.NEWIPC)
    _limit_process()


def _read(path: str) -> str:
    with open(path, errors="surrogateescape") as file:  # noqa: PTH123 - pathlib is not worth its import here
        return file.read()


def _mkdir(path: str, mode: int) -> None:
    """Make a directory with exactly this mode."""
    os.mkdir(path)  # noqa: PTH102
    os.chmod(path, mode)  # noqa: PTH101


def _overlays(plans: list[mounts.Plan]) -> list[str]:
    """Mount an overlay of `/` and each further file system -> their mount points."""
    _mkdir(ROOT, 0o755)
    _overlay("/", 0)
    layers = ["/"]
    for plan in plans:
        if not os.path.isdir(plan.point):  # noqa: PTH112
            continue  # a file mounted over a file: the one beneath shows
        if plan.overlay and _try_overlay(plan):
            layers.append(plan.point)
        else:
            k.mount("sandbox", ROOT + plan.point, "tmpfs", k.MS_RDONLY | QUIET, "size=4k,mode=0555")
    return layers


def _try_overlay(plan: mounts.Plan) -> bool:
    try:
        _overlay(plan.point, k.MS_RDONLY if plan.read_only else 0)
    except OSError:  # the kernel refuses it as a lower layer (depth, case folding): masked then
        return False
    return True


def _overlay(point: str, flags: int) -> None:
    name = f"{STAGE}/{store_name(point)}"
    below = os.stat(point)  # noqa: PTH116
    _mkdir(f"{name}.up", stat.S_IMODE(below.st_mode))
    os.chown(f"{name}.up", below.st_uid, below.st_gid)
    _mkdir(f"{name}.work", 0o700)
    os.chdir(point)  # `lowerdir=.` needs no escapes
    options = f"lowerdir=.,upperdir={name}.up,workdir={name}.work,{OVERLAY}"
    k.mount("sandbox", ROOT + point, "overlay", k.MS_NODEV | flags, options)


def _store_directories() -> None:
    """/run and /tmp from the store, so that its size is the limit for all that is written."""
    for point in MADE:
        name = f"{STAGE}/{store_name(point)}"
        _mkdir(f"{name}.base", MADE_MODES[point])
        _mkdir(f"{name}.up", MADE_MODES[point])
    for kind in ("base", "up"):
        _mkdir(f"{STAGE}/run.{kind}/lock", 0o1777)
    for point in ("/run", "/tmp"):
        _bind(f"{STAGE}/{store_name(point)}.up", ROOT + point, k.ATTR_NOSUID | k.ATTR_NODEV)


def _bind(source: str, target: str, attributes: int) -> None:
    k.mount(source, target, "", k.MS_BIND)
    k.mount_setattr(target, attributes)


def _binds(spec: Spec) -> list[str]:
    """The project's paths, read-only as the whole old tree -> what had to be made to mount them on."""
    made: list[str] = []
    for source, target in spec.binds:
        place = ROOT + os.path.realpath(target)
        if os.path.isdir(source):  # noqa: PTH112
            _make_directories(place, made)
        elif not os.path.exists(place):  # noqa: PTH110
            _make_directories(os.path.dirname(place), made)  # noqa: PTH120
            os.close(os.open(place, os.O_CREAT | os.O_WRONLY, 0o644))
            made.append(place)
        _bind(source, place, k.ATTR_RDONLY | k.ATTR_NODEV)
    return [path[len(ROOT) :] for path in made]


def _make_directories(place: str, made: list[str]) -> None:
    if os.path.isdir(place):  # noqa: PTH112
        return
    _make_directories(os.path.dirname(place), made)  # noqa: PTH120
    _mkdir(place, 0o755)
    made.append(place)


def _proc(root: str) -> None:
    k.mount("proc", root + "/proc", "proc", QUIET)
    for name in PROC_READ_ONLY:
        path = f"{root}/proc/{name}"
        if os.path.exists(path):  # noqa: PTH110
            _bind(path, path, k.ATTR_RDONLY | k.ATTR_NOSUID | k.ATTR_NODEV | k.ATTR_NOEXEC)


def _devices() -> None:
    dev = ROOT + "/dev"
    k.mount("sandbox", dev, "tmpfs", k.MS_NOSUID | k.MS_NOEXEC, "mode=0755,size=64k")
    for name in DEVICES:
        os.close(os.open(f"{dev}/{name}", os.O_CREAT | os.O_WRONLY, 0o666))
        k.mount(f"/dev/{name}", f"{dev}/{name}", "", k.MS_BIND)
    for name, target in DEVICE_LINKS.items():
        os.symlink(target, f"{dev}/{name}")  # noqa: PTH211
    for name in ("shm", "pts"):
        os.mkdir(f"{dev}/{name}")  # noqa: PTH102
    _bind(f"{STAGE}/{store_name('/dev/shm')}.up", dev + "/shm", k.ATTR_NOSUID | k.ATTR_NODEV)
    k.mount("devpts", dev + "/pts", "devpts", k.MS_NOSUID | k.MS_NOEXEC, "newinstance,ptmxmode=0666,mode=620,gid=5")


def _leave_old_root() -> None:
    """pivot_root(".", ".") puts the old root on top of the new one; detaching it leaves nothing underneath."""
    os.chdir(ROOT)
    k.pivot_root(".", ".")
    k.umount(".", k.MNT_DETACH)
    os.chdir("/")


def _limit_process() -> None:
    k.leave_session_keyring()
    # 1, not 0: a core pattern that is a pipe runs its program outside, and only a limit of 1 prevents that.
    resource.setrlimit(resource.RLIMIT_CORE, (1, 1))


def _loopback_up() -> None:
    get_flags, set_flags, up = 0x8913, 0x8914, 1  # SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP: netdevice(7)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        request = bytearray(struct.pack("16sH22x", b"lo", 0))
        fcntl.ioctl(probe, get_flags, request)
        struct.pack_into("H", request, 16, struct.unpack_from("H", request, 16)[0] | up)
        fcntl.ioctl(probe, set_flags, request)
