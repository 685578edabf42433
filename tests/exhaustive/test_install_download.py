"""install.sh over the network: releases, custom URLs, checksums, and each tool that can download."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pyhelpers.netserve import ReleaseServer
from pyhelpers.release import variant
from tests.scripts.install import FRESH, NAME, PATH, Install, archive

WITHOUT = "mkdir /tmp/few; ln -s $(ls -d /usr/bin/* | grep -vE '/({names})$') /tmp/few"
# busybox for all that it has, and what it lacks here: flock, and python3 for the agent
BUSYBOX = "mkdir /tmp/few; busybox --install -s /tmp/few; ln -sf /usr/bin/flock /usr/bin/python3 /tmp/few"


@contextmanager
def serving(install: Install, files: dict[str, Path] | None = None) -> Iterator[ReleaseServer]:
    """v0.1.0 (the latest) and v0.2.0 in the official layout, inside the sandbox."""
    releases = {"v0.1.0": variant("current"), "v0.2.0": variant("next")}
    with ReleaseServer(install.box.netns, releases, "v0.1.0", files) as server:
        yield server


def altered(tmp_path: Path, sums: Callable[[str], str]) -> Path:
    """A release like `current` whose checksums.txt went through SUMS."""
    folder = tmp_path / "release"
    folder.mkdir()
    shutil.copy(archive("current"), folder)
    text = (variant("current") / "checksums.txt").read_text()
    (folder / "checksums.txt").write_text(sums(text))
    return folder


def sum_of(install: Install, path: str) -> str:
    """The SHA-256 sum of a file."""
    return install.sh(f"sha256sum <{path}").split()[0]


def test_the_latest_release_is_found_by_the_redirect_and_verified(install: Install) -> None:
    with serving(install) as server:
        install.done("--base-url", f"{server.url}/releases")
        paths = [request.path for request in server.requests]
    base = "/releases/download/v0.1.0"
    assert paths == ["/releases/latest", f"{base}/{NAME}", f"{base}/checksums.txt"]
    assert install.paths() == FRESH


def test_version_and_base_from_the_environment_ask_for_nothing_else(install: Install) -> None:
    with serving(install) as server:
        twins = {"AKS_FLEX_NODE_VERSION": "v0.2.0", "AKS_FLEX_NODE_BASE_URL": f"{server.url}/releases"}
        install.done(env={"PATH": PATH, **twins})
        assert [r.path.split("/")[3] for r in server.requests] == ["v0.2.0", "v0.2.0"]
    assert install.version() == "v0.2.0"


def test_gnu_wget_serves_where_there_is_no_curl(install: Install) -> None:
    install.sh(WITHOUT.format(names="curl"))
    with serving(install) as server:
        install.done("--base-url", f"{server.url}/releases", env={"PATH": "/tmp/few"})
    assert install.paths() == FRESH


def test_busybox_tools_do_for_a_local_archive(install: Install) -> None:
    install.sh(BUSYBOX)
    install.done("--archive", archive("current"), shell=("/bin/busybox", "ash"), env={"PATH": "/tmp/few"})
    assert install.paths() == FRESH


def test_busybox_wget_is_used_only_with_a_sum(install: Install) -> None:
    install.sh(BUSYBOX)
    with serving(install) as server:
        options = ("--base-url", f"{server.url}/releases", "--version", "v0.1.0")
        line = install.refused(install(*options, env={"PATH": "/tmp/few"}, shell=("/bin/dash",)), "E_TOOL", 4)
        assert "verifies no certificate" in line
        digest = sum_of(install, archive("current"))
        install.done(*options, "--sha256", digest, env={"PATH": "/tmp/few"}, shell=("/bin/dash",))
    assert install.paths() == FRESH


def test_no_tool_to_download_with(install: Install) -> None:
    install.sh(WITHOUT.format(names="curl|wget"))
    line = install.refused(install("--version", "v0.1.0", env={"PATH": "/tmp/few"}), "E_TOOL", 4)
    assert "neither curl nor wget is there; install curl" in line


def test_without_a_tool_for_sums_nothing_is_installed(install: Install) -> None:
    install.sh(WITHOUT.format(names="sha256sum"))
    with serving(install) as server:
        result = install("--base-url", f"{server.url}/releases", env={"PATH": "/tmp/few"})
    assert "sha256sum is missing; install coreutils" in install.refused(result, "E_TOOL", 4)


def test_a_local_archive_makes_no_request_and_needs_no_tool_to_download(install: Install) -> None:
    install.sh(WITHOUT.format(names="curl|wget"))
    with serving(install) as server:
        install.done("--archive", archive("current"), "--base-url", f"{server.url}/releases", env={"PATH": "/tmp/few"})
        assert server.requests == []


def test_no_network(install: Install) -> None:
    line = install.refused(install("--version", "v0.1.0"), "E_DOWNLOAD", 5)
    assert "Could not resolve host: github.com" in line


def test_a_server_that_is_down(install: Install) -> None:
    line = install.refused(install("--base-url", "http://127.0.0.1:1/releases"), "E_VERSION", 5)
    assert "http://127.0.0.1:1/releases/latest" in line and "--version" in line


@pytest.mark.parametrize("names", ["", "curl"])
def test_a_version_that_is_not_there_is_called_404(install: Install, names: str) -> None:
    install.sh(WITHOUT.format(names=names or "none"))
    with serving(install) as server:
        result = install("--base-url", f"{server.url}/releases", "--version", "v9.9.9", env={"PATH": "/tmp/few"})
    line = install.refused(result, "E_DOWNLOAD", 5)
    assert "HTTP status 404" in line and f"/releases/download/v9.9.9/{NAME}" in line


def test_a_latest_that_leads_to_no_version_is_not_used_as_one(install: Install) -> None:
    """k3s-io/k3s 10578: the word "stable" was used as the version."""
    with ReleaseServer(install.box.netns, latest="stable") as server:
        line = install.refused(install("--base-url", f"{server.url}/releases"), "E_VERSION", 5)
        assert all("download" not in request.path for request in server.requests)
    assert "HTTP status" in line and "pin one with --version" in line


WRONG_SUMS: dict[str, tuple[Callable[[str], str], str]] = {
    "a wrong sum": (lambda text: "0" * 64 + f"  {NAME}\n", "E_CHECKSUM"),
    "no line for it": (lambda text: text.replace("aks-flex-node-linux", "other"), "E_CHECKSUM"),
    "two lines for it": (lambda text: text + text, "E_CHECKSUM"),
    "an empty list": (lambda text: "", "E_CHECKSUM"),
    "an HTML page": (lambda text: "<html></html>\n", "E_CHECKSUM"),
}


@pytest.mark.parametrize(("sums", "error_id"), WRONG_SUMS.values(), ids=WRONG_SUMS.keys())
def test_verification_fails_closed(install: Install, tmp_path: Path, sums: Callable[[str], str], error_id: str) -> None:
    with ReleaseServer(install.box.netns, {"v0.1.0": altered(tmp_path, sums)}) as server:
        install.refused(install("--base-url", f"{server.url}/releases", "--version", "v0.1.0"), error_id, 6)


def test_a_release_without_a_list_of_sums_is_refused(install: Install, tmp_path: Path) -> None:
    folder = altered(tmp_path, str)
    (folder / "checksums.txt").unlink()
    with ReleaseServer(install.box.netns, {"v0.1.0": folder}) as server:
        options = ("--base-url", f"{server.url}/releases", "--version", "v0.1.0")
        assert "checksums.txt: HTTP status 404" in install.refused(install(*options), "E_DOWNLOAD", 5)
        assert "is not verified" in install.done(*options, "--insecure-skip-verify").stderr


def test_a_given_sum_beats_the_list(install: Install, tmp_path: Path) -> None:
    with ReleaseServer(install.box.netns, {"v0.1.0": altered(tmp_path, lambda text: "")}) as server:
        options = ("--base-url", f"{server.url}/releases", "--version", "v0.1.0")
        install.refused(install(*options, "--sha256", "0" * 64), "E_CHECKSUM", 6)
        install.done(*options, "--sha256", sum_of(install, archive("current")))


def test_a_custom_url_without_a_list_is_installed_with_a_warning(install: Install) -> None:
    with serving(install, {"/agent.tar.gz": Path(archive("current"))}) as server:
        result = install.done("--archive", f"{server.url}/agent.tar.gz")
    assert "warning: the archive is not verified: there is no checksums.txt beside it" in result.stderr


def test_a_custom_url_without_a_list_is_refused_where_a_sum_is_required(install: Install) -> None:
    with serving(install, {"/agent.tar.gz": Path(archive("current"))}) as server:
        install.refused(install("--archive", f"{server.url}/agent.tar.gz", "--require-checksum"), "E_CHECKSUM", 6)


def test_a_local_archive_where_a_sum_is_required_needs_one_or_a_list_beside_it(install: Install) -> None:
    install.sh(f"mkdir /tmp/alone && cp {archive('current')} /tmp/alone")
    alone = f"/tmp/alone/{archive('current').rpartition('/')[2]}"
    for options in (["--plan", "--archive"], ["--archive"], ["--binary"]):
        line = install.refused(install(*options, alone, "--require-checksum"), "E_CHECKSUM", 6)
        assert f"there is no checksums.txt beside {alone}; give its sum" in line
    install.done("--archive", archive("current"), "--require-checksum")
    install.sh("cp /bin/true /tmp/alone/a.tar.gz; cp /tmp/alone/*linux* /tmp/alone/b.tar.gz")
    install.sh("cd /tmp/alone; sha256sum a.tar.gz | sed 's/a.tar/b.tar/' >checksums.txt")
    assert "has the sum" in install.failed(
        install("--archive", "/tmp/alone/b.tar.gz", "--require-checksum"), "E_CHECKSUM", 6
    )


def test_a_custom_url_is_verified_by_the_list_beside_it(install: Install, tmp_path: Path) -> None:
    wrong = altered(tmp_path, lambda text: "0" * 64 + f"  {NAME}\n")
    files = {f"/x/{NAME}": Path(archive("current")), "/x/checksums.txt": wrong / "checksums.txt"}
    with serving(install, files) as server:
        install.refused(install("--archive", f"{server.url}/x/{NAME}"), "E_CHECKSUM", 6)


def test_placeholders_of_a_custom_url_are_replaced(install: Install) -> None:
    with serving(install) as server:
        url = f"{server.url}/releases/download/{{{{VERSION}}}}/aks-flex-node-{{{{OS}}}}-{{{{ARCH}}}}.tar.gz"
        install.done("--archive", url, "--version", "v0.2.0")
    assert install.version() == "v0.2.0"


def test_a_page_with_status_200_is_called_one(install: Install, tmp_path: Path) -> None:
    page = tmp_path / "page"
    page.write_text("<!DOCTYPE html>\n<title>Sign in</title>\n")
    with serving(install, {"/agent.tar.gz": page}) as server:
        line = install.refused(install("--archive", f"{server.url}/agent.tar.gz"), "E_ARCHIVE", 6)
    assert "HTML page" in line


def test_plain_http_to_anywhere_but_loopback_is_refused(install: Install) -> None:
    install.refused(install("--archive", "http://example.com/agent.tar.gz"), "E_URL", 5)
    install.refused(install("--base-url", "http://example.com/releases"), "E_URL", 5)


def test_the_secret_of_a_url_reaches_the_server_but_no_message_and_no_argument(install: Install) -> None:
    """CrowdStrike/falcon-scripts 62: the secret was visible in the process list."""
    watch = b'#!/bin/sh\nprintf "%s\\n" "$*" >>/root/arguments\nexec /usr/bin/curl "$@"\n'
    install.sh("mkdir /tmp/log")
    install.box.write("/tmp/log/curl", watch, 0o755)
    with serving(install, {"/agent.tar.gz": Path(archive("current"))}) as server:
        url = f"{server.url}/agent.tar.gz?sig=hush"
        options = ("--archive", url, "--verbose", "--log", "/root/log")
        result = install.done(*options, env={"PATH": f"/tmp/log:{PATH}"})
        assert server.requests[0].path == "/agent.tar.gz?sig=hush"
    assert install.sh("wc -l </root/arguments").strip() == "2"
    assert "hush" not in result.stderr + install.sh("cat /root/arguments /root/log")


def test_a_partial_download_is_never_used(install: Install, tmp_path: Path) -> None:
    install.done("--archive", archive("next"))
    short = tmp_path / "short.tar.gz"
    short.write_bytes(Path(archive("current")).read_bytes()[:5000])
    with serving(install, {"/agent.tar.gz": short}) as server:
        install.failed(install("--archive", f"{server.url}/agent.tar.gz"), "E_ARCHIVE", 6)
    assert install.version() == "v0.2.0"
