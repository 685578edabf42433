"""The three standard streams of a command that runs elsewhere: feeds its stdin, gathers its stdout and stderr."""

from __future__ import annotations

import contextlib
import os
import select
import threading


class Streams:
    """Pipes to a command; `theirs` are its descriptors. Bytes become text as UTF-8 with surrogate escapes."""

    def __init__(self, stdin: bytes) -> None:
        in_read, self._in = os.pipe()
        self._out, out_write = os.pipe()
        self._err, err_write = os.pipe()
        self.theirs = [in_read, out_write, err_write]
        self._gathered: dict[int, bytearray] = {self._out: bytearray(), self._err: bytearray()}
        self._stop_read, self._stop = os.pipe()
        self._threads = [threading.Thread(target=self._feed, args=(stdin,), daemon=True)]
        self._threads += [threading.Thread(target=self._gather, args=(fd,), daemon=True) for fd in self._gathered]

    def __enter__(self) -> Streams:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *failure: object) -> None:
        self.finish()
        for fd in (self._out, self._err, self._stop_read):
            os.close(fd)

    def finish(self) -> tuple[str, str]:
        """The command has ended: what it wrote; what others write to its pipes later is not waited for."""
        if self.theirs:
            for fd in (*self.theirs, self._stop):
                os.close(fd)
            self.theirs = []
            for thread in self._threads:
                thread.join()
        stdout, stderr = (bytes(data).decode(errors="surrogateescape") for data in self._gathered.values())
        return stdout, stderr

    def _feed(self, data: bytes) -> None:
        with contextlib.suppress(BrokenPipeError), os.fdopen(self._in, "wb", buffering=0) as pipe:
            view = memoryview(data)
            while view:
                view = view[pipe.write(view) :]

    def _gather(self, fd: int) -> None:
        """Read until the end, or until there is nothing more when `finish` says that the command is over."""
        poll = select.poll()
        poll.register(fd, select.POLLIN)
        poll.register(self._stop_read, 0)  # POLLHUP alone
        while True:
            ready = {each for each, _ in poll.poll()}
            if fd not in ready:
                return
            block = os.read(fd, 1 << 16)
            if not block:
                return
            self._gathered[fd] += block
