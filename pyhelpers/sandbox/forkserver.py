"""The process that forks sandboxes: small and with a single thread, so that a fork is cheap and sound.

`python -I -S` runs `main()`; the caller's process talks to it over one SEQPACKET socket, one request at a time. When
the caller is gone the socket ends, this process exits, and every sandbox dies with it (PDEATHSIG). For a spec that
was asked for once it keeps sandboxes built ahead; they are thrown away when the mounts outside change.
"""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import socket
import sys
from typing import NamedTuple, NoReturn

from pyhelpers.sandbox import init, jail, selfcheck
from pyhelpers.sandbox import kernel as k
from pyhelpers.sandbox.spec import Spec, load

MESSAGE_MAX = init.MESSAGE_MAX
IDENTITY = "0 0 4294967295\n"
SPECS_KEPT = 4
FAILED = 125


class Nursling(NamedTuple):
    """A sandbox that is being built or was built: its pid, our end of its control socket, its store."""

    pid: int
    control: socket.socket
    store: int

    def close(self) -> None:
        """Let it go: it dies of the end of its control socket."""
        self.control.close()
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
        self._pool: dict[str, list[Nursling]] = {}
        self._mounts = os.open("/proc/self/mountinfo", os.O_RDONLY | os.O_CLOEXEC)
        self._mounts_changed = select.poll()
        self._mounts_changed.register(self._mounts, select.POLLPRI | select.POLLERR)

    def loop(self) -> None:
        """Serve until the caller closes its end."""
        while True:
            message, fds, _, _ = socket.recv_fds(self._request, MESSAGE_MAX, 2)
            if not message:
                return
            request = json.loads(message)
            if self._mounts_changed.poll(0):
                self._forget_all()
            if self._answer(request["spec"], request["generation"], fds) and request["generation"] == 0:
                self._build_ahead(request["spec"])

    def _answer(self, text: str, generation: int, fds: list[int]) -> bool:
        try:
            if generation:
                baby = self._fork(load(text), jail.Material(fds[0], self._userns, fds[1], generation))
            else:
                waiting = self._pool.get(text)
                baby = waiting.pop(0) if waiting else self._new(text)
            message, its, _, _ = socket.recv_fds(baby.control, MESSAGE_MAX, 3)
        except OSError as error:
            self._request.send(json.dumps({"error": str(error)}).encode())
            return False
        reply = json.loads(message or b'{"error": "it died while it was built"}')
        if "error" in reply:
            self._request.send(json.dumps(reply).encode())
            baby.close()
            return False
        pidfd = os.pidfd_open(baby.pid)
        out = [baby.control.fileno(), pidfd, baby.store, *its]
        socket.send_fds(self._request, [message], out)
        for fd in (pidfd, *its, *fds[1:]):
            os.close(fd)
        baby.close()
        return True

    def _build_ahead(self, text: str) -> None:
        waiting = self._pool.setdefault(text, [])
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
        for baby in self._pool.pop(text):
            baby.close()

    def _new(self, text: str) -> Nursling:
        spec = load(text)
        return self._fork(spec, jail.Material(k.new_tmpfs(spec.size), self._userns, -1, 0))

    def _fork(self, spec: Spec, material: jail.Material) -> Nursling:
        """Fork pid 1 of a new pid namespace; it builds the sandbox around itself."""
        ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        k.unshare(k.NEWPID)  # for children; one namespace for each needs the way back below
        try:
            pid = os.fork()
            if pid == 0:
                self._become_init(its, spec, material)
        finally:
            k.setns(self._own_pid_ns, k.NEWPID)
        its.close()
        return Nursling(pid, ours, material.store)

    def _become_init(self, control: socket.socket, spec: Spec, material: jail.Material) -> NoReturn:
        try:
            k.die_with_parent(signal.SIGKILL)
            k.close_to_others()
            _close_all_but(control.fileno(), material.store, material.userns, material.netns)
            _enter(control, spec, material, self._outer_userns)
            init.serve(control)
        except BaseException as error:
            control.send(json.dumps({"error": f"{type(error).__name__}: {error}"}).encode())
        finally:
            os._exit(FAILED)


def _enter(control: socket.socket, spec: Spec, material: jail.Material, outer_userns: str) -> None:
    """Build, check, report with what the outside needs to look in: mount and network namespace, root."""
    built = jail.build(spec, material)
    k.die_with_parent(signal.SIGKILL)  # new credentials clear it
    k.close_to_others()
    null = os.open("/dev/null", os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    _close_all_but(control.fileno())
    os.umask(0o022)
    k.name_process("sandbox")
    targets = tuple(os.path.realpath(target) for _, target in spec.binds)
    holes = selfcheck.holes(outer_userns, targets)
    if holes:
        raise OSError("the sandbox is not closed: " + "; ".join(holes))
    fds = [os.open(f"/proc/self/ns/{name}", os.O_RDONLY) for name in ("mnt", "net")]
    fds.append(os.open("/", os.O_PATH | os.O_DIRECTORY))
    socket.send_fds(control, [json.dumps(built._asdict()).encode()], fds)
    for fd in fds:
        os.close(fd)


def _close_all_but(*keep: int) -> None:
    """Close every descriptor from 3 on but KEEP: those of other sandboxes must not live on in this one."""
    low = 3
    for fd in sorted(fd for fd in keep if fd >= low):
        os.closerange(low, fd)
        low = fd + 1
    os.closerange(low, 1 << 20)


def main() -> None:
    """argv: the request socket's descriptor, how many sandboxes to keep built ahead."""
    request = socket.socket(fileno=int(sys.argv[1]))
    try:
        server = ForkServer(request, int(sys.argv[2]))
    except OSError as error:
        request.send(json.dumps({"error": str(error)}).encode())
        return
    request.send(json.dumps({}).encode())
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # children are reaped by the kernel; callers hold pidfds
    gc.freeze()
    server.loop()
