"""Faults in getting the artifact that users of comparable installers reported; each name carries project and number.

What is tried here in one or two ways is swept through in the other test_fetch files.
"""

from __future__ import annotations

import re

import pytest

from pyhelpers.netserve import Answer, HostileServer
from pyhelpers.sandbox import Box
from tests.faults.fetching import GOOD, LIST, PAGE, SUM, VERIFYING, Fetch, serving, to
from tests.scripts.install import FRESH, ROOT_BINARY, Install, archive, binary

LINE = re.compile(r"install: error: [a-z]+: [^;]+; [^;]+ \[E_[A-Z_]+\]")


@pytest.mark.parametrize(
    "answer", [Answer(503, headers={"Retry-After": "0"}), to("/releases/tag/stable"), Answer(hang_up=True)]
)
@pytest.mark.parametrize("tool", VERIFYING)
def test_k3s_10578_2531_5326_6033_11974_a_resolver_that_is_down_gives_no_version(
    box: Box, tool: str, answer: Answer
) -> None:
    fetch = Fetch(box, tool)
    with serving(box, GOOD, latest=answer) as server:
        line = fetch.refused(fetch("--base-url", f"{server.url}/releases"), "E_VERSION", 5)
        assert not [path for path in server.paths() if "/download/" in path]
    assert f"{server.url}/releases/latest" in line and "pin one with --version" in line
    assert "HTTP status " in line or answer.hang_up


STRICT = {"dash": ["dash", "-eu"], "bash": ["bash", "-eu", "-o", "pipefail"], "ash": ["busybox", "ash", "-eu"]}
SILENT_ENDS = {  # how to run it -> the error
    "no network": (["--version", "v0.1.0"], "E_DOWNLOAD"),
    "no version": (["--base-url", "http://127.0.0.1:1"], "E_VERSION"),
    "no such file": (["--archive", "/none"], "E_USAGE"),
    "not an archive": (["--archive", "/etc/passwd"], "E_ARCHIVE"),
    "not an agent": (["--binary", "/etc/passwd"], "E_CANDIDATE"),
    "a wrong sum": (["--binary", "/etc/passwd", "--sha256", "0" * 64], "E_CHECKSUM"),
}


@pytest.mark.parametrize("case", SILENT_ENDS)
@pytest.mark.parametrize("shell", STRICT)
def test_k3s_6874_7247_no_run_ends_without_a_line_that_names_step_and_cause(
    install: Install, shell: str, case: str
) -> None:
    options, error_id = SILENT_ENDS[case]
    result = install(*options, shell=STRICT[shell])
    errors = [line for line in result.stderr.splitlines() if "error" in line]
    assert result.code != 0
    assert len(errors) == 1 and LINE.fullmatch(errors[0]) and error_id in errors[0], result.stderr


@pytest.mark.parametrize("shell", STRICT)
def test_k3s_6874_7247_under_strict_options_a_good_run_reaches_its_end(install: Install, shell: str) -> None:
    with serving(install.box, GOOD, checksums=Answer(body=LIST), latest=to("tag/v0.1.0")) as server:
        assert "installed v0.1.0" in install.done("--base-url", f"{server.url}/releases", shell=STRICT[shell]).stderr


@pytest.mark.parametrize("status", [403, 429])
@pytest.mark.parametrize("tool", VERIFYING)
def test_just_1488_vfox_357_the_release_redirect_is_asked_and_a_refusal_is_named(
    box: Box, tool: str, status: int
) -> None:
    fetch = Fetch(box, tool)
    refusal = Answer(status, headers={"Retry-After": "900"})
    with serving(box, refusal, checksums=Answer(body=LIST), latest=[to("tag/v0.1.0"), refusal]) as server:
        for error_id in ("E_DOWNLOAD", "E_VERSION"):  # the archive, then the version
            line = fetch.refused(fetch("--base-url", f"{server.url}/releases"), error_id, 5)
            assert f"HTTP status {status}, " in line
        assert server.paths()[0] == "/releases/latest" and not [path for path in server.paths() if "api" in path]


LOCAL = {"an archive": ["--archive", archive("current")], "a binary": ["--binary", binary("current")]}
STRACE = ["strace", "-f", "-qq", "-e", "trace=%network", "-e", "signal=none", "-o", "/root/calls"]


def internet(install: Install) -> list[str]:
    """The calls of a traced run that have to do with the internet: sockets, and packets by any."""
    return [line for line in install.sh("cat /root/calls").splitlines() if "AF_INET" in line or "NETLINK" in line]


@pytest.mark.parametrize("case", LOCAL)
def test_k3s_7464_a_local_file_is_installed_without_one_network_call(install: Install, case: str) -> None:
    env = {"PATH": "/usr/bin:/bin", "https_proxy": "http://127.0.0.1:1", "AKS_FLEX_NODE_VERSION": "v0.1.0"}
    for options in ([*LOCAL[case], "--plan"], LOCAL[case]):
        result = install.done(*options, shell=[*STRACE, "dash"], env=env)
        assert internet(install) == [], result.stderr
    assert install.paths() == FRESH


def test_k3s_7464_the_trace_would_have_shown_a_network_call(install: Install) -> None:
    install("--base-url", "http://127.0.0.1:1", shell=[*STRACE, "dash"])
    assert [line for line in internet(install) if "connect(" in line]


