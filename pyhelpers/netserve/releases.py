"""Serves releases and files inside another network namespace, in the layout of the official site."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import BinaryIO, NamedTuple

from pyhelpers.netserve.listener import ADDRESS, Listener, NetworkNamespace, bound_socket


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
        self._servers = [Listener(bound_socket(netns, 0), _Handler, self)]
        self.port: int = self._servers[0].server_address[1]
        self.url = f"http://{ADDRESS}:{self.port}"

    def follow(self, netns: NetworkNamespace) -> None:
        """Serve at the same URL in one more namespace: each boot of a host makes a new one."""
        server = Listener(bound_socket(netns, self.port), _Handler, self)
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


class _Handler(BaseHTTPRequestHandler):
    server: Listener
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        owner: ReleaseServer = self.server.owner
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
