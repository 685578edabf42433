"""The process that forks sandboxes: small and with a single thread, so that a fork is cheap and sound.

`python -I -S` or a fork of a small caller runs `main()`; the caller's process talks to it over one SEQPACKET socket,
one request at a time. When the caller is gone the socket ends, this process exits, and every sandbox dies with it
(PDEATHSIG). For a spec that was asked for once it keeps sandboxes built ahead; they are thrown away when the mounts
outside change.
"""

from __future__ import annotations

import contextlib
import gc
import os
import select
import signal
import socket
from typing import NamedTuple, NoReturn

from pyhelpers.sandbox import init, jail, selfcheck, wire
from pyhelpers.sandbox import kernel as k
from pyhelpers.sandbox.spec import Spec, load

IDENTITY = "0 0 4294967295\n"
SPECS_KEPT = 4
FAILED = 125


class Child(NamedTuple):
    """A sandbox that is being built or was built: its pid, our end of its control socket, its store (or -1)."""

    pid: int
    control: socket.socket
    store: int

    def close(self) -> None:
        """Let it go: it dies of the end of its control socket."""
        self.control.close()
        if self.store >= 0:
            os.close(self.store)


def identity_userns() -> int:
    """A user namespace in which every id is itself -> its descriptor. No capability there counts outside."""
    ours, its = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        ours.close()
        _become_userns(its)
    its.close()
    try:
        if ours.recv(1) != b"n":
            raise OSError("unshare(CLONE_NEWUSER) failed")
        for name in ("uid_map", "gid_map"):
            with open(f"/proc/{pid}/{name}", "w") as file:  # noqa: PTH123 - no pathlib here
                file.write(IDENTITY)
        ours.send(b"m")
        if ours.recv(1) != b"l":
            raise OSError("the user namespace's limits could not be set")
        return os.open(f"/proc/{pid}/ns/user", os.O_RDONLY | os.O_CLOEXEC)
    finally:
        ours.close()
        os.waitpid(pid, 0)


def _become_userns(link: socket.socket) -> NoReturn:
    try:
        k.unshare(k.NEWUSER)
        link.send(b"n")
        link.recv(1)
        # A cgroup namespace of its own would let root inside mount the real cgroup tree, where uid 0 may write.
        with open("/proc/sys/user/max_cgroup_namespaces", "w") as file:  # noqa: PTH123
            file.write("0")
        link.send(b"l")
        link.recv(1)
    finally:
        os._exit(0)


