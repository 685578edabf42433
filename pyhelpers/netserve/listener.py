"""Listens in another network namespace.

A short-lived thread enters that namespace and binds; the socket stays in it, whoever serves it. So nothing has to
be installed or run inside, and the machine's own network is not touched.
"""

from __future__ import annotations

import os
import socket
import ssl
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, TypeVar

from pyhelpers.sandbox import kernel

ADDRESS = "127.0.0.1"
NetworkNamespace = int | str | Path
T = TypeVar("T")


def inside(netns: NetworkNamespace, work: Callable[[], T]) -> T:
    """Do WORK in a thread that entered the network namespace, which belongs to the thread and ends with it.

    Returns or raises what WORK does; OSError when the namespace cannot be entered.
    """
    outcome: list[T | BaseException] = []

    def run() -> None:
        try:
            enter(netns)
            outcome.append(work())
        except BaseException as error:
            outcome.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if isinstance(outcome[0], BaseException):
        raise outcome[0]
    return outcome[0]


def enter(netns: NetworkNamespace) -> None:
    """Move the calling thread into the network namespace, for as long as it lives. Raises OSError."""
    if isinstance(netns, int):
        kernel.setns(netns, kernel.NEWNET)
        return
    fd = os.open(netns, os.O_RDONLY | os.O_CLOEXEC)
    try:
        kernel.setns(fd, kernel.NEWNET)
    finally:
        os.close(fd)


def bound_socket(netns: NetworkNamespace, port: int) -> socket.socket:
    """A TCP socket that listens on 127.0.0.1:PORT inside the network namespace (0: any free port)."""
    return inside(netns, lambda: socket.create_server((ADDRESS, port)))


class Listener(ThreadingHTTPServer):
    """The standard library's server over a socket that was bound elsewhere; `owner` is what its handler works for."""

    daemon_threads = True

    def __init__(
        self, bound: socket.socket, handler: type[BaseHTTPRequestHandler], owner: Any, tls: ssl.SSLContext | None = None
    ) -> None:
        super().__init__(bound.getsockname(), handler, bind_and_activate=False)
        self.socket.close()
        self.socket, self.owner, self.tls = bound, owner, tls
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Serve from now on."""
        self._thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Serve no more; the port is closed."""
        if self._thread is not None:
            self.shutdown()
            self._thread.join()
        self.server_close()

    def finish_request(self, request: Any, client_address: Any) -> None:
        """Handle one connection, in its thread; a client that hangs up or does not trust us is no event here."""
        try:
            if self.tls is not None:
                request = self.tls.wrap_socket(request, server_side=True)
            super().finish_request(request, client_address)
        except OSError:
            return
        finally:
            if self.tls is not None:
                request.close()