@pytest.mark.parametrize("tool", VERIFYING)
def test_openshell_590_preflight_246_without_a_tool_for_sums_nothing_is_installed(box: Box, tool: str) -> None:
    fetch = Fetch(box, tool)
    fetch.sh("rm /tmp/few/sha256sum")
    with serving(box, GOOD, checksums=Answer(body=LIST)) as server:
        options = ("--base-url", f"{server.url}/releases", "--version", "v0.1.0")
        for more in ((), ("--sha256", SUM)):
            result = fetch(*options, *more)
            assert "sha256sum is missing; install coreutils" in fetch.refused(result, "E_TOOL", 4)
            assert "verified" not in result.stderr


def test_openshell_590_preflight_246_a_tool_that_fails_is_no_verification(install: Install) -> None:
    install.sh("mkdir /tmp/bad")
    install.box.write("/tmp/bad/sha256sum", b"#!/bin/sh\nexit 0\n", 0o755)
    with serving(install.box, GOOD, checksums=Answer(body=LIST)) as server:
        env = {"PATH": "/tmp/bad:/usr/bin:/bin"}
        result = install("--base-url", f"{server.url}/releases", "--version", "v0.1.0", env=env)
    install.refused(result, "E_CHECKSUM", 6)


def test_openshell_590_preflight_246_the_way_out_says_what_it_is(install: Install) -> None:
    with serving(install.box, GOOD, checksums=Answer(body=b"")) as server:
        result = install.done("--base-url", f"{server.url}/releases", "--version", "v0.1.0", "--insecure-skip-verify")
    warning = "install: warning: the archive is not verified, as --insecure-skip-verify says: whoever altered it runs"
    assert warning in result.stderr
    assert "without a checksum: whoever can alter it" in install.done("--help").stdout


def test_rustup_2885_dotnet_259_the_real_busybox_wget_downloads_and_its_errors_are_understood(box: Box) -> None:
    fetch = Fetch(box, "busybox")
    assert "BusyBox" in fetch.sh("/tmp/few/wget --help 2>&1 | head -1")
    with serving(box, Answer(404), Answer(500), GOOD) as server:
        assert "HTTP status 404, there is no such file" in fetch.refused(fetch.release(server), "E_DOWNLOAD", 5)
        result = fetch.release(server)
    assert (result.code, fetch.paths()) == (0, FRESH), result.stderr
    assert "HTTP status 500: trying again in 1 s" in result.stderr


def test_rustup_2885_dotnet_259_busybox_wget_is_not_trusted_with_certificates(box: Box) -> None:
    fetch = Fetch(box, "busybox")
    line = fetch.refused(fetch("--version", "v0.1.0"), "E_TOOL", 4)
    assert "this wget verifies no certificate; install curl, or give the archive's SHA-256 sum" in line


# A fork of the script that has not become another program yet is the script, which was given the secret.
WATCH = """
import os, subprocess, sys
run = subprocess.Popen(sys.argv[2:])
seen, programs = set(), set()
while run.poll() is None:
    for pid in filter(str.isdigit, os.listdir("/proc")):
        if int(pid) in (os.getpid(), run.pid):
            continue
        for name in ("cmdline", "environ"):
            try:
                text = open(f"/proc/{pid}/{name}", "rb").read()
            except OSError:
                continue
            if name == "cmdline":
                program = text.split(b"\\0")[0]
                programs.add(program)
            if program != sys.argv[2].encode() and sys.argv[1].encode() in text:
                seen.add((name, text))
print(b"curl" in programs or b"wget" in programs, seen)
sys.exit(run.returncode)
"""


@pytest.mark.parametrize("tool", VERIFYING)
def test_falcon_scripts_62_no_process_shows_the_secret_while_it_runs(box: Box, tool: str) -> None:
    fetch = Fetch(box, tool)
    slow = Answer(body=GOOD.body, rate=len(GOOD.content()))
    with HostileServer(box.netns, {"/x.tar.gz": slow}) as server:
        url = f"{server.url.replace('//', '//joe:hush5f2e@')}/x.tar.gz?sig=hush5f2e"
        watch = ["python3", "-c", WATCH, "hush5f2e", "/bin/dash"]
        result = fetch(shell=["/usr/bin/env", *watch], env={"AKS_FLEX_NODE_DOWNLOAD_URL": url})
    assert (result.code, result.stdout) == (0, "True set()\n"), result.stderr


@pytest.mark.parametrize("sum_from", ["--sha256", "--insecure-skip-verify", "checksums.txt"])
@pytest.mark.parametrize("tool", VERIFYING)
def test_captive_portal_a_page_with_status_200_is_called_a_page(box: Box, tool: str, sum_from: str) -> None:
    fetch = Fetch(box, tool)
    options = {"--sha256": ["--sha256", SUM], "--insecure-skip-verify": ["--insecure-skip-verify"], "checksums.txt": []}
    page = Answer(body=PAGE, headers={"Content-Type": "text/html"})
    with serving(box, page, checksums=page) as server:
        result = fetch("--base-url", f"{server.url}/releases", "--version", "v0.1.0", *options[sum_from])
    line = fetch.refused(result, "E_ARCHIVE", 6)
    assert "what came is an HTML page, not an archive; look for a portal or proxy in between" in line


def test_captive_portal_the_installed_agent_survives_one(install: Install) -> None:
    install.done("--archive", archive("next"))
    with serving(install.box, Answer(body=PAGE)) as server:
        install.failed(install("--base-url", f"{server.url}/releases", "--version", "v0.1.0"), "E_ARCHIVE", 6)
    assert install.version(ROOT_BINARY) == "v0.2.0"
