"""The system calls that Python does not offer, one thin function each. Nothing here decides anything.

Sources: mount(2), the kernel's syscall tables (numbers from 424 on are the same on every architecture).
"""

from __future__ import annotations

import ctypes
import os
import struct

NEWNS, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET = 0x20000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_BIND = 1, 2, 4, 8, 4096
MS_REC, MS_PRIVATE = 16384, 1 << 18
MNT_DETACH = 2
AT_FDCWD, AT_RECURSIVE = -100, 0x8000
ATTR_RDONLY, ATTR_NOSUID, ATTR_NODEV, ATTR_NOEXEC = 1, 2, 4, 8
RESOLVE_NO_MAGICLINKS, RESOLVE_IN_ROOT = 2, 16

_SYS_OPEN_TREE, _SYS_MOVE_MOUNT, _SYS_FSOPEN, _SYS_FSCONFIG, _SYS_FSMOUNT = 428, 429, 430, 431, 432
_SYS_OPENAT2, _SYS_MOUNT_SETATTR = 437, 442
_SYS_KEYCTL = {"x86_64": 250, "aarch64": 219}
_OPEN_TREE_CLONE, _MOVE_MOUNT_F_EMPTY_PATH = 1, 4
_FSOPEN_CLOEXEC, _FSMOUNT_CLOEXEC, _SET_STRING, _CMD_CREATE = 1, 1, 1, 6
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_NAME = 1, 4, 15
_KEYCTL_JOIN_SESSION_KEYRING = 1

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long
_libc.mount.argtypes = (ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_ulong, ctypes.c_char_p)
_Argument = int | bytes | None


def _check(result: int, what: str) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), what)
    return result


def _syscall(what: str, number: int, *args: _Argument) -> int:
    plain = [ctypes.c_long(arg) if isinstance(arg, int) else arg for arg in args]
    return _check(_libc.syscall(ctypes.c_long(number), *plain), what)


def mount(source: str, target: str, kind: str, flags: int = 0, options: str = "") -> None:
    """mount(2). Raises OSError that names the target."""
    texts = [os.fsencode(text) or None for text in (source, target, kind, options)]
    _check(_libc.mount(texts[0], texts[1], texts[2], flags, texts[3]), f"mount {kind or source} on {target}")


def umount(target: str, flags: int) -> None:
    _check(_libc.umount2(os.fsencode(target), flags), f"umount {target}")


def pivot_root(new: str, old: str) -> None:
    _check(_libc.pivot_root(os.fsencode(new), os.fsencode(old)), f"pivot_root {new}")


def unshare(flags: int) -> None:
    _check(_libc.unshare(flags), f"unshare {flags:#x}")


def setns(fd: int, kind: int) -> None:
    _check(_libc.setns(fd, kind), f"setns {kind:#x}")


def new_tmpfs(size: str) -> int:
    """A tmpfs that is attached nowhere -> a descriptor of its mount; its memory lives as long as somebody holds it."""
    return new_mount("tmpfs", 0, size=size, mode="0700", source="sandbox")


def new_mount(kind: str, attributes: int = ATTR_NOSUID | ATTR_NODEV | ATTR_NOEXEC, **options: str) -> int:
    """A new file system KIND that is attached nowhere -> a descriptor of its mount, which has ATTRIBUTES."""
    context = _syscall(f"fsopen {kind}", _SYS_FSOPEN, os.fsencode(kind), _FSOPEN_CLOEXEC)
    try:
        for key, value in options.items():
            what = f"{kind} {key}={value}"
            _syscall(what, _SYS_FSCONFIG, context, _SET_STRING, os.fsencode(key), os.fsencode(value), 0)
        _syscall(f"create {kind}", _SYS_FSCONFIG, context, _CMD_CREATE, None, None, 0)
        return _syscall(f"fsmount {kind}", _SYS_FSMOUNT, context, _FSMOUNT_CLOEXEC, attributes)
    finally:
        os.close(context)


def clone_tree(path: str) -> int:
    """PATH's mount alone, without what is mounted below it -> a descriptor of a private copy of the mount."""
    return _syscall(f"open_tree {path}", _SYS_OPEN_TREE, AT_FDCWD, os.fsencode(path), _OPEN_TREE_CLONE | os.O_CLOEXEC)


def move_mount(fd: int, target: str) -> None:
    """Attach the mount FD at TARGET."""
    what = f"move_mount to {target}"
    _syscall(what, _SYS_MOVE_MOUNT, fd, b"", AT_FDCWD, os.fsencode(target), _MOVE_MOUNT_F_EMPTY_PATH)


def mount_setattr(target: str, attributes: int, recursive: bool = False) -> None:
    """Set ATTR_* flags on the mount at TARGET (and all below it)."""
    attr = struct.pack("QQQQ", attributes, 0, 0, 0)
    flags = AT_RECURSIVE if recursive else 0
    _syscall(f"mount_setattr {target}", _SYS_MOUNT_SETATTR, AT_FDCWD, os.fsencode(target), flags, attr, len(attr))


def open_inside(root_fd: int, path: str, flags: int, mode: int = 0) -> int:
    """openat2(2) of PATH as a process with ROOT_FD as its root would see it; magic links are refused."""
    how = struct.pack("QQQ", flags | os.O_CLOEXEC, mode, RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS)
    try:
        return _syscall(path, _SYS_OPENAT2, root_fd, os.fsencode(path), how, len(how))
    except OSError as error:  # named by its path alone, as open() does it
        raise OSError(error.errno, error.strerror, path) from None


def die_with_parent(signal_number: int) -> None:
    _check(_libc.prctl(_PR_SET_PDEATHSIG, signal_number, 0, 0, 0), "prctl PDEATHSIG")


def close_to_others() -> None:
    """Nobody without capabilities of the real root may look into this process by /proc or ptrace."""
    _check(_libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0), "prctl DUMPABLE")


def name_process(name: str) -> None:
    _check(_libc.prctl(_PR_SET_NAME, os.fsencode(name), 0, 0, 0), "prctl NAME")


def leave_session_keyring() -> None:
    """A fresh session keyring; kernels without keyrings have nothing to leave."""
    number = _SYS_KEYCTL.get(os.uname().machine)
    if number is None:
        return
    try:
        _syscall("keyctl", number, _KEYCTL_JOIN_SESSION_KEYRING, None)
    except OSError as error:
        import errno

        if error.errno != errno.ENOSYS:
            raise
