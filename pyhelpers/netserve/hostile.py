"""A server that answers as badly as servers, proxies and portals do: each path has a list of answers, in order."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path

from pyhelpers.netserve.listener import ADDRESS, Listener, NetworkNamespace, bound_socket

BLOCK = 64 << 10


@dataclass(frozen=True)
class Answer:
    """One answer.

    body: bytes, or a file. length: the Content-Length that is claimed (None: the true one, -1: none at all).
    rate: bytes a second (0: as fast as it goes). endless: the body is repeated until the client has enough.
    silent: no answer ever comes; hang_up: the connection is closed instead.
    """

    status: int = 200
    body: bytes | Path = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    length: int | None = None
    rate: int = 0
    endless: bool = False
    silent: bool = False
    hang_up: bool = False

    def content(self) -> bytes:
        """The body's bytes."""
        return self.body.read_bytes() if isinstance(self.body, Path) else self.body


@dataclass(frozen=True)
class Seen:
    """One request that was made; the names of headers are in small letters."""

    method: str
    path: str
    headers: Mapping[str, str]


class HostileServer:
    """For use in a `with`. The last answer of a path is repeated; a path without answers gives 404.

    A path is looked up with its query, then without. `requests` holds every request, `sent` the bytes of all bodies.
    """

    def __init__(
        self,
        netns: NetworkNamespace,
        answers: Mapping[str, Answer | Sequence[Answer]],
        tls: ssl.SSLContext | None = None,
        name: str = ADDRESS,
    ) -> None:
        """netns: a descriptor or path of the network namespace; name: the host in `url`. Raises OSError."""
        self.answers = {path: [one] if isinstance(one, Answer) else list(one) for path, one in answers.items()}
        self.requests: list[Seen] = []
        self.sent = 0
        self.ended = threading.Event()
        self._server = Listener(bound_socket(netns, 0), _Handler, self, tls)
        self.port: int = self._server.server_address[1]
        self.url = f"{'http' if tls is None else 'https'}://{name}:{self.port}"

    def __enter__(self) -> HostileServer:
        self._server.start()
        return self

    def __exit__(self, *failure: object) -> None:
        self.ended.set()
        self._server.stop()

    def paths(self) -> list[str]:
        """The path of each request."""
        return [seen.path for seen in self.requests]

    def next(self, path: str) -> Answer:
        """The answer to the next request for a path."""
        answers = self.answers.get(path) or self.answers.get(path.partition("?")[0]) or [Answer(404)]
        return answers.pop(0) if len(answers) > 1 else answers[0]


class _Handler(BaseHTTPRequestHandler):
    server: Listener
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        owner: HostileServer = self.server.owner
        headers = {name.lower(): value for name, value in self.headers.items()}
        owner.requests.append(Seen(self.command, self.path, headers))
        answer = owner.next(self.path)
        self.close_connection = True
        if answer.silent:
            owner.ended.wait()
        if answer.silent or answer.hang_up:
            return
        body = answer.content()
        self._head(answer, len(body))
        while self._send(body, answer.rate) and answer.endless:
            pass

    def _head(self, answer: Answer, size: int) -> None:
        self.send_response(answer.status)
        length = size if answer.length is None else answer.length
        if length >= 0 and not answer.endless:
            self.send_header("Content-Length", str(length))
        for name, value in {"Connection": "close", **answer.headers}.items():
            self.send_header(name, value)
        self.end_headers()

    def _send(self, body: bytes, rate: int) -> bool:
        """Send the body once, RATE bytes a second. False when the server ends meanwhile."""
        owner: HostileServer = self.server.owner
        step = max(1, rate // 10) if rate else BLOCK
        for at in range(0, len(body), step):
            if owner.ended.wait(step / rate if rate else 0):
                return False
            block = body[at : at + step]
            self.wfile.write(block)
            owner.sent += len(block)
        return not owner.ended.is_set()

    def log_message(self, format: str, *args: object) -> None:
        """Requests are kept in `requests`, not printed."""
