"""Lists of sums as servers deliver them: one exact line counts, anything else stops the run."""

from __future__ import annotations

import pytest

from pyhelpers.netserve import Answer
from pyhelpers.sandbox import Box
from tests.faults.fetching import GOOD, LIST, PAGE, SUM, VERIFYING, Fetch, serving
from tests.scripts.install import FRESH, NAME, Install

LINE = LIST.decode()
FINE = {
    "one line": LINE,
    "CRLF": LINE.replace("\n", "\r\n"),
    "a binary marker": LINE.replace("  ", " *"),
    "capitals": LINE.replace(SUM, SUM.upper()),
    "no newline at the end": LINE[:-1],
    "others around it": f"{'0' * 64}  {NAME}.sig\n{LINE}{'1' * 64}  other-{NAME}\r\n",
}
BAD = {
    "a wrong sum": (LINE.replace(SUM, "0" * 64), f"has the sum {SUM}, not {'0' * 64}"),
    "two lines, both right": (LINE * 2, f"has two lines for {NAME}"),
    "two lines, one wrong": (LINE + LINE.replace(SUM, "0" * 64), f"has two lines for {NAME}"),
    "another name": (LINE.replace(NAME, f"x/{NAME}"), f"has no line for {NAME}"),
    "half a sum": (LINE[20:], f"has no SHA-256 sum for {NAME}"),
    "no sum": (f"{NAME}\n", f"has no line for {NAME}"),
    "nothing": ("", f"has no line for {NAME}"),
    "a page": (PAGE.decode(), "what came is an HTML page, not a list of sums"),
}


@pytest.mark.parametrize("case", FINE)
def test_a_list_as_people_make_them_is_understood(install: Install, case: str) -> None:
    with serving(install.box, GOOD, checksums=Answer(body=FINE[case].encode())) as server:
        install.done("--base-url", f"{server.url}/releases", "--version", "v0.1.0")
    assert install.paths() == FRESH


@pytest.mark.parametrize("case", BAD)
@pytest.mark.parametrize("tool", VERIFYING)
def test_a_list_that_does_not_settle_it_stops_the_run(box: Box, tool: str, case: str) -> None:
    text, words = BAD[case]
    fetch = Fetch(box, tool)
    with serving(box, GOOD, checksums=Answer(body=text.encode())) as server:
        result = fetch("--base-url", f"{server.url}/releases", "--version", "v0.1.0")
    assert words in fetch.refused(result, "E_CHECKSUM", 6)


@pytest.mark.parametrize("status", [403, 404, 500])
def test_a_release_whose_list_does_not_come_is_refused(install: Install, status: int) -> None:
    answer = Answer(status, headers={"Retry-After": "0"})
    with serving(install.box, GOOD, checksums=answer) as server:
        result = install("--base-url", f"{server.url}/releases", "--version", "v0.1.0")
    assert f"checksums.txt: HTTP status {status}" in install.refused(result, "E_DOWNLOAD", 5)
