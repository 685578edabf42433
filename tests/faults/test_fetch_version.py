"""The latest version is what the redirect of BASE/latest names; anything else is refused, with the way out."""

from __future__ import annotations

import pytest

from pyhelpers.netserve import Answer, HostileServer
from pyhelpers.sandbox import Box
from tests.faults.fetching import GOOD, LIST, PAGE, RELEASE, TOOLS, VERIFYING, Fetch, serving, to
from tests.scripts.install import FRESH, NAME

CHECKED = {f"{RELEASE}/{NAME}": GOOD, f"{RELEASE}/checksums.txt": Answer(body=LIST)}
LEADS: dict[
    str, dict[str, Answer | list[Answer]]
] = {  # what BASE/latest leads to, directly or by another name of the project
    "an absolute redirect": {"/releases/latest": to("{url}/releases/tag/v0.1.0")},
    "a relative redirect": {"/releases/latest": to("tag/v0.1.0")},
    "a query behind it": {"/releases/latest": to("/releases/tag/v0.1.0?x=/v9.9.9#y")},
    "a moved project": {"/releases/latest": to("/new/latest", 301), "/new/latest": to("/new/tag/v0.1.0")},
    "a server that recovers": {"/releases/latest": [Answer(503), to("tag/v0.1.0", 307)]},
}


@pytest.mark.parametrize("case", LEADS)
@pytest.mark.parametrize("tool", VERIFYING)
def test_the_redirect_names_the_version(box: Box, tool: str, case: str) -> None:
    fetch = Fetch(box, tool)
    with HostileServer(box.netns, {**CHECKED, **LEADS[case]}) as server:
        if case == "an absolute redirect":
            server.answers["/releases/latest"] = [to(f"{server.url}/releases/tag/v0.1.0")]
        result = fetch("--base-url", f"{server.url}/releases/")
        assert server.paths()[-2:] == [f"{RELEASE}/{NAME}", f"{RELEASE}/checksums.txt"], result.stderr
    assert (result.code, fetch.paths()) == (0, FRESH), result.stderr


BAD = {  # what BASE/latest answers -> what the error says of it
    "a word": (to("/releases/tag/stable"), "/releases/tag/stable: HTTP status 404, there is no such file"),
    "a page of all releases": (to("/releases"), "/releases: HTTP status 404"),
    "half a version": (to("/releases/tag/v1.2"), "/releases/tag/v1.2: HTTP status 404"),
    "a version in the query": (to("/login?to=/releases/tag/v0.1.0"), "/login: HTTP status 404"),
    "no redirect": (Answer(body=PAGE), "(HTTP status 200)"),
    "an empty redirect": (Answer(302), "(HTTP status 302)"),
    "403": (Answer(403), "(HTTP status 403, access is denied)"),
    "404": (Answer(404), "(HTTP status 404, there is no such file)"),
    "429": (
        Answer(429, headers={"Retry-After": "600"}),
        "(HTTP status 429, too many requests from this address, it asks",
    ),
    "503": (Answer(503, headers={"Retry-After": "0"}), "(HTTP status 503"),
    "a portal": (to("http://portal.example/v1.2.3"), "(HTTP status 302, which leads to http://portal.example/v1.2.3)"),
    "a closed connection": (Answer(hang_up=True), "/releases/latest does not lead to a release ("),
}


@pytest.mark.parametrize("case", BAD)
@pytest.mark.parametrize("tool", VERIFYING)
def test_what_is_no_version_is_not_used_as_one(box: Box, tool: str, case: str) -> None:
    answer, words = BAD[case]
    fetch = Fetch(box, tool)
    with serving(box, GOOD, latest=answer) as server:
        line = fetch.refused(fetch("--base-url", f"{server.url}/releases"), "E_VERSION", 5)
        assert not [path for path in server.paths() if "download" in path]
    assert f"version: {server.url}/releases/latest does not lead to a release (" in line
    assert words in line and "; pin one with --version [E_VERSION]" in line


def test_a_tool_that_cannot_see_a_redirect_says_what_to_do(box: Box) -> None:
    fetch = Fetch(box, "busybox")
    with serving(box, GOOD, latest=to("tag/v0.1.0")) as server:
        result = fetch("--base-url", f"{server.url}/releases", "--sha256", "0" * 64)
        assert server.requests == []
    assert "cannot ask for the latest version; pin one with --version" in fetch.refused(result, "E_TOOL", 4)


@pytest.mark.parametrize("tool", TOOLS)
def test_a_version_that_is_given_is_not_asked_for(box: Box, tool: str) -> None:
    fetch = Fetch(box, tool)
    with serving(box, GOOD, latest=to("tag/v9.9.9")) as server:
        assert fetch.release(server).code == 0
        assert server.paths() == [f"{RELEASE}/{NAME}"]
