"""Carries one command's input, output, time limit and end between the caller and a sandbox's pid 1.

One poll loop in the caller's thread; no other thread, no waiting for pipes that a daemon of the command keeps open.
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from pyhelpers.sandbox import wire
from pyhelpers.sandbox.result import SandboxError

BLOCK = 65536
TICK_MS = 100
DIED = -1


class Command(NamedTuple):
    """What to run. stdin: bytes, or a descriptor to read it from; merge: stderr goes where stdout goes."""

    argv: Sequence[str]
    env: Mapping[str, str]
    cwd: str = "/"
    stdin: bytes | int = b""
    timeout: float | None = 60
    last: bool = False
    merge: bool = False
    pass_fds: Sequence[int] = ()


class End(NamedTuple):
    """code: the command's exit code, 128+N when killed by signal N; DIED: the whole sandbox died under it."""

    code: int
    seconds: float
    timed_out: bool


class Pump:
    """Runs COMMAND through the control socket. on_output(1 or 2, bytes) gets what it prints; on_tick() is called
    several times a second."""

    def __init__(
        self,
        control: socket.socket,
        command: Command,
        on_output: Callable[[int, bytes], None],
        on_tick: Callable[[], None] = lambda: None,
    ) -> None:
        self._command, self._on_output, self._on_tick = command, on_output, on_tick
        self._outputs: dict[int, int] = {}  # our end of a pipe -> 1 or 2
        self._poll = select.poll()
        self._input = -1
        self._source = command.stdin if isinstance(command.stdin, int) else -1
        self._pending = command.stdin if isinstance(command.stdin, bytes) else b""
        self._start = time.perf_counter()
        self._status = self._send(control)

    def run(self) -> End:
        """Wait for the end. Raises SandboxError when the command could not be sent."""
        try:
            return self._loop()
        finally:
            self._status.close()
            self._close_input()
            for fd in self._outputs:
                os.close(fd)

    def _send(self, control: socket.socket) -> socket.socket:
        ours, its = wire.pair()
        theirs = [its.detach()]
        if self._source >= 0 or self._pending:
            read, self._input = os.pipe()
            os.set_blocking(self._input, False)
            theirs.append(read)
            self._watch_input()
        theirs.append(self._output(1))
        theirs.append(theirs[-1] if self._command.merge else self._output(2))
        self._poll.register(ours, select.POLLIN)
        request: dict[str, Any] = {
            "argv": list(self._command.argv),
            "env": dict(self._command.env),
            "cwd": self._command.cwd,
            "stdin": self._input >= 0,
            "last": self._command.last,
            "pass": list(self._command.pass_fds),
        }
        try:
            wire.send(control, request, [*theirs, *self._command.pass_fds])
        except OSError as error:
            ours.close()
            self._close_input()
            raise SandboxError(f"the sandbox takes no command: {error}") from None
        finally:
            for fd in set(theirs):
                os.close(fd)
        return ours

    def _output(self, number: int) -> int:
        read, write = os.pipe()
        os.set_blocking(read, False)
        self._outputs[read] = number
        self._poll.register(read, select.POLLIN)
        return write

    def _watch_input(self) -> None:
        """Wait for room in the pipe when there is something to write, else for something to read."""
        if self._pending:
            self._poll.register(self._input, select.POLLOUT)
        elif self._source >= 0:
            self._poll.register(self._source, select.POLLIN)

    def _loop(self) -> End:
        limit = None if self._command.timeout is None else self._start + self._command.timeout
        timed_out = False
        while True:
            ready = [fd for fd, _ in self._poll.poll(self._wait_ms(limit))]
            if limit is not None and time.perf_counter() >= limit:
                timed_out, limit = True, None
                self._kill()
            for fd in ready:
                if fd in self._outputs:
                    self._drain(fd)
                elif fd in (self._input, self._source):
                    self._feed(fd)
            self._on_tick()
            if self._status.fileno() in ready:
                return self._end(timed_out)

    def _wait_ms(self, limit: float | None) -> float:
        if limit is None:
            return TICK_MS
        return max(0.0, min(TICK_MS, (limit - time.perf_counter()) * 1000 + 1))

    def _kill(self) -> None:
        with contextlib.suppress(BrokenPipeError):  # it ended by itself just now
            self._status.send(b"kill")

    def _end(self, timed_out: bool) -> End:
        end, _ = wire.receive(self._status)
        seconds = time.perf_counter() - self._start
        for fd in list(self._outputs):  # what the command itself wrote is in the pipes by now
            self._drain(fd)
        if end is None:
            return End(DIED, seconds, timed_out)
        if "errno" in end:
            self._on_output(2, f"{end['where']}: {os.strerror(end['errno'])}\n".encode())
            return End(127 if end["errno"] == 2 else 126, seconds, timed_out)
        return End(end["code"], seconds, timed_out)

    def _drain(self, fd: int) -> None:
        while True:
            try:
                block = os.read(fd, BLOCK)
            except BlockingIOError:
                return
            if not block:
                self._poll.unregister(fd)
                self._outputs.pop(fd)
                os.close(fd)
                return
            self._on_output(self._outputs[fd], block)

    def _feed(self, fd: int) -> None:
        if fd == self._source:
            self._poll.unregister(fd)
            self._pending = os.read(fd, BLOCK)
            if not self._pending:
                self._source = -1
        else:
            self._write_some()
        if not self._pending and self._source < 0:
            self._close_input()
        elif self._input >= 0:
            self._watch_input()

    def _write_some(self) -> None:
        self._poll.unregister(self._input)
        try:
            self._pending = self._pending[os.write(self._input, self._pending[:BLOCK]) :]
        except BrokenPipeError:  # the command does not want it
            self._pending, self._source = b"", -1

    def _close_input(self) -> None:
        if self._input >= 0:
            with contextlib.suppress(KeyError):  # there was nothing to wait for just now
                self._poll.unregister(self._input)
            os.close(self._input)
            self._input = -1
