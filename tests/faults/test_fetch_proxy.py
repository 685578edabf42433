"""Proxies of the environment are honoured, and so is no_proxy; what a proxy says is told from what a server says."""

from __future__ import annotations

import pytest

from pyhelpers.netserve import HostileServer, Proxy
from pyhelpers.netserve.authority import Authority
from pyhelpers.sandbox import Box
from tests.faults.fetching import GOOD, RELEASE, TOOLS, VERIFYING, Fetch, serving
from tests.scripts.install import NAME

HOST = "releases.example"  # known to the proxy alone


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority()


def secure(box: Box, authority: Authority) -> HostileServer:
    """The release server behind HOST."""
    return HostileServer(box.netns, {f"{RELEASE}/{NAME}": GOOD}, authority.server(HOST), HOST)


@pytest.mark.parametrize("variable", ["https_proxy", "HTTPS_PROXY"])
@pytest.mark.parametrize("tool", VERIFYING)
def test_https_goes_through_the_proxy(box: Box, tool: str, variable: str, authority: Authority) -> None:
    fetch = Fetch(box, tool)
    fetch.trust(authority)
    with secure(box, authority) as server, Proxy(box.netns, {HOST: server.port}) as proxy:
        result = fetch.release(server, {variable: proxy.url})
        assert proxy.requests == [("CONNECT", f"{HOST}:{server.port}")], result.stderr
    assert result.code == 0, result.stderr


@pytest.mark.parametrize("variable", ["no_proxy", "NO_PROXY"])
@pytest.mark.parametrize("tool", VERIFYING)
def test_a_host_that_needs_no_proxy_is_reached_without(
    box: Box, tool: str, variable: str, authority: Authority
) -> None:
    fetch = Fetch(box, tool)
    fetch.trust(authority)
    fetch.sh(f"echo 127.0.0.1 {HOST} >>/etc/hosts")
    with secure(box, authority) as server, Proxy(box.netns, {HOST: server.port}) as proxy:
        result = fetch.release(server, {"https_proxy": proxy.url, variable: f"other.example,{HOST}"})
        assert proxy.requests == []
    assert result.code == 0, result.stderr


@pytest.mark.parametrize("tool", VERIFYING)
def test_loopback_goes_through_the_proxy_unless_no_proxy_names_it(box: Box, tool: str) -> None:
    fetch = Fetch(box, tool)
    with serving(box, GOOD) as server, Proxy(box.netns) as proxy:
        assert fetch.release(server, {"http_proxy": proxy.url}).code == 0
        assert proxy.requests == [("GET", f"{server.url}{RELEASE}/{NAME}")]
        assert fetch.release(server, {"http_proxy": proxy.url, "no_proxy": "localhost,127.0.0.1"}).code == 0
        assert len(proxy.requests) == 1


def test_busybox_wget_knows_no_list_of_hosts_so_loopback_never_goes_through_the_proxy(box: Box) -> None:
    fetch = Fetch(box, "busybox")
    with serving(box, GOOD) as server, Proxy(box.netns) as proxy:
        result = fetch.release(server, {"http_proxy": proxy.url, "no_proxy": "127.0.0.1"})
        assert proxy.requests == []
    assert result.code == 0, result.stderr


@pytest.mark.parametrize("tool", VERIFYING)
def test_the_login_of_a_proxy_is_used_and_never_shown(box: Box, tool: str, authority: Authority) -> None:
    fetch = Fetch(box, tool)
    fetch.trust(authority)
    with secure(box, authority) as server, Proxy(box.netns, {HOST: server.port}, login="joe:hush") as proxy:
        options = ("--base-url", f"{server.url}/releases", "--version", "v0.1.0", "--verbose", "--log", "/root/log")
        for url in (proxy.url, proxy.url.replace("hush", "hushhush")):
            result = fetch(*options, "--insecure-skip-verify", env={"https_proxy": url})
            assert "hush" not in result.stderr + fetch.sh("cat /root/log")
            assert (result.code == 0) == (url == proxy.url), result.stderr
    line = fetch.failed(result, "E_DOWNLOAD", 5)
    words = {"curl": "HTTP status 407, the proxy wants", "wget": "the proxy refused: Proxy Authentication Required;"}
    assert words[tool] in line


@pytest.mark.parametrize("tool", VERIFYING)
def test_a_proxy_that_refuses_is_named_and_not_asked_again(box: Box, tool: str, authority: Authority) -> None:
    fetch = Fetch(box, tool)
    with secure(box, authority) as server, Proxy(box.netns, {HOST: server.port}, refuse=403) as proxy:
        line = fetch.refused(fetch.release(server, {"https_proxy": proxy.url}), "E_DOWNLOAD", 5)
        assert len(proxy.requests) == 1
    words = {"curl": "HTTP status 403 from the proxy;", "wget": "the proxy refused: Forbidden;"}
    assert words[tool] in line


@pytest.mark.parametrize("tool", VERIFYING)
def test_a_proxy_that_is_down_is_an_error(box: Box, tool: str) -> None:
    fetch = Fetch(box, tool)
    line = fetch.refused(
        fetch("--version", "v0.1.0", env={"https_proxy": "http://u:hush@127.0.0.1:1"}), "E_DOWNLOAD", 5
    )
    assert "refused" in line.lower() or "connect" in line.lower()
    assert "hush" not in line


@pytest.mark.parametrize("tool", TOOLS)
def test_what_the_user_has_configured_for_the_tool_does_not_count(box: Box, tool: str) -> None:
    fetch = Fetch(box, tool)
    fetch.sh("mkdir /home/u")
    with serving(box, GOOD) as server, Proxy(box.netns) as proxy:
        for name in ("/home/u", "/home/u/.config", "/root"):
            for file in (".curlrc", "curlrc"):
                box.run(["mkdir", "-p", name])
                box.write(f"{name}/{file}", f'proxy = "{proxy.url}"\nuser-agent = "mine"\n'.encode())
            text = f"http_proxy = {proxy.url}\nuse_proxy = on\nuser_agent = mine\n"
            box.write(f"{name}/.wgetrc", text.encode())
            box.write(f"{name}/.netrc", b"machine 127.0.0.1 login u password hush\n")
        home = {
            "HOME": "/home/u",
            "CURL_HOME": "/home/u",
            "WGETRC": "/home/u/.wgetrc",
            "XDG_CONFIG_HOME": "/home/u/.config",
        }
        for env in (home, {"HOME": "/root"}):
            assert fetch.release(server, env).code == 0
        assert proxy.requests == []
        assert len(server.requests) == 2
        for seen in server.requests:
            assert "authorization" not in seen.headers and seen.headers.get("user-agent") != "mine"
