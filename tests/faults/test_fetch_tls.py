"""https: a certificate that is not trusted is named as what it is; one that the host trusts needs no option."""

from __future__ import annotations

import pytest

from pyhelpers.netserve import HostileServer
from pyhelpers.netserve.authority import BUNDLE, Authority
from pyhelpers.sandbox import Box
from tests.faults.fetching import GOOD, RELEASE, VERIFYING, Fetch, to
from tests.scripts.install import FRESH, NAME

REMEDY = "install ca-certificates or your CA's certificate, and look at the clock [E_"


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority()


def secure(box: Box, authority: Authority, name: str = "localhost", expired: bool = False) -> HostileServer:
    """An https server for localhost whose certificate is for NAME."""
    answers = {
        f"{RELEASE}/{NAME}": GOOD,
        "/releases/latest": to("/releases/tag/v0.1.0"),
        "/away": to("http://127.0.0.1/x"),
    }
    return HostileServer(box.netns, answers, authority.server(name, expired=expired), "localhost")


@pytest.mark.parametrize("tool", VERIFYING)
def test_a_certificate_that_nobody_trusts_is_named_and_not_tried_again(
    box: Box, tool: str, authority: Authority
) -> None:
    fetch = Fetch(box, tool)
    with secure(box, authority) as server:
        line = fetch.refused(fetch.release(server), "E_DOWNLOAD", 5)
        assert server.requests == []
    assert f"{server.url}{RELEASE}/{NAME}: the server's certificate is not trusted: " in line and REMEDY in line


@pytest.mark.parametrize("tool", VERIFYING)
def test_the_latest_version_is_not_taken_from_a_server_that_nobody_trusts(
    box: Box, tool: str, authority: Authority
) -> None:
    fetch = Fetch(box, tool)
    with secure(box, authority) as server:
        line = fetch.refused(fetch("--base-url", f"{server.url}/releases"), "E_VERSION", 5)
    assert "the server's certificate is not trusted: " in line and REMEDY in line


@pytest.mark.parametrize("tool", VERIFYING)
def test_a_certificate_of_a_ca_that_the_host_trusts_is_taken(box: Box, tool: str, authority: Authority) -> None:
    fetch = Fetch(box, tool)
    fetch.trust(authority)
    with secure(box, authority) as server:
        result = fetch("--base-url", f"{server.url}/releases", "--insecure-skip-verify")
        assert server.paths() == ["/releases/latest", f"{RELEASE}/{NAME}"], result.stderr
    assert (result.code, fetch.paths()) == (0, sorted([*FRESH, BUNDLE]))


WRONG = {"another name": ("example.com", False), "an old certificate": ("localhost", True)}


@pytest.mark.parametrize("case", WRONG)
@pytest.mark.parametrize("tool", VERIFYING)
def test_a_certificate_of_a_trusted_ca_must_fit(box: Box, tool: str, case: str, authority: Authority) -> None:
    fetch = Fetch(box, tool)
    fetch.trust(authority)
    name, expired = WRONG[case]
    with secure(box, authority, name, expired) as server:
        line = fetch.failed(fetch.release(server), "E_DOWNLOAD", 5)
        assert server.requests == []
    assert "the server's certificate is not trusted: " in line
    assert ("expired" if expired else "match") in line.partition("not trusted: ")[2].partition(";")[0]


@pytest.mark.parametrize("tool", VERIFYING)
def test_a_host_without_ca_certificates_is_told_so(box: Box, tool: str, authority: Authority) -> None:
    fetch = Fetch(box, tool)
    fetch.sh(f"rm -rf {BUNDLE} /etc/ssl/certs /usr/lib/ssl/cert*")
    with secure(box, authority) as server:
        line = fetch.failed(fetch.release(server), "E_DOWNLOAD", 5)
    assert "the server's certificate is not trusted: " in line and REMEDY in line


@pytest.mark.parametrize("tool", VERIFYING)
def test_a_redirect_from_https_to_http_is_refused_even_to_loopback(box: Box, tool: str, authority: Authority) -> None:
    fetch = Fetch(box, tool)
    fetch.trust(authority)
    with secure(box, authority) as server:
        line = fetch.failed(fetch("--archive", f"{server.url}/away", "--insecure-skip-verify"), "E_URL", 5)
    assert "a redirect to http://127.0.0.1/x is not followed" in line


@pytest.mark.parametrize("tool", VERIFYING)
def test_a_redirect_from_https_to_https_is_followed(box: Box, tool: str, authority: Authority) -> None:
    fetch = Fetch(box, tool)
    fetch.trust(authority)
    with secure(box, authority) as store:
        answers = {f"{RELEASE}/{NAME}": to(f"{store.url}{RELEASE}/{NAME}")}
        with HostileServer(box.netns, answers, authority.server("localhost"), "localhost") as server:
            result = fetch.release(server)
    assert result.code == 0, result.stderr
