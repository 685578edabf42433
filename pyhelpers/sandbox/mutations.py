"""Counts the mutating system calls of a command and all its children, and stops the world before one of them.

A command inside a sandbox or host is started through `watched.py`; every call that can change a file waits for the
answer of the `Watch` outside: go on, fail with an errno, or (the crash) never, because the caller kills everything.
Killing before call N+1 leaves the same files as killing after call N, so one kind of point covers both.
"""

from __future__ import annotations

import errno
import fcntl
import os
import platform
import select
import socket
import struct
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

# name -> (x86_64, aarch64 or None where the call does not exist). Source: the kernel's syscall tables.
CALLS: dict[str, tuple[int, int | None]] = {
    "creat": (85, None), "mkdir": (83, None), "mkdirat": (258, 34), "rmdir": (84, None), "unlink": (87, None),
    "unlinkat": (263, 35), "rename": (82, None), "renameat": (264, 38), "renameat2": (316, 276), "link": (86, None),
    "linkat": (265, 37), "symlink": (88, None), "symlinkat": (266, 36), "mknod": (133, None), "mknodat": (259, 33),
    "chmod": (90, None), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452), "chown": (92, None),
    "lchown": (94, None), "fchown": (93, 55), "fchownat": (260, 54), "truncate": (76, 45), "ftruncate": (77, 46),
    "fallocate": (285, 47), "setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7),
    "removexattr": (197, 14), "lremovexattr": (198, 15), "fremovexattr": (199, 16), "utimensat": (280, 88),
    "write": (1, 64), "pwrite64": (18, 68), "writev": (20, 66), "sendfile": (40, 71), "copy_file_range": (326, 285),
    "mount": (165, 40), "umount2": (166, 39),
}  # fmt: skip
OPENS: dict[str, tuple[int, int | None]] = {"open": (2, None), "openat": (257, 56)}
SYNCS: dict[str, tuple[int, int | None]] = {
    "fsync": (74, 82),
    "fdatasync": (75, 83),
    "sync": (162, 81),
    "syncfs": (306, 267),
}
PATH_ARGUMENT = {"open": 0, "openat": 1}  # the flags are in the argument after it
ON_DESCRIPTOR = {"write": 0, "pwrite64": 0, "writev": 0, "sendfile": 0, "copy_file_range": 2}  # which argument
# Which argument names what a call changes (the new name where there are two): a descriptor, or a path; a path after a
# descriptor starts there.
SUBJECT_FD = ON_DESCRIPTOR | dict.fromkeys(
    ("fchmod", "fchown", "ftruncate", "fallocate", "fsetxattr", "fremovexattr", "fsync", "fdatasync"), 0
)
AFTER_FD = ("openat", "mkdirat", "unlinkat", "mknodat", "fchmodat", "fchmodat2", "fchownat", "utimensat")
SUBJECT_PATH = dict.fromkeys(AFTER_FD, 1) | {"renameat": 3, "renameat2": 3, "linkat": 3, "symlinkat": 2}
SECOND_PATH = ("rename", "link", "symlink")
NOTIF_RECV, NOTIF_SEND = 0xC0502100, 0xC0182101
CONTINUE = 1
AT_FDCWD = 0xFFFFFF9C  # -100, as the lower half of an argument
WATCHED = Path(__file__).with_name("watched.py")


@dataclass(frozen=True)
class Call:
    """One mutating call about to happen: its number in this run (from 1), its name, the caller's pid outside, and what
    it changes."""

    number: int
    name: str
    pid: int
    path: str = ""


Decision = Callable[[Call], int]  # 0: go on, an errno: fail with it, STOP: answer nothing any more
STOP = -1


def _column() -> int:
    return {"x86_64": 0, "aarch64": 1}[platform.machine()]


def _numbers(table: dict[str, tuple[int, int | None]]) -> dict[int, str]:
    pairs = ((numbers[_column()], name) for name, numbers in table.items())
    return {number: name for number, name in pairs if number is not None}


