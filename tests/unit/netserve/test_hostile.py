"""The hostile server misbehaves in exactly the way that it was told to."""

from __future__ import annotations

import http.client
import ssl
import time

import pytest

from pyhelpers.netserve import Answer, HostileServer
from pyhelpers.netserve.authority import Authority
from tests.unit.netserve.client import fetch, netns

__all__ = ["netns"]


def test_answers_come_in_order_and_the_last_one_stays(netns: int) -> None:
    with HostileServer(
        netns, {"/x": [Answer(500), Answer(429, headers={"Retry-After": "7"}), Answer(body=b"yes")]}
    ) as server:
        replies = [fetch(netns, server.port, "/x") for _ in range(4)]
    assert [reply.status for reply in replies] == [500, 429, 200, 200]
    assert replies[1].headers["retry-after"] == "7" and replies[3].body == b"yes"


def test_a_path_is_found_without_its_query_and_an_unknown_one_is_404(netns: int) -> None:
    with HostileServer(netns, {"/x": Answer(), "/x?a": Answer(201)}) as server:
        assert [fetch(netns, server.port, path).status for path in ("/x?b", "/x?a", "/y")] == [200, 201, 404]
        assert server.paths() == ["/x?b", "/x?a", "/y"]
        assert server.requests[0].headers["host"] == f"127.0.0.1:{server.port}"


def test_a_short_body_ends_before_its_length(netns: int) -> None:
    server = HostileServer(netns, {"/x": Answer(body=b"abc", length=9)})
    with server, pytest.raises(http.client.IncompleteRead) as failure:
        fetch(netns, server.port, "/x")
    assert failure.value.partial == b"abc"


def test_without_a_length_the_end_is_the_end_of_the_connection(netns: int) -> None:
    with HostileServer(netns, {"/x": Answer(body=b"abc", length=-1)}) as server:
        reply = fetch(netns, server.port, "/x")
    assert reply.body == b"abc" and "content-length" not in reply.headers


def test_a_slow_body_takes_its_time(netns: int) -> None:
    with HostileServer(netns, {"/x": Answer(body=bytes(50), rate=100)}) as server:
        start = time.monotonic()
        assert fetch(netns, server.port, "/x").body == bytes(50)
    assert time.monotonic() - start >= 0.5


def test_no_answer_is_one_too(netns: int) -> None:
    with HostileServer(netns, {"/x": Answer(hang_up=True)}) as server, pytest.raises(http.client.RemoteDisconnected):
        fetch(netns, server.port, "/x")


def test_https_is_for_those_who_trust_the_ca(netns: int) -> None:
    authority = Authority()
    with HostileServer(netns, {"/x": Answer()}, authority.server("127.0.0.1")) as server:
        assert server.url.startswith("https://127.0.0.1:")
        assert fetch(netns, server.port, "/x", trust=authority.pem).status == 200
        with pytest.raises(ssl.SSLCertVerificationError):
            fetch(netns, server.port, "/x", trust=Authority().pem)
    server = HostileServer(netns, {"/x": Answer()}, authority.server("127.0.0.1", expired=True))
    with server, pytest.raises(ssl.SSLCertVerificationError, match="expired"):
        fetch(netns, server.port, "/x", trust=authority.pem)
