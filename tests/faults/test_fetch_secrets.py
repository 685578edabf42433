"""The secret of a URL reaches the server and nobody else: no argument, no environment of a child, no message."""

from __future__ import annotations

import re

import pytest

from pyhelpers.netserve import Answer, HostileServer
from pyhelpers.sandbox import Box
from tests.faults.fetching import GOOD, LIST, SUM, TOOLS, VERIFYING, Fetch, serving, to
from tests.scripts.install import NAME

SECRET = "hush5f2e"
STRACE = ["strace", "-f", "-qq", "-v", "-s", "100000", "-e", "trace=execve", "-o", "/root/calls"]


def watched(fetch: Fetch, url: str, *options: str) -> str:
    """Run install.sh with URL in the environment -> every program that it started, with arguments and environment.

    The first line, the shell that is given the environment, is left out.
    """
    result = fetch(
        "--verbose",
        "--log",
        "/root/log",
        *options,
        shell=[*STRACE, "/bin/dash"],
        env={"AKS_FLEX_NODE_DOWNLOAD_URL": url},
    )
    assert result.code == 0, result.stderr
    assert SECRET not in result.stdout + result.stderr + fetch.sh("cat /root/log")
    return "".join(fetch.sh("cat /root/calls").splitlines(keepends=True)[1:])


@pytest.mark.parametrize("tool", VERIFYING)
def test_no_child_sees_the_secret_of_a_url(box: Box, tool: str) -> None:
    fetch = Fetch(box, tool)
    with serving(box) as server:
        server.answers = {
            "/a/x.tar.gz": [to(f"/b/x.tar.gz?sig={SECRET}")],
            "/b/x.tar.gz": [GOOD],
            "/a/checksums.txt": [Answer(body=LIST.replace(NAME.encode(), b"x.tar.gz"))],
        }
        calls = watched(fetch, f"{server.url.replace('//', f'//joe:{SECRET}@')}/a/x.tar.gz?sig={SECRET}")
        assert server.paths()[0] == f"/a/x.tar.gz?sig={SECRET}" and len(server.requests) == 3
        assert "authorization" in server.requests[0].headers
    assert f'"{tool}"' in calls  # else nothing was looked at
    assert SECRET not in calls
    assert "AKS_FLEX_NODE" not in calls


def test_busybox_wget_would_show_it_and_is_not_used(box: Box) -> None:
    fetch = Fetch(box, "busybox")
    with HostileServer(box.netns, {"/x": GOOD}) as server:
        for url in (f"{server.url}/x?sig={SECRET}", f"{server.url.replace('//', f'//joe:{SECRET}@')}/x"):
            line = fetch.refused(fetch("--archive", url, "--sha256", SUM), "E_TOOL", 4)
            assert "would show the URL's secret to every user; install curl" in line and SECRET not in line
        assert server.requests == []


FAILURES = {
    "403": [Answer(403)],
    "500": [Answer(500, headers={"Retry-After": "0"})],
    "a short body": [Answer(body=b"x", length=9, headers={"Retry-After": "0"}), Answer(404)],
    "a page": [Answer(body=b"<html>")],
    "a redirect that is refused": [to(f"http://joe:{SECRET}@example.com/?sig={SECRET}")],
    "a redirect that fails": [to(f"/y?sig={SECRET}")],
    "a closed connection": [Answer(hang_up=True), Answer(404)],
}


@pytest.mark.parametrize("case", FAILURES)
@pytest.mark.parametrize("tool", VERIFYING)
def test_an_error_shows_the_url_without_its_secret(box: Box, tool: str, case: str) -> None:
    fetch = Fetch(box, tool)
    with HostileServer(box.netns, {"/x": FAILURES[case]}) as server:
        url = f"{server.url.replace('//', f'//joe:{SECRET}@')}/x?sig={SECRET}#{SECRET}"
        result = fetch("--archive", url, "--verbose", "--log", "/root/log")
    assert result.code in (5, 6)
    assert SECRET not in result.stderr + fetch.sh("cat /root/log")
    assert f"downloading {server.url}/x\n" in result.stderr


@pytest.mark.parametrize("tool", TOOLS)
def test_the_transcript_holds_what_was_said_and_is_appended(box: Box, tool: str) -> None:
    fetch = Fetch(box, tool)
    with serving(box, GOOD) as server:
        options = ("--base-url", f"{server.url}/releases", "--version", "v0.1.0", "--sha256", SUM, "--log", "/root/log")
        said = [fetch(*options).stderr, fetch(*options).stderr]
    log = fetch.sh("cat /root/log")
    for line in "".join(said).splitlines():
        assert f"{line}\n" in log
    assert len(re.findall("installed v0.1.0|nothing to do", log)) == 2


def test_a_plan_shows_no_secret(box: Box) -> None:
    fetch = Fetch(box, "curl")
    result = fetch("--plan", "--archive", f"https://joe:{SECRET}@example.com/x?sig={SECRET}")
    assert "would take the agent from https://example.com/x\n" in result.stdout
    assert SECRET not in result.stdout + result.stderr
