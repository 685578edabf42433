"""The standard streams, which the caller may have closed, or whose reader may be gone: neither makes a command fail.

Only an answer (stdout) that could not be written is a failure. Imports only what Python has loaded anyway.
"""

from __future__ import annotations

import os
import sys


def open_all() -> None:
    """Give /dev/null to each standard descriptor that is closed: the next open file would take its place, and what
    children say would go into that file."""
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(descriptor, True)
    os.close(descriptor)
    if sys.stdout is None:
        sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115


def mute(descriptor: int) -> None:
    """Send what is still to be said to nowhere, so that the flush at exit does not fail either."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)


def say(line: str) -> None:
    """A line on stderr. Nobody there, or a full disk, is no reason to stop."""
    try:
        print(line, file=sys.stderr, flush=True)
    except OSError:
        mute(2)


class Unwritable(Exception):
    """Stdout does not take the answer."""


def answer(text: str) -> None:
    """Data for whoever asked, on stdout."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        mute(1)
        raise Unwritable(f"cannot write the answer: {error.strerror}") from error