class ForkServer:
    """The loop: take a request, answer with a finished sandbox, build the next one while the caller works."""

    def __init__(self, request: socket.socket, ahead: int) -> None:
        self._request, self._ahead = request, ahead
        self._userns = identity_userns()
        self._own_pid_ns = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
        self._outer_userns = os.readlink("/proc/self/ns/user")  # noqa: PTH115
        self._pool: dict[str, list[Child]] = {}
        self._mounts = os.open("/proc/self/mountinfo", os.O_RDONLY | os.O_CLOEXEC)
        self._mounts_changed = select.poll()
        self._mounts_changed.register(self._mounts, select.POLLPRI | select.POLLERR)

    def loop(self) -> None:
        """Serve until the caller closes its end."""
        while True:
            request, fds = wire.receive(self._request)
            if request is None:
                return
            if self._mounts_changed.poll(0):
                self._forget_all()
            if self._answer(request["spec"], fds) and not fds:
                self._build_ahead(request["spec"])

    def _answer(self, text: str, fds: list[int]) -> bool:
        """FDS: mount and network namespace of a sandbox to rejoin; none: a new one is wanted."""
        try:
            if fds:
                child = self._fork(load(text), -1, fds)
            else:
                waiting = self._pool.get(text)
                child = waiting.pop(0) if waiting else self._new(text)
            reply, its = wire.receive(child.control)
        except OSError as error:
            wire.send(self._request, {"error": str(error)})
            return False
        if reply is None or "error" in reply:
            wire.send(self._request, reply or {"error": "it died while it was built"})
            child.close()
            return False
        pidfd = os.pidfd_open(child.pid)
        out = [child.control.fileno(), pidfd, *its, *([] if fds else [child.store])]
        wire.send(self._request, reply, out)
        for fd in (pidfd, *its, *fds):
            os.close(fd)
        child.close()
        return True

    def _build_ahead(self, text: str) -> None:
        waiting = self._pool.setdefault(text, [])
        with contextlib.suppress(OSError):  # what hinders it will be told to the next who asks
            while len(waiting) < self._ahead:
                waiting.append(self._new(text))
        while len(self._pool) > SPECS_KEPT:
            self._forget(next(iter(self._pool)))

    def _forget_all(self) -> None:
        for text in list(self._pool):
            self._forget(text)
        os.lseek(self._mounts, 0, os.SEEK_SET)
        while os.read(self._mounts, 65536):
            pass

    def _forget(self, text: str) -> None:
        for child in self._pool.pop(text):
            child.close()

    def _new(self, text: str) -> Child:
        spec = load(text)
        return self._fork(spec, k.new_tmpfs(spec.size), [])

    def _fork(self, spec: Spec, store: int, rejoin: list[int]) -> Child:
        """Fork pid 1 of a new pid namespace; it builds the sandbox around itself."""
        ours, its = wire.pair()
        k.unshare(k.NEWPID)  # for children; one namespace for each needs the way back below
        try:
            pid = os.fork()
            if pid == 0:
                self._become_init(its, spec, store, rejoin)
        finally:
            k.setns(self._own_pid_ns, k.NEWPID)
        its.close()
        return Child(pid, ours, store)

    def _become_init(self, control: socket.socket, spec: Spec, store: int, rejoin: list[int]) -> NoReturn:
        try:
            k.die_with_parent(signal.SIGKILL)
            k.close_to_others()
            _close_all_but(control.fileno(), store, self._userns, *rejoin)
            if rejoin:
                jail.rejoin(rejoin[0], rejoin[1], self._userns)
                built = jail.Built([], [])
            else:
                built = jail.build(spec, store, self._userns)
            _settle(control)
            self._check(spec)
            _report(control, built)
            init.serve(control)
        except BaseException as error:
            wire.send(control, {"error": f"{type(error).__name__}: {error}"})
        finally:
            os._exit(FAILED)

    def _check(self, spec: Spec) -> None:
        targets = tuple(os.path.realpath(target) for _, target in spec.binds)
        holes = selfcheck.holes(self._outer_userns, targets)
        if holes:
            raise OSError("the sandbox is not closed: " + "; ".join(holes))


def _settle(control: socket.socket) -> None:
    """The new process, in the sandbox by now, keeps nothing of the outside but its control socket."""
    k.die_with_parent(signal.SIGKILL)  # new credentials clear both
    k.close_to_others()
    null = os.open("/dev/null", os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    _close_all_but(control.fileno())
    os.umask(0o022)
    k.name_process("sandbox")


def _report(control: socket.socket, built: jail.Built) -> None:
    """Say how it went, with what the outside needs to look in: mount and network namespace, root."""
    fds = [os.open(f"/proc/self/ns/{name}", os.O_RDONLY) for name in ("mnt", "net")]
    fds.append(os.open("/", os.O_PATH | os.O_DIRECTORY))
    wire.send(control, built._asdict(), fds)
    for fd in fds:
        os.close(fd)


def _close_all_but(*keep: int) -> None:
    """Close every descriptor from 3 on but KEEP: those of other sandboxes must not live on in this one."""
    low = 3
    for fd in sorted(fd for fd in keep if fd >= low):
        os.closerange(low, fd)
        low = fd + 1
    os.closerange(low, 1 << 20)


def main(request_fd: int, ahead: int) -> None:
    """Serve the caller at the other end of REQUEST_FD; AHEAD: how many sandboxes to keep built ahead."""
    request = socket.socket(fileno=request_fd)
    try:
        server = ForkServer(request, ahead)
    except OSError as error:
        wire.send(request, {"error": str(error)})
        return
    wire.send(request, {})
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # children are reaped by the kernel; callers hold pidfds
    gc.freeze()
    gc.disable()  # a collection after a fork would copy every page
    server.loop()
