"""Messages between the caller, the fork server and a sandbox's pid 1: one JSON object with descriptors."""

from __future__ import annotations

import array
import contextlib
import json
import socket
from collections.abc import Sequence
from typing import Any

MESSAGE_MAX = 4 << 20
FDS_MAX = 64
_SO_SNDBUFFORCE = 32  # socket(7); Python has no name for it


def pair() -> tuple[socket.socket, socket.socket]:
    """Two ends that keep messages apart and may carry a large environment."""
    ends = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    for end in ends:
        with contextlib.suppress(PermissionError):  # not real root: the usual limit must do
            end.setsockopt(socket.SOL_SOCKET, _SO_SNDBUFFORCE, MESSAGE_MAX)
    return ends


def send(link: socket.socket, message: dict[str, Any], fds: Sequence[int] = ()) -> None:
    """Raises OSError when the other end is gone or the message is too long."""
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
    link.sendmsg([json.dumps(message).encode()], rights, socket.MSG_NOSIGNAL)


def receive(link: socket.socket, flags: int = 0) -> tuple[dict[str, Any] | None, list[int]]:
    """The next message, None at the end. (socket.recv_fds would let the descriptors leak to children.)"""
    room = socket.CMSG_SPACE(FDS_MAX * array.array("i").itemsize)
    text, ancillary, _, _ = link.recvmsg(MESSAGE_MAX, room, socket.MSG_CMSG_CLOEXEC | flags)
    fds = array.array("i")
    for level, kind, data in ancillary:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            fds.frombytes(data[: len(data) - len(data) % fds.itemsize])
    return (json.loads(text) if text else None), list(fds)