class Watch:
    """Listens on a unix socket at PATH (seen inside as INSIDE) for one watched command at a time.

    `decide` is called for each mutating call; when it answers STOP the caller of `argv`'s command must kill it.
    `stopped` is set then. After the command's end `count` is the number of calls seen, `log` the calls themselves.
    syncs: calls that make changes durable are seen too.
    """

    def __init__(self, path: str, inside: str, decide: Decision, syncs: bool = False) -> None:
        self.inside, self.decide, self.count, self.log = inside, decide, 0, list[Call]()
        self.stopped = threading.Event()
        self._calls = CALLS | (SYNCS if syncs else {})
        self._names = _numbers(self._calls) | _numbers(OPENS)
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._path = Path(path)
        self._socket.bind(path)
        self._socket.listen(1)
        self._end_r, self._end_w = os.pipe()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def argv(self, command: list[str], python: str = "/usr/bin/python3") -> list[str]:
        """The command line that runs COMMAND watched."""
        numbers = ",".join(map(str, _numbers(self._calls)))
        opens = ",".join(f"{number}:{PATH_ARGUMENT[name] + 1}" for number, name in _numbers(OPENS).items())
        return [python, "-I", "-S", "-c", WATCHED.read_text(), self.inside, numbers, opens, "--", *command]

    def __enter__(self) -> Watch:
        return self

    def __exit__(self, *exc: object) -> None:
        os.write(self._end_w, b"x")
        self._thread.join()
        self._socket.close()
        os.close(self._end_r)
        os.close(self._end_w)

    def _serve(self) -> None:
        if not self._wait(self._socket.fileno()):
            self._path.unlink(missing_ok=True)
            return
        link, _ = self._socket.accept()
        self._path.unlink()  # nobody else connects, and a test that compares trees must not see it
        with link:
            _, fds, _, _ = socket.recv_fds(link, 1, 1)
        if not fds:
            return  # the filter could not be installed; the command's stderr says why
        try:
            while self._wait(fds[0]) and not self.stopped.is_set():
                self._one(fds[0])
        finally:
            os.close(fds[0])

    def _wait(self, fd: int) -> bool:
        """Whether FD has something to read before the watch is closed or (listener) its last process is gone."""
        poll = select.poll()
        poll.register(fd, select.POLLIN)
        poll.register(self._end_r, select.POLLIN)
        events = dict(poll.poll())
        return bool(events.get(fd, 0) & select.POLLIN) and self._end_r not in events

    def _one(self, fd: int) -> None:
        buffer = bytearray(80)
        try:
            fcntl.ioctl(fd, NOTIF_RECV, buffer)
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.EINTR):  # the caller was killed meanwhile
                return
            raise
        ident, pid, _, nr, _, _, *args = struct.unpack("=QIIiIQ6Q", buffer)
        verdict = self._judge(self._names[nr], pid, args)
        if verdict == STOP:
            self.stopped.set()
            return
        reply = struct.pack("=QqiI", ident, 0, -verdict, 0 if verdict else CONTINUE)
        try:
            fcntl.ioctl(fd, NOTIF_SEND, bytearray(reply))
        except OSError as error:
            if error.errno != errno.ENOENT:
                raise

    def _judge(self, name: str, pid: int, args: list[int]) -> int:
        if name in ON_DESCRIPTOR and not _is_file(pid, args[ON_DESCRIPTOR[name]]):
            return 0
        path = _subject(name, pid, args)
        if name in PATH_ARGUMENT and path.startswith("/dev/"):
            return 0
        self.count += 1
        call = Call(self.count, name, pid, path)
        self.log.append(call)
        return self.decide(call)


def _subject(name: str, pid: int, args: list[int]) -> str:
    """The path of what a call changes, as the caller sees it; empty when there is none, or the caller is gone."""
    if name in ("sync", "syncfs"):
        return ""
    if name in SUBJECT_FD:
        return _link(pid, f"fd/{args[SUBJECT_FD[name]] & 0xFFFFFFFF}")
    at = SUBJECT_PATH.get(name)
    path = _text(pid, args[at if at is not None else int(name in SECOND_PATH)])
    if path.startswith("/"):
        return path
    directory = AT_FDCWD if at is None else args[at - 1] & 0xFFFFFFFF
    base = _link(pid, "cwd" if directory == AT_FDCWD else f"fd/{directory}")
    return f"{base.rstrip('/')}/{path}"


def _link(pid: int, name: str) -> str:
    """Where a link of a process in /proc leads; empty when it is gone."""
    try:
        return os.readlink(f"/proc/{pid}/{name}")  # noqa: PTH115 - hundreds in a run
    except OSError:
        return ""


def _is_file(pid: int, fd: int) -> bool:
    """Whether the descriptor is a regular file: writing to a pipe or terminal changes nothing on a host."""
    target = _link(pid, f"fd/{fd & 0xFFFFFFFF}")
    return target.startswith("/") and not target.startswith("/dev/")


def _text(pid: int, address: int) -> str:
    """The C string at ADDRESS of the process, at most 255 bytes of it; empty when it is gone."""
    try:
        with Path(f"/proc/{pid}/mem").open("rb", buffering=0) as memory:
            memory.seek(address)
            return memory.read(255).split(b"\0")[0].decode(errors="replace")
    except OSError:
        return ""


def evenly(total: int, points: int) -> list[int]:
    """POINTS call numbers spread evenly over 1..TOTAL (all of them when there are fewer)."""
    if total <= points:
        return list(range(1, total + 1))
    return [1 + round(index * (total - 1) / (points - 1)) for index in range(points)]


def go_on(call: Call) -> int:
    """The decision that lets every call happen."""
    return 0


def stop_before(number: int) -> Decision:
    """A decision that goes on until call NUMBER is about to happen."""
    return lambda call: STOP if call.number >= number else 0


if sys.byteorder != "little":
    raise ImportError("the seccomp structures are laid out for little-endian machines")
