"""`Server`: starts the fork server and gives out sandboxes. Safe to use from several threads."""

from __future__ import annotations

import os
import queue
import sys
import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from pyhelpers.sandbox import forkserver, wire
from pyhelpers.sandbox.box import Box
from pyhelpers.sandbox.files import Files, Handles
from pyhelpers.sandbox.result import Result, SandboxError, StoreFull
from pyhelpers.sandbox.spec import DEFAULT_SIZE, PATH, Spec

if TYPE_CHECKING:  # a command that wants one sandbox does without
    from pathlib import Path

    Bind = Path | str | tuple[Path | str, Path | str]

PROJECT = os.path.realpath(f"{__file__}/../../..")
REQUEST_FD = 3


class Server:
    """jobs: how many sandboxes of a kind are kept ready. A context manager; closing it kills every sandbox of it.

    fork: the fork server is a fork of this process, which must have no other thread, instead of an interpreter of its
    own; for a process that wants one sandbox and ends.
    """

    def __init__(self, jobs: int = 2, *, fork: bool = False) -> None:
        if os.geteuid() != 0:
            raise SandboxError("it needs root: run it with sudo")
        self._lock = threading.Lock()
        self._request, theirs = wire.pair()
        with theirs:
            self._pid = (_fork if fork else _spawn)(theirs.fileno(), jobs)
        self._retired: queue.SimpleQueue[Sequence[int] | None] = queue.SimpleQueue()
        self._reaper = threading.Thread(target=_close_retired, args=(self._retired,), daemon=True)
        self._reaper.start()
        hello, _ = wire.receive(self._request)
        if hello is None or "error" in hello:
            self.close()
            raise SandboxError(hello["error"] if hello else "the fork server did not start")

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    def close(self) -> None:
        """End the fork server and with it every sandbox; results that were kept can still be read."""
        if self._pid:
            self._request.close()
            os.waitpid(self._pid, 0)
            self._pid = 0
            self._retired.put(None)
            self._reaper.join()

    def box(self, binds: Iterable[Bind] = (), size: str = DEFAULT_SIZE) -> Box:
        """A sandbox for many commands. Raises SandboxError."""
        return Box(self._make, Spec(tuple(map(_bind, binds)), size))

    def run(
        self,
        argv: Sequence[str],
        env: Mapping[str, str] | None = None,
        cwd: str = "/",
        stdin: bytes = b"",
        timeout: float | None = 60,
        binds: Iterable[Bind] = (),
        size: str | None = None,
    ) -> Result:
        """Run one command in a sandbox of its own; all its processes are gone when this returns.

        size: of the store; when it is left out and the store gets full, a failing command raises StoreFull.
        """
        box = self.box(binds, size or DEFAULT_SIZE)
        try:
            result = box.run_last(argv, env, cwd, stdin, timeout)
        except BaseException:
            box.close()
            raise
        if result.store_full and result.code != 0 and size is None:
            box.close()
            raise StoreFull(
                f"{argv[0]} failed ({result.code}) with the store of {DEFAULT_SIZE} full: give a larger size"
            )
        return result

    def _make(self, spec: Spec, again: Files | None = None) -> Files:
        """A new sandbox; or new processes over the files of AGAIN, which is closed then."""
        fds = [again.fds.mntns, again.fds.netns] if again else []
        with self._lock:
            if not self._pid:
                raise SandboxError("the server is closed")
            try:
                wire.send(self._request, {"spec": spec.dump()}, fds)
                reply, its = wire.receive(self._request)
            except OSError as error:
                raise SandboxError(f"the fork server is gone: {error}") from None
        if reply is None or "error" in reply:
            raise SandboxError(reply["error"] if reply else "the fork server is gone")
        if again is None:
            return Files(Handles(*its), reply["layers"], reply["made"], self._retired.put)
        files = Files(Handles._make([*its, os.dup(again.fds.store)]), again.layers, again.made, self._retired.put)
        again.close()
        return files


def _bind(bind: Bind) -> tuple[str, str]:
    source, target = bind if isinstance(bind, tuple) else (bind, bind)
    if not os.path.lexists(source):
        raise SandboxError(f"nothing to bind at {source}")
    return os.path.realpath(source), str(target)


def _fork(request: int, jobs: int) -> int:
    pid = os.fork()
    if pid:
        return pid
    try:
        os.setsid()
        for fd, flags in ((0, os.O_RDONLY), (1, os.O_WRONLY)):
            os.dup2(os.open("/dev/null", flags), fd)
        os.dup2(request, REQUEST_FD, inheritable=False)
        os.closerange(REQUEST_FD + 1, 1 << 20)
        forkserver.main(REQUEST_FD, jobs)
    finally:
        os._exit(0)  # nothing of the caller may run here: no handler at exit, no buffer that is written twice


def _spawn(request: int, jobs: int) -> int:
    code = f"import sys; sys.path.insert(0, {PROJECT!r}); from pyhelpers.sandbox import forkserver as f; f.main"
    options = ["-I", "-S", *(["-B"] if sys.dont_write_bytecode else []), "-X", "utf8"]
    argv = [sys.executable, *options, "-c", f"{code}({REQUEST_FD}, {jobs})"]
    actions: list[tuple[int, ...] | tuple[int, int, str, int, int]] = [
        (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0),
        (os.POSIX_SPAWN_DUP2, request, REQUEST_FD),
    ]
    try:
        return os.posix_spawn(sys.executable, argv, {"PATH": PATH}, file_actions=actions, setsid=True)
    except OSError as error:
        raise SandboxError(f"the fork server cannot be started: {error}") from None


def _close_retired(retired: queue.SimpleQueue[Sequence[int] | None]) -> None:
    while (fds := retired.get()) is not None:
        for fd in fds:
            os.close(fd)
