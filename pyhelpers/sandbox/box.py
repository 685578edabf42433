"""`Box`: one sandbox for many commands. Safe to use from several threads."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from pyhelpers.sandbox.files import Files
from pyhelpers.sandbox.pump import DIED, Command, End, Pump
from pyhelpers.sandbox.result import Result, SandboxError
from pyhelpers.sandbox.spec import PATH, Spec
from pyhelpers.tree import Change

if TYPE_CHECKING:
    from pathlib import Path

CLEAN_ENV = {"PATH": PATH, "LC_ALL": "C"}
OUTPUT_MAX = 64 << 20
KILLED = 137
Make = Callable[[Spec, Files | None], Files]


class Box:
    """Made by `Server.box`. As a context manager it is closed, its files freed, at the end."""

    def __init__(self, make: Make, spec: Spec) -> None:
        self._make, self._spec = make, spec
        self._lock = threading.Lock()
        self._files = make(spec, None)

    def __enter__(self) -> Box:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    @property
    def netns(self) -> Path:
        """The network namespace, to be opened by anybody (setns, `nsenter --net=`); restart() keeps it."""
        from pathlib import Path

        return Path(f"/proc/{os.getpid()}/fd/{self._files.fds.netns}")

    @property
    def root(self) -> Path:
        """The root as seen inside, usable from outside. Absolute links in it lead outside: better use read()."""
        from pathlib import Path

        return Path(f"/proc/{os.getpid()}/fd/{self._files.fds.root}")

    def run(
        self,
        argv: Sequence[str],
        env: Mapping[str, str] | None = None,
        cwd: str = "/",
        stdin: bytes = b"",
        timeout: float | None = 60,
        pass_fds: Sequence[int] = (),
    ) -> Result:
        """Run one command; processes that it leaves behind live on until restart(), kill() or close().

        timeout: in seconds; the command's process group is killed then. pass_fds: descriptors that reach the command
        with the same numbers. A command that cannot be started gives 126 or 127 as in a shell.
        """
        command = Command(argv, CLEAN_ENV if env is None else env, cwd, stdin, timeout, pass_fds=pass_fds)
        return self._run(command, self)

    def run_last(
        self, argv: Sequence[str], env: Mapping[str, str] | None, cwd: str, stdin: bytes, timeout: float | None
    ) -> Result:
        """Run the only command of this box: every process of it is gone afterwards, the result keeps the files."""
        files = self._files
        result = self._run(Command(argv, CLEAN_ENV if env is None else env, cwd, stdin, timeout, last=True), files)
        files.wait()
        return result

    def carry(self, command: Command, on_output: Callable[[int, bytes], None]) -> End:
        """Run COMMAND and give its output on as it comes."""
        return _carry(self._files, command, on_output, lambda: None)

    def diff(self, ignore: Sequence[str] = ()) -> list[Change]:
        """What is different from the outside now, by path."""
        return self._files.diff(ignore)

    def read(self, path: str) -> bytes:
        """A file as it is inside now. Raises OSError as open() does."""
        return self._files.read(path)

    def write(self, path: str, data: bytes, mode: int = 0o644) -> None:
        """Write a file inside. Raises OSError."""
        self._files.write(path, data, mode)

    def is_full(self) -> bool:
        """Whether the store has no room left."""
        return self._files.is_full()

    def kill(self) -> None:
        """Kill every process inside, as a power cut would; the files stay."""
        self._files.kill()

    def restart(self) -> None:
        """Kill every process, then start anew over the same files, mounts and network namespace, as they were left."""
        with self._lock:
            self._files.kill()
            self._files = self._make(self._spec, self._files)

    def close(self) -> None:
        """Kill every process and free the files."""
        with self._lock:
            if self._files.open:
                self._files.kill()
                self._files.close()

    def _run(self, command: Command, view: Box | Files) -> Result:
        collected: dict[int, list[bytes]] = {1: [], 2: []}
        files, size, full = self._files, 0, False

        def keep(number: int, block: bytes) -> None:
            nonlocal size
            size += len(block)
            if size > OUTPUT_MAX:
                raise SandboxError(f"{command.argv[0]} printed more than {OUTPUT_MAX >> 20} MiB")
            collected[number].append(block)

        def look() -> None:
            nonlocal full
            full = full or files.is_full()

        end = _carry(files, command, keep, look)
        texts = [b"".join(collected[number]).decode(errors="surrogateescape") for number in (1, 2)]
        return Result(end.code, texts[0], texts[1], end.seconds, end.timed_out, full, view)


def _carry(files: Files, command: Command, on_output: Callable[[int, bytes], None], on_tick: Callable[[], None]) -> End:
    """A kill that was asked for is the command's end; any other death of the sandbox is nobody's result."""
    end = Pump(files.control, command, on_output, on_tick).run()
    if end.code == DIED and not files.killed:
        raise SandboxError(f"the sandbox died under {command.argv[0]}{files.last_words()}")
    return End(KILLED, end.seconds, end.timed_out) if end.code == DIED else end
