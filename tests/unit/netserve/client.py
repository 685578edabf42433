"""A namespace of the network for a test, and a plain HTTP client inside it."""

from __future__ import annotations

import http.client
import os
import ssl
import threading
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import pytest

from pyhelpers.netserve.listener import inside
from pyhelpers.sandbox import kernel
from pyhelpers.sandbox.jail import _loopback_up


class Reply(NamedTuple):
    """What came back; the names of headers are in small letters."""

    status: int
    body: bytes
    headers: Mapping[str, str]


def new_netns() -> int:
    """A network namespace whose loopback interface is up, as a descriptor."""
    made: list[int] = []

    def make() -> None:
        kernel.unshare(kernel.NEWNET)
        _loopback_up()
        made.append(os.open("/proc/thread-self/ns/net", os.O_RDONLY))

    thread = threading.Thread(target=make)
    thread.start()
    thread.join()
    return made[0]


@pytest.fixture
def netns() -> Iterator[int]:
    """A fresh one."""
    fd = new_netns()
    yield fd
    os.close(fd)


def fetch(
    netns: int,
    port: int,
    path: str,
    method: str = "GET",
    headers: Mapping[str, str] | None = None,
    trust: bytes = b"",
    tunnel: tuple[str, int] | None = None,
) -> Reply:
    """Ask 127.0.0.1:PORT inside NETNS; redirects are not followed. Raises what http.client does.

    trust: the CA whose certificates are taken: https. tunnel: the host that is asked through the proxy at PORT.
    """

    def request() -> Reply:
        context = ssl.create_default_context(cadata=trust.decode()) if trust else None
        kind = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        if context is not None:
            kind = http.client.HTTPSConnection("127.0.0.1", port, timeout=5, context=context)
        if tunnel is not None:
            kind.set_tunnel(*tunnel, headers=dict(headers or {}))
        try:
            kind.request(method, path, headers=dict(headers or {}))
            answer = kind.getresponse()
            return Reply(answer.status, answer.read(), {name.lower(): value for name, value in answer.getheaders()})
        finally:
            kind.close()

    return inside(netns, request)
