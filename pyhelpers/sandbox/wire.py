"""Messages between a caller and a fork server, a sandbox's pid 1 or a host's keeper: one JSON object with descriptors.

Each is one packet of a Unix socket. The fork server imports this, so it must stay small.
"""

from __future__ import annotations

import array
import contextlib
import errno
import json
import os
import socket
from collections.abc import Sequence
from typing import Any

Message = dict[str, Any]

MESSAGE_MAX = 4 << 20
FDS_MAX = 64
_SO_SNDBUFFORCE = 32  # socket(7); Python has no name for it


def pair() -> tuple[socket.socket, socket.socket]:
    """Two ends that keep messages apart and may carry a large environment."""
    ends = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    for end in ends:
        allow_large(end)
    return ends


def allow_large(end: socket.socket) -> None:
    """Let END send a packet of MESSAGE_MAX bytes (a packet must fit the send buffer)."""
    with contextlib.suppress(PermissionError):  # not real root: the usual limit must do
        end.setsockopt(socket.SOL_SOCKET, _SO_SNDBUFFORCE, MESSAGE_MAX)


def send(link: socket.socket, message: Message, fds: Sequence[int] = ()) -> None:
    """The descriptors stay open here. Raises OSError when the other end is gone or the message is too long."""
    text = json.dumps(message).encode()
    if len(text) > MESSAGE_MAX:  # the receiver would get the beginning of it
        raise OSError(errno.EMSGSIZE, os.strerror(errno.EMSGSIZE))
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
    link.sendmsg([text], rights, socket.MSG_NOSIGNAL)


def receive(link: socket.socket, flags: int = 0) -> tuple[Message | None, list[int]]:
    """The next message, None at the end. (socket.recv_fds would let the descriptors leak to children.)"""
    room = socket.CMSG_SPACE(FDS_MAX * array.array("i").itemsize)
    flags |= socket.MSG_CMSG_CLOEXEC
    try:
        text, ancillary, _, _ = link.recvmsg(MESSAGE_MAX, room, flags)
    except ConnectionResetError:  # our word stays unread there; what was sent to us is still to be had
        text, ancillary, _, _ = link.recvmsg(MESSAGE_MAX, room, flags)
    fds = array.array("i")
    for level, kind, data in ancillary:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            fds.frombytes(data[: len(data) - len(data) % fds.itemsize])
    return (json.loads(text) if text else None), list(fds)
