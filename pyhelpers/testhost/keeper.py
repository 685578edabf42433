"""The process that owns one throwaway host: `python3 -m pyhelpers.testhost.keeper FD`.

Two processes. The guard stays outside and removes the cgroup at the end. Its child is pid 1 of a pid namespace with
a mount namespace of its own, so with its end every process and every mount of the host is gone at once: when the
tool at the other end of the lifeline ends, when it is told so, when the guard or itself is killed.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
import traceback
from dataclasses import dataclass
from pathlib import Path

from pyhelpers.sandbox import kernel, mounts, wire
from pyhelpers.testhost.cgroup import Cgroup
from pyhelpers.testhost.machine import Machine, arguments
from pyhelpers.testhost.overlay import STORE, Layers
from pyhelpers.testhost.prepare import prepare
from pyhelpers.testhost.service import Service


@dataclass(frozen=True)
class Spec:
    """What kind of host is wanted; the first message on the lifeline holds these fields."""

    id: str
    size: str
    base: str  # a directory that becomes the host's root
    clone: bool  # whether the machine's further file systems belong to it
    binds: list[list[str]]  # source, target
    network: bool
    hostname: str
    resolv_conf: str
    boot_seconds: float


def main() -> int:
    """Guard: receive the wish, make the cgroup, start the child, clean up after it."""
    lifeline = socket.socket(fileno=int(sys.argv[1]))
    message, fds = wire.receive(lifeline)
    if message is None:
        return 0
    spec, answer_fd = Spec(**message), fds[0]
    cgroup = Cgroup(spec.id)
    gone_read, gone_write = os.pipe()  # closed by the guard's end: then nothing is left
    kernel.unshare(kernel.NEWPID)
    pid = os.fork()
    if pid == 0:
        os.close(gone_write)
        _child(spec, cgroup, lifeline, answer_fd, gone_read)
    for fd in (lifeline.detach(), answer_fd, gone_read):
        os.close(fd)
    os.waitpid(pid, 0)
    cgroup.remove()
    return 0


def _child(spec: Spec, cgroup: Cgroup, lifeline: socket.socket, answer_fd: int, gone: int) -> None:
    """Pid 1 of the host's keeper: build, boot, answer; never returns."""
    answer = socket.socket(fileno=answer_fd)
    try:
        kernel.die_with_parent(signal.SIGKILL)
        cgroup.enter("keeper")
        kernel.unshare(kernel.NEWNS)  # before the first thread: it would stay in the machine's mount namespace
        service = Service(gone)
        threading.Thread(target=service.serve, args=(lifeline, True), daemon=True).start()
        service.layers, service.machine = _build(spec, cgroup)
        service.machine.boot(spec.boot_seconds)
        wire.send(answer, {})
        answer.close()
        threading.Event().wait()  # the threads that serve end the process
    except BaseException as error:
        traceback.print_exc()
        wire.send(answer, {"error": str(error)})
    finally:
        os._exit(1)


def _build(spec: Spec, cgroup: Cgroup) -> tuple[Layers, Machine]:
    """Fill the mount namespace: /proc, the store, layers, binds; nothing is started yet."""
    plans = mounts.plan(mounts.parse(Path("/proc/self/mountinfo").read_text())) if spec.clone else []
    kernel.mount("", "/", "", kernel.MS_REC | kernel.MS_PRIVATE)
    base_fd = os.open(spec.base, os.O_PATH | os.O_DIRECTORY)
    sources = [os.open(source, os.O_PATH) for source, _ in spec.binds]  # /run is masked in a moment
    kernel.mount("proc", "/proc", "proc", kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC)
    kernel.mount("flexkit", str(STORE), "tmpfs", kernel.MS_NOSUID, f"size={spec.size},mode=0755")
    kernel.move_mount(cgroup.root_fd, "/sys/fs/cgroup")
    layers = Layers(base_fd, [plan.point for plan in plans if plan.overlay and Path(plan.point).is_dir()])
    targets = [(target, Path(f"/proc/self/fd/{fd}").is_dir()) for fd, (_, target) in zip(sources, spec.binds)]
    layers.make(lambda root: prepare(root, targets, spec.resolv_conf))
    binds = [(_reachable(i, fd), target) for i, (fd, (_, target)) in enumerate(zip(sources, spec.binds))]
    argv = arguments(spec.id, spec.hostname, spec.network, not cgroup.disks_forbidden, binds)
    return layers, Machine(argv, cgroup)


def _reachable(number: int, fd: int) -> str:
    """A path in the store that shows what FD is open on, whatever is masked."""
    path = STORE / "binds" / str(number)
    path.parent.mkdir(exist_ok=True)
    if Path(f"/proc/self/fd/{fd}").is_dir():
        path.mkdir()
    else:
        path.touch()
    kernel.mount(f"/proc/self/fd/{fd}", str(path), "", kernel.MS_BIND)
    return str(path)


if __name__ == "__main__":
    sys.exit(main())
