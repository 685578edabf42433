"""Serves releases and files on the loopback interface of another network namespace (a sandbox's, a host's).

A short-lived thread enters that namespace and binds; the socket stays in it, whoever serves it. So nothing has to
be installed or run inside, and the machine's own network is not touched.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import BinaryIO, NamedTuple

from pyhelpers.sandbox import kernel

ADDRESS = "127.0.0.1"
NetworkNamespace = int | str | Path


class Request(NamedTuple):
    """One request that was made."""

    method: str
    path: str


class ReleaseServer:
    """A server in the official layout, for use in a `with`.

    `/releases/latest` redirects to `/releases/tag/LATEST`; `/releases/download/VERSION/NAME` is the file NAME of that
    version's directory; FILES (path in the URL -> file) are served too. Files are read at each request.
    """

    def __init__(
        self,
        netns: NetworkNamespace,
        releases: Mapping[str, Path] | None = None,
        latest: str = "",
        files: Mapping[str, Path] | None = None,
    ) -> None:
        """`netns`: a descriptor or path of the network namespace. Raises OSError when it cannot be entered."""
        self.releases, self.latest, self.files = dict(releases or {}), latest, dict(files or {})
        self.requests: list[Request] = []
        self._servers = [_Server(bound_socket(netns, 0), self)]
        self.port: int = self._servers[0].server_address[1]
        self.url = f"http://{ADDRESS}:{self.port}"

    def follow(self, netns: NetworkNamespace) -> None:
        """Serve at the same URL in one more namespace: each boot of a host makes a new one."""
        server = _Server(bound_socket(netns, self.port), self)
        self._servers.append(server)
        server.start()

    def __enter__(self) -> ReleaseServer:
        for server in self._servers:
            server.start()
        return self

    def __exit__(self, *failure: object) -> None:
        for server in self._servers:
            server.stop()

    def find(self, path: str) -> Path | None:
        """The file behind a path of the URL, None when there is none."""
        if path in self.files:
            return self.files[path]
        found = re.fullmatch(r"/releases/download/([^/]+)/([^/]+)", path)
        if found is None or found[1] not in self.releases or found[2] == "..":
            return None
        return self.releases[found[1]] / found[2]


def bound_socket(netns: NetworkNamespace, port: int) -> socket.socket:
    """A TCP socket that listens on 127.0.0.1:PORT inside the network namespace (0: any free port)."""
    made: list[socket.socket | BaseException] = []

    def bind() -> None:
        try:
            fd = netns if isinstance(netns, int) else os.open(netns, os.O_RDONLY | os.O_CLOEXEC)
            try:
                kernel.setns(fd, kernel.NEWNET)
            finally:
                if not isinstance(netns, int):
                    os.close(fd)
            made.append(socket.create_server((ADDRESS, port)))
        except BaseException as error:
            made.append(error)

    thread = threading.Thread(target=bind)  # the namespace belongs to the thread, and ends with it
    thread.start()
    thread.join()
    if isinstance(made[0], BaseException):
        raise made[0]
    return made[0]


class _Server(ThreadingHTTPServer):
    """The standard library's server over a socket that was bound elsewhere."""

    daemon_threads = True

    def __init__(self, bound: socket.socket, owner: ReleaseServer) -> None:
        super().__init__(bound.getsockname(), _Handler, bind_and_activate=False)
        self.socket.close()
        self.socket, self.owner = bound, owner
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        self._thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        if self._thread is not None:
            self.shutdown()
            self._thread.join()
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        owner = self.server.owner
        path = self.path.partition("?")[0]
        owner.requests.append(Request(self.command, self.path))
        if path == "/releases/latest" and owner.latest:
            self._head(302, 0, {"Location": f"{owner.url}/releases/tag/{owner.latest}"})
        elif path == f"/releases/tag/{owner.latest}":
            self._head(200, 0)
        elif (file := owner.find(path)) is not None and file.is_file():
            with file.open("rb") as content:
                self._send(content, file.stat().st_size)
        else:
            self._head(404, 0)

    do_HEAD = do_GET

    def _send(self, content: BinaryIO, size: int) -> None:
        self._head(200, size)
        if self.command == "GET":
            shutil.copyfileobj(content, self.wfile)

    def _head(self, status: int, size: int, headers: Mapping[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(size), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Requests are kept in `requests`, not printed."""
