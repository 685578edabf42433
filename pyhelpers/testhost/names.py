"""Where hosts that outlive their command are found: a socket for each in /run/flexkit/hosts, answered by its keeper.

A socket that nobody answers belongs to a killed keeper; it is removed when it is met.
"""

from __future__ import annotations

import contextlib
import socket
from pathlib import Path

from pyhelpers.sandbox import wire

DIRECTORY = Path("/run/flexkit/hosts")


def claim(name: str) -> socket.socket:
    """A socket that listens at NAME. Raises FileExistsError when there is such a host."""
    if (found := connect(name)) is not None:
        found.close()
        raise FileExistsError(f"there is a host {name} already")
    DIRECTORY.mkdir(parents=True, exist_ok=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    try:
        listener.bind(str(DIRECTORY / name))
    except OSError:
        listener.close()
        raise FileExistsError(f"there is a host {name} already") from None
    (DIRECTORY / name).chmod(0o600)
    listener.listen()
    return listener


def connect(name: str) -> socket.socket | None:
    """A connection to the keeper of the host NAME; None when there is no such host."""
    client = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    try:
        client.connect(str(DIRECTORY / name))
    except FileNotFoundError:
        client.close()
        return None
    except ConnectionRefusedError:
        client.close()
        release(name)
        return None
    wire.allow_large(client)
    return client


def release(name: str) -> None:
    """Forget NAME, and the directories when it was the last."""
    (DIRECTORY / name).unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # not empty, or not there
        for directory in (DIRECTORY, DIRECTORY.parent):
            directory.rmdir()


def all_names() -> list[str]:
    """The hosts that answer."""
    found = []
    for path in sorted(DIRECTORY.glob("*")):
        if (client := connect(path.name)) is not None:
            client.close()
            found.append(path.name)
    return found
