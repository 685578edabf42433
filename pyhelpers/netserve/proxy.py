"""An HTTP proxy inside another network namespace: CONNECT for https, whole URLs for http. It reaches loopback only."""

from __future__ import annotations

import base64
import contextlib
import select
import socket
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler
from urllib.parse import urlsplit

from pyhelpers.netserve.listener import ADDRESS, Listener, NetworkNamespace, bound_socket, enter


class Proxy:
    """For use in a `with`. `requests` holds (method, target) of every request, also of those that it refused."""

    def __init__(
        self, netns: NetworkNamespace, names: Mapping[str, int] | None = None, login: str = "", refuse: int = 0
    ) -> None:
        """names: host name -> port on loopback behind it, whatever port was asked for; other hosts give 502.

        login: the `user:password` that is wanted, else 407. refuse: a status that every request gets.
        """
        self.netns, self.names, self.login, self.refuse = netns, dict(names or {}), login, refuse
        self.requests: list[tuple[str, str]] = []
        self._server = Listener(bound_socket(netns, 0), _Handler, self)
        self.port: int = self._server.server_address[1]
        self.url = f"http://{login}{'@' if login else ''}{ADDRESS}:{self.port}"

    def __enter__(self) -> Proxy:
        self._server.start()
        return self

    def __exit__(self, *failure: object) -> None:
        self._server.stop()

    def refusal(self, header: str | None) -> int:
        """The status that a request with this Proxy-Authorization gets, 0 when it may pass."""
        wanted = f"Basic {base64.b64encode(self.login.encode()).decode()}"
        if self.login and header != wanted:
            return 407
        return self.refuse

    def connect(self, host: str, port: int) -> socket.socket:
        """A connection to what stands for a host, made inside the namespace. Raises OSError."""
        if host == ADDRESS or host in self.names:
            enter(self.netns)
            return socket.create_connection((ADDRESS, self.names.get(host, port)))
        raise OSError(f"no such host: {host}")


class _Handler(BaseHTTPRequestHandler):
    server: Listener

    def do_CONNECT(self) -> None:
        host, _, port = self.path.rpartition(":")
        upstream = self._open(host, int(port))
        if upstream is not None:
            with upstream:
                self.send_response(200, "Connection established")
                self.end_headers()
                _carry(self.connection, upstream)

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        upstream = self._open(url.hostname or "", url.port or 80)
        if upstream is not None:
            with upstream:
                path = url._replace(scheme="", netloc="").geturl() or "/"
                upstream.sendall(f"GET {path} HTTP/1.0\r\nHost: {url.netloc}\r\n\r\n".encode())
                while block := upstream.recv(1 << 16):
                    self.wfile.write(block)

    def _open(self, host: str, port: int) -> socket.socket | None:
        """Note the request; the way on, or None after a refusal was sent."""
        owner: Proxy = self.server.owner
        owner.requests.append((self.command, self.path))
        self.close_connection = True
        status = owner.refusal(self.headers["Proxy-Authorization"])
        if not status:
            with contextlib.suppress(OSError):
                return owner.connect(host, port)
        self.send_response(status or 502)
        self.send_header("Content-Length", "0")
        self.end_headers()
        return None

    def log_message(self, format: str, *args: object) -> None:
        """Requests are kept in `requests`, not printed."""


def _carry(one: socket.socket, other: socket.socket) -> None:
    """Hand on what either side sends until one of them ends."""
    ends = {one: other, other: one}
    while True:
        for ready in select.select(list(ends), [], [])[0]:
            block = ready.recv(1 << 16)
            if not block:
                return
            ends[ready].sendall(block)
