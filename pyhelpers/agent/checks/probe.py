"""Whether files can be made in a directory that may not exist yet: tried, not guessed, and without a trace.

In the nearest existing directory above it a probe is created, written, executed (where that is asked), renamed and
deleted. It is named `.flexnode-probe.RANDOM` and locked while it is in use, so what a killed run left is told from the
probe of a run that is under way, and removed by the next one. `[ -w ]` would not do: root may "write" anywhere.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from pyhelpers.agent.checks import mounts
from pyhelpers.contract import TEMP_PREFIX
from pyhelpers.host import Host

PROBE_PREFIX = f"{TEMP_PREFIX}probe."
PROBE_TEXT = b"#!/bin/sh\nexit 0\n"
CREATE_TRIES = 64  # each fails only when another run takes the new probe for a leftover, before it is locked
BUSY_TRIES = 200  # another thread's child may hold the new file open for an instant: "Text file busy"
CAUSES = {
    errno.EROFS: "it is on a read-only file system",
    errno.ENOSPC: "its file system is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EACCES: "permission denied",
    errno.EPERM: "permission denied",
}


@dataclass(frozen=True)
class Answer:
    """cause "": it can be done. where: the directory that was tried; mount: the evidence, for the message."""

    where: str
    cause: str = ""
    mount: str = ""

    def __str__(self) -> str:
        return self.cause + (f"; {self.mount}" if self.mount else "")


def can_create(host: Host, directory: str, execute: bool) -> Answer:
    """Try it for `directory`, or for the nearest directory above it that exists."""
    where = directory
    try:
        where, cause = nearest(host, directory)
        if cause:
            return Answer(where, cause)
        cause = _try(host, where, execute)
    except OSError as error:
        cause = CAUSES.get(error.errno or 0, error.strerror or str(error))
    return Answer(where, cause, mounts.evidence(mounts.of(host, where)) if cause else "")


def refusals(host: Host, directories: Iterable[str], execute: bool) -> dict[Answer, list[str]]:
    """The directories that cannot be used, those with one and the same reason together."""
    found: dict[Answer, list[str]] = {}
    for directory in directories:
        answer = can_create(host, directory, execute)
        if answer.cause:
            found.setdefault(answer, []).append(directory)
    return found


def nearest(host: Host, directory: str) -> tuple[str, str]:
    """(the nearest existing directory at or above, what makes it impossible to go on from there or "")."""
    path = directory
    while True:
        entry = host.lstat(path)
        if entry is not None:
            real = host.realpath(path)
            target = host.stat(path)
            if target is None:
                return real, f"{path} is a link to {host.link_target(path)}, which does not exist"
            return real, "" if stat.S_ISDIR(target.st_mode) else f"{path} is not a directory"
        path = path.rpartition("/")[0] or "/"


def _try(host: Host, where: str, execute: bool) -> str:
    directory = host.real(where)
    remove_leftovers(directory)
    with _probe(directory) as name:
        cause = _execute(host, f"{where.rstrip('/')}/{name}") if execute else ""
        renamed = directory / f"{name}.renamed"
        (directory / name).rename(renamed)
        renamed.unlink()
    return cause


@contextmanager
def _probe(directory: Path) -> Iterator[str]:
    """A new probe, written and locked; it is gone at the end, whatever happens."""
    name, descriptor = _create(directory)
    try:
        yield name
    finally:
        for left in (name, f"{name}.renamed"):
            with suppress(FileNotFoundError):
                (directory / left).unlink()
        os.close(descriptor)


def _create(directory: Path) -> tuple[str, int]:
    """Make a probe of a name that nobody else has; returns it with a descriptor that holds its lock."""
    for _ in range(CREATE_TRIES):
        path = directory / f"{PROBE_PREFIX}{os.urandom(6).hex()}"
        try:
            return path.name, _write(path)
        except FileNotFoundError:
            if not directory.is_dir():
                raise
        except OSError:
            path.unlink(missing_ok=True)
            raise
    raise OSError(errno.EAGAIN, "other runs keep removing the probe")


def _write(path: Path) -> int:
    """Write a new file; returns a locked descriptor for reading: a file open for writing cannot be executed."""
    writing = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o700)
    try:
        fcntl.flock(writing, fcntl.LOCK_SH)
        os.fchmod(writing, 0o755)  # the caller's umask may forbid to read or execute it
        os.write(writing, PROBE_TEXT)
        os.fsync(writing)  # a full disk may only show now
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        fcntl.flock(descriptor, fcntl.LOCK_SH)
    finally:
        os.close(writing)
    return descriptor


def remove_leftovers(directory: Path) -> None:
    """Delete the probes that nobody holds a lock on. What cannot be deleted stops the probe itself right after."""
    for path in directory.glob(f"{PROBE_PREFIX}*"):
        with suppress(OSError):
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                path.unlink()
            finally:
                os.close(descriptor)


def _execute(host: Host, path: str) -> str:
    for _ in range(BUSY_TRIES):
        done = host.run([path], timeout=5)
        if done.code == 0:
            return ""
        if "Text file busy" not in done.stderr:
            break
    words = (done.stderr or done.stdout).strip().splitlines()
    why = "permission denied" if "Permission denied" in done.stderr else f"exit status {done.code}"
    return f"files in it cannot be executed: {why if 'permission' in why or not words else words[-1]}"
