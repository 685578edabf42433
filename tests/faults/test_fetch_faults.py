"""What HTTP servers do wrong, met with each tool that can download: named, tried again where that may help."""

from __future__ import annotations

import time

import pytest

from pyhelpers.netserve import Answer, HostileServer
from pyhelpers.sandbox import Box
from tests.faults.fetching import ARCHIVE, GOOD, LIMITS, PAGE, RELEASE, SUM, TOOLS, VERIFYING, Fetch, serving, to
from tests.scripts.install import FRESH, NAME, PATH, SCRIPT

WHOLE = ARCHIVE.read_bytes()
SHORT = Answer(body=WHOLE[:5000], length=len(WHOLE))


def wait(seconds: str) -> Answer:
    """A server that wants to be left alone."""
    return Answer(429, headers={"Retry-After": seconds})


# The answer that always comes -> error id, exit code, words, requests.
FAULTS: dict[str, tuple[Answer, str, int, str, int]] = {
    "403": (Answer(403), "E_DOWNLOAD", 5, "HTTP status 403, access is denied;", 1),
    "404": (Answer(404), "E_DOWNLOAD", 5, "HTTP status 404, there is no such file;", 1),
    "410": (Answer(410), "E_DOWNLOAD", 5, "HTTP status 410;", 1),
    "429": (wait("0"), "E_DOWNLOAD", 5, "HTTP status 429, too many requests from this address", 3),
    "429 for an hour": (wait("3600"), "E_DOWNLOAD", 5, "from this address, it asks to wait 3600 s;", 1),
    "500": (Answer(500, b"oops", {"Retry-After": "0"}), "E_DOWNLOAD", 5, "HTTP status 500", 3),
    "a portal's page": (Answer(body=PAGE), "E_ARCHIVE", 6, "what came is an HTML page, not an archive", 1),
    "nothing": (Answer(), "E_CHECKSUM", 6, "the archive has the sum e3b0c442", 1),
    "another archive": (Answer(body=WHOLE + b"\0"), "E_CHECKSUM", 6, "the archive has the sum ", 1),
    "a short body": (SHORT, "E_DOWNLOAD", 5, f"{RELEASE}/{NAME}: ", 3),
    "a closed connection": (Answer(hang_up=True), "E_DOWNLOAD", 5, f"{RELEASE}/{NAME}: ", 3),
    "a redirect to nowhere": (Answer(302), "E_DOWNLOAD", 5, "HTTP status 302;", 1),
}

BUSYBOX = {  # it shows nothing of the header of an answer that is no success
    "429 for an hour": (wait("3600"), "E_DOWNLOAD", 5, "HTTP status 429, too many requests from this address;", 3),
}


@pytest.mark.parametrize("case", FAULTS)
@pytest.mark.parametrize("tool", TOOLS)
def test_a_fault_is_named_and_changes_nothing(box: Box, tool: str, case: str) -> None:
    answer, error_id, code, words, requests = (FAULTS | BUSYBOX if tool == "busybox" else FAULTS)[case]
    fetch = Fetch(box, tool)
    with serving(box, answer) as server:
        result = fetch.release(server)
        assert server.paths() == [f"{RELEASE}/{NAME}"] * requests, result.stderr
    assert words in fetch.refused(result, error_id, code)


PASSING = {
    "429, then": wait("1"),
    "500, then": Answer(500),
    "503 with a date, then": Answer(503, headers={"retry-after": "Fri, 31 Dec 1999 23:59:59 GMT"}),
    "a short body, then": SHORT,
    "a closed connection, then": Answer(hang_up=True),
}


@pytest.mark.parametrize("case", PASSING)
@pytest.mark.parametrize("tool", TOOLS)
def test_what_passes_is_tried_again(box: Box, tool: str, case: str) -> None:
    fetch = Fetch(box, tool)
    with serving(box, PASSING[case], GOOD) as server:
        start = time.monotonic()
        result = fetch.release(server)
        assert (result.code, len(server.requests)) == (0, 2), result.stderr
    assert ": trying again in 1 s\n" in result.stderr
    assert time.monotonic() - start >= 1
    assert fetch.paths() == FRESH


@pytest.mark.parametrize("tool", VERIFYING)
def test_a_server_is_left_alone_for_as_long_as_it_asks(box: Box, tool: str) -> None:
    with serving(box, wait("3"), GOOD) as server:
        start = time.monotonic()
        assert Fetch(box, tool).release(server).code == 0
    assert time.monotonic() - start >= 3


LIMITED = {
    "a slow body": (Answer(body=bytes(4000), rate=20), "it took longer than 2 s;", 1),
    "an endless body": (Answer(body=bytes(64 << 10), endless=True), "it is larger than 1 MiB;", 1),
    "no answer": (Answer(silent=True), f"{RELEASE}/{NAME}: ", 3),
}


