"""Messages between a tool and a keeper: one JSON object and some descriptors in each packet of a Unix socket.

A request carries a socket of its own for the answer, so any number of requests can be under way at once.
"""

from __future__ import annotations

import errno
import json
import os
import socket
from collections.abc import Sequence
from typing import Any

LARGEST = 1 << 20
MOST_FDS = 64

Message = dict[str, Any]


def pair() -> tuple[socket.socket, socket.socket]:
    """Two connected sockets that keep packets apart and carry the largest message."""
    ends = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    for end in ends:
        allow_large(end)
    return ends


def allow_large(end: socket.socket) -> None:
    """Let END send a packet of LARGEST bytes (a packet must fit the send buffer)."""
    end.setsockopt(socket.SOL_SOCKET, 32, LARGEST * 2)  # SO_SNDBUFFORCE


def send(end: socket.socket, message: Message, fds: Sequence[int] = ()) -> None:
    """Send one message; the descriptors stay open here. Raises OSError also when it is too long."""
    data = json.dumps(message, ensure_ascii=False).encode(errors="surrogateescape")
    if len(data) > LARGEST:
        raise OSError(errno.EMSGSIZE, os.strerror(errno.EMSGSIZE))
    socket.send_fds(end, [data], list(fds))


def receive(end: socket.socket) -> tuple[Message, list[int]] | None:
    """The next message and its descriptors; None when the other side is gone."""
    try:
        data, fds, _, _ = socket.recv_fds(end, LARGEST, MOST_FDS, socket.MSG_CMSG_CLOEXEC)
    except ConnectionResetError:
        return None
    if not data:
        return None
    message: Message = json.loads(data.decode(errors="surrogateescape"))
    return message, fds
