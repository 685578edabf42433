"""The bar of a download: on a terminal, redrawn on one line, wiped in the end; nowhere else."""

from __future__ import annotations

import re

import pytest

from pyhelpers.netserve import Answer
from pyhelpers.sandbox import Box
from tests.faults.fetching import ARCHIVE, GOOD, SUM, TOOLS, Fetch, serving

# Runs a command with a terminal as stdin, stdout and stderr, and prints what it showed.
TERMINAL = "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))"
ON_TERMINAL = ["/usr/bin/env", "python3", "-c", TERMINAL]
SLOW = Answer(body=ARCHIVE, rate=ARCHIVE.stat().st_size)  # a second
BAR = re.compile(r"\rinstall: +(\d+) % of \d+ MiB \[(#*) *\]")


def shown(fetch: Fetch, url: str, *options: str) -> str:
    """What a person at a terminal sees."""
    options = ("--base-url", f"{url}/releases", "--version", "v0.1.0", "--sha256", SUM, *options)
    result = fetch(*options, shell=[*ON_TERMINAL, "/bin/dash"])
    assert result.code == 0, result.stdout
    return result.stdout


@pytest.mark.parametrize("tool", TOOLS)
def test_a_terminal_gets_a_bar_that_grows_and_goes(box: Box, tool: str) -> None:
    with serving(box, SLOW) as server:
        text = shown(Fetch(box, tool), server.url)
    bars = BAR.findall(text)
    percents = [int(percent) for percent, _ in bars]
    assert len(bars) >= 3 and percents == sorted(percents) and percents[0] < percents[-1] <= 100, text
    assert all(len(cells) == int(percent) * 40 // 100 for percent, cells in bars)
    assert re.search(r"\] *\r +\rinstall", text), "wiped before the next message"


def test_a_body_of_unknown_length_shows_how_much_has_come(box: Box) -> None:
    unknown = Answer(body=ARCHIVE, rate=ARCHIVE.stat().st_size, length=-1)
    with serving(box, unknown) as server:
        text = shown(Fetch(box, "curl"), server.url)
    assert re.search(r"\rinstall: \d+ MiB\r", text) and "%" not in text


@pytest.mark.parametrize("options", [["--quiet"], []])
def test_without_a_terminal_or_with_quiet_there_is_no_bar(box: Box, options: list[str]) -> None:
    fetch = Fetch(box, "curl")
    with serving(box, SLOW, GOOD) as server:
        if options:
            assert shown(fetch, server.url, *options) == ""
        else:
            assert "\r" not in fetch.release(server).stderr


def test_a_bar_never_reaches_the_transcript(box: Box) -> None:
    fetch = Fetch(box, "curl")
    with serving(box, SLOW) as server:
        assert BAR.search(shown(fetch, server.url, "--log", "/root/log"))
    assert b"\r" not in box.read("/root/log")


def test_ctrl_c_at_the_bar_stops_at_once_and_leaves_nothing(box: Box) -> None:
    fetch = Fetch(box, "curl")
    with serving(box, Answer(body=bytes(100 << 10), rate=1000)) as server:
        command = f"dash {fetch.script} --base-url {server.url}/releases --version v0.1.0; echo status $?"
        typed = (
            "import os, pty, sys\n"
            "pid, fd = pty.fork()\n"
            "pid or os.execv('/bin/sh', ['sh', '-c', 'trap : INT; ' + sys.argv[1]])\n"
            "text = b''\n"
            "while b'MiB' not in text: text += os.read(fd, 999)\n"
            "os.write(fd, b'\\x03')\n"
            "try:\n"
            "    while block := os.read(fd, 999): text += block\n"
            "except OSError: pass\n"
            "print(text.decode())\n"
        )
        result = box.run(["python3", "-c", typed, command])
    assert "stopped by SIGINT\r\n" in result.stdout and "status 130" in result.stdout, result
    assert result.seconds < 10
    assert fetch.paths() == []