@pytest.mark.parametrize("case", LIMITED)
@pytest.mark.parametrize("tool", TOOLS)
def test_a_download_has_limits(box: Box, tool: str, case: str) -> None:
    answer, words, requests = LIMITED[case]
    if case == "no answer" and tool == "busybox":
        words, requests = "it took longer than 2 s;", 1  # -T crashes some builds
    fetch = Fetch(box, tool, LIMITS)
    with serving(box, answer) as server:
        start = time.monotonic()
        line = fetch.refused(fetch.release(server), "E_DOWNLOAD", 5)
        assert words in line and len(server.requests) == requests
        assert time.monotonic() - start < 15
        assert server.sent < 20 << 20  # what was on its way in buffers counts


@pytest.mark.parametrize("shell", ["bash", "bash --posix", "dash", "busybox ash"])
def test_no_shell_lets_a_file_grow_beyond_the_limit(box: Box, shell: str) -> None:
    grow = "flexnode_limit_size; exec dd if=/dev/zero bs=4k count=512"
    box.write("/tmp/try", f". {SCRIPT}; flexnode_contract; FLEXNODE_ARCHIVE_LIMIT_MIB=1; {grow}".encode())
    box.run(["sh", "-c", f"{shell} /tmp/try >/tmp/file"], env={"PATH": PATH, "FLEXNODE_SOURCE_ONLY": "1"})
    assert len(box.read("/tmp/file")) == 1 << 20


def test_a_size_that_is_announced_and_too_large_is_not_waited_for(box: Box) -> None:
    fetch = Fetch(box, "curl")
    with serving(box, Answer(body=b"x", length=(256 << 20) + 1)) as server:
        assert "it is larger than 256 MiB;" in fetch.refused(fetch.release(server), "E_DOWNLOAD", 5)


@pytest.mark.parametrize("tool", TOOLS)
def test_a_full_disk_is_not_called_a_network_fault(box: Box, tool: str) -> None:
    fetch = Fetch(box, tool)
    fetch.sh("mount -t tmpfs -o size=64k tmpfs /var/lib")
    with serving(box, GOOD) as server:
        line = fetch.refused(fetch.release(server), "E_STATE", 7)
    assert "no space is left: " in line and "at /var/lib); free some space" in line


@pytest.mark.parametrize("tool", TOOLS)
def test_a_redirect_is_followed_from_loopback_to_loopback(box: Box, tool: str) -> None:
    fetch = Fetch(box, tool)
    with (
        HostileServer(box.netns, {"/store/file": GOOD}) as store,
        serving(box, to(f"{store.url}/store/file")) as server,
    ):
        result = fetch.release(server)
    assert (result.code, fetch.paths()) == (0, FRESH), result.stderr


RELATIVE = {"/x/there": "/x/there", "there": f"{RELEASE}/there", "?part=1": f"{RELEASE}/{NAME}?part=1"}


@pytest.mark.parametrize("location", RELATIVE)
@pytest.mark.parametrize("tool", VERIFYING)
def test_a_relative_redirect_is_followed(box: Box, tool: str, location: str) -> None:
    path = RELATIVE[location]
    with HostileServer(box.netns, {f"{RELEASE}/{NAME}": to(location), path: GOOD}) as server:
        result = Fetch(box, tool).release(server)
        assert server.paths() == [f"{RELEASE}/{NAME}", path], result.stderr
    assert result.code == 0


@pytest.mark.parametrize("location", ["http://example.com/a", "ftp://127.0.0.1/a", "file:///etc/passwd", "//e.com/a"])
@pytest.mark.parametrize("tool", VERIFYING)
def test_a_redirect_that_leaves_loopback_by_http_is_refused(box: Box, tool: str, location: str) -> None:
    fetch = Fetch(box, tool)
    with serving(box, to(location)) as server:
        line = fetch.refused(fetch.release(server), "E_URL", 5)
    assert f"a redirect to {'http:' * location.startswith('//')}{location} is not followed; see where" in line


@pytest.mark.parametrize("tool", VERIFYING)
def test_redirects_in_a_circle_end(box: Box, tool: str) -> None:
    fetch = Fetch(box, tool)
    with serving(box, to(NAME)) as server:
        line = fetch.refused(fetch.release(server), "E_DOWNLOAD", 5)
        assert len(server.requests) == 10
    assert "more than 10 redirects" in line


@pytest.mark.parametrize("tool", VERIFYING)
def test_what_a_server_sends_does_not_reach_the_terminal_raw(box: Box, tool: str) -> None:
    fetch = Fetch(box, tool)
    with serving(box, to("https://example.com/\x1b[2Jhello")) as server:
        result = fetch.release(server)
    fetch.refused(result, "E_URL", 5)
    assert "\x1b" not in result.stderr


@pytest.mark.parametrize("tool", VERIFYING)
def test_brackets_in_a_url_are_no_pattern(box: Box, tool: str) -> None:
    with HostileServer(box.netns, {"/a[1-3].tar.gz": GOOD}) as server:
        result = Fetch(box, tool)("--archive", f"{server.url}/a[1-3].tar.gz?x[]=1", "--sha256", SUM)
        assert server.paths() == ["/a[1-3].tar.gz?x[]=1"], result.stderr
    assert result.code == 0
