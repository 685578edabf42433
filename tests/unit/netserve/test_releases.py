"""The release server is reachable inside the network namespace that it was given, and nowhere else."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from pyhelpers.netserve import ReleaseServer, Request
from tests.unit.netserve.client import fetch, netns, new_netns

__all__ = ["netns"]


@pytest.fixture
def server(netns: int, tmp_path: Path) -> Iterator[ReleaseServer]:
    (tmp_path / "v1.2.3").mkdir()
    (tmp_path / "v1.2.3/agent.tar.gz").write_bytes(b"\x1f\x8b archive")
    (tmp_path / "secret").write_text("not served")
    (tmp_path / "bootstrap.sh").write_text("echo hi\n")
    files = {"/bootstrap.sh": tmp_path / "bootstrap.sh"}
    with ReleaseServer(netns, {"v1.2.3": tmp_path / "v1.2.3"}, "v1.2.3", files) as made:
        yield made


def ask(server: ReleaseServer, netns: int, path: str, method: str = "GET") -> tuple[int, bytes, str | None]:
    """Status, body and Location of a request made inside NETNS; redirects are not followed."""
    answer = fetch(netns, server.port, path, method)
    return answer.status, answer.body, answer.headers.get("location")


def test_latest_redirects_to_the_tag_as_the_official_site_does(server: ReleaseServer, netns: int) -> None:
    assert ask(server, netns, "/releases/latest") == (302, b"", f"{server.url}/releases/tag/v1.2.3")
    assert ask(server, netns, "/releases/tag/v1.2.3")[0] == 200


def test_files_of_a_release_and_single_files_are_served(server: ReleaseServer, netns: int) -> None:
    assert ask(server, netns, "/releases/download/v1.2.3/agent.tar.gz")[:2] == (200, b"\x1f\x8b archive")
    assert ask(server, netns, "/bootstrap.sh?x=1")[:2] == (200, b"echo hi\n")
    assert ask(server, netns, "/bootstrap.sh", "HEAD")[:2] == (200, b"")


@pytest.mark.parametrize(
    "path", ["/", "/releases/download/v9/agent.tar.gz", "/releases/download/v1.2.3/no", "/releases/download/v1.2.3/.."]
)
def test_anything_else_is_not_found(server: ReleaseServer, netns: int, path: str) -> None:
    assert ask(server, netns, path)[0] == 404


def test_no_path_leads_out_of_a_release(server: ReleaseServer, netns: int) -> None:
    for path in ("/releases/download/v1.2.3/../secret", "/releases/download/../secret", "/releases/download/../v1/x"):
        assert ask(server, netns, path)[0] == 404


def test_every_request_is_recorded_with_its_query(server: ReleaseServer, netns: int) -> None:
    assert server.requests == []
    ask(server, netns, "/bootstrap.sh?x=1")
    ask(server, netns, "/none", "HEAD")
    assert server.requests == [Request("GET", "/bootstrap.sh?x=1"), Request("HEAD", "/none")]


def test_the_server_is_not_reachable_from_another_namespace(server: ReleaseServer) -> None:
    other = new_netns()
    try:
        with pytest.raises(ConnectionRefusedError):
            ask(server, other, "/bootstrap.sh")
    finally:
        os.close(other)
    assert server.requests == []


def test_after_a_reboot_it_follows_into_the_new_namespace_at_the_same_url(server: ReleaseServer, netns: int) -> None:
    after = new_netns()
    try:
        server.follow(after)
        assert ask(server, after, "/bootstrap.sh")[:2] == (200, b"echo hi\n")
    finally:
        os.close(after)


def test_at_the_end_the_port_is_closed_and_no_thread_is_left(netns: int) -> None:
    before = threading.active_count()
    with ReleaseServer(netns) as server:
        pass
    assert threading.active_count() == before
    with pytest.raises(ConnectionRefusedError):
        ask(server, netns, "/")


def test_a_namespace_that_cannot_be_entered_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file"):
        ReleaseServer(tmp_path / "none")
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="setns"):
        ReleaseServer(tmp_path / "file")
