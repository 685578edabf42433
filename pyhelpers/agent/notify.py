"""sd_notify: one datagram to the socket that systemd names. Without that socket nothing happens.

Source: sd_notify(3). With Type=simple READY=1 has no effect, STATUS= is shown by `systemctl status`.
"""

from __future__ import annotations

import os
import socket


def notify(*lines: str) -> None:
    """Send assignments such as READY=1 or STATUS=text."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address:
        return
    if address.startswith("@"):
        address = "\0" + address[1:]
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as s:
        s.sendto("\n".join(lines).encode(), address)
