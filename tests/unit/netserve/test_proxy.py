"""The proxy hands on what it is asked for, notes it, and refuses as it was told to."""

from __future__ import annotations

import base64

import pytest

from pyhelpers.netserve import Answer, HostileServer, Proxy
from pyhelpers.netserve.authority import Authority
from tests.unit.netserve.client import fetch, netns

__all__ = ["netns"]


def test_a_whole_url_is_fetched_from_the_server_behind_the_name(netns: int) -> None:
    with HostileServer(netns, {"/x": Answer(body=b"yes")}) as server, Proxy(netns, {"a.example": server.port}) as proxy:
        assert fetch(netns, proxy.port, "http://a.example/x?q").body == b"yes"
        assert (server.paths(), proxy.requests) == (["/x?q"], [("GET", "http://a.example/x?q")])


def test_a_tunnel_carries_tls_that_the_proxy_cannot_read(netns: int) -> None:
    authority = Authority()
    answers = {"/x": Answer(body=b"yes" * 99999)}
    server = HostileServer(netns, answers, authority.server("a.example"))
    with server, Proxy(netns, {"a.example": server.port}) as proxy:
        reply = fetch(netns, proxy.port, "/x", trust=authority.pem, tunnel=("a.example", 443))
        assert proxy.requests == [("CONNECT", "a.example:443")]
    assert reply.body == b"yes" * 99999


def test_an_unknown_host_is_a_bad_gateway(netns: int) -> None:
    with Proxy(netns) as proxy:
        assert fetch(netns, proxy.port, "http://b.example/").status == 502
        with pytest.raises(OSError, match="502"):
            fetch(netns, proxy.port, "/", tunnel=("b.example", 443))


def test_a_login_is_asked_for(netns: int) -> None:
    login = {"Proxy-Authorization": "Basic " + base64.b64encode(b"joe:hush").decode()}
    with HostileServer(netns, {"/": Answer()}) as server, Proxy(netns, {"a": server.port}, login="joe:hush") as proxy:
        assert proxy.url == f"http://joe:hush@127.0.0.1:{proxy.port}"
        assert fetch(netns, proxy.port, "http://a/").status == 407
        assert fetch(netns, proxy.port, "http://a/", headers=login).status == 200


def test_it_refuses_what_it_is_told_to(netns: int) -> None:
    with Proxy(netns, {"a": 1}, refuse=403) as proxy:
        assert fetch(netns, proxy.port, "http://a/").status == 403
