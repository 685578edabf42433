"""install.sh where a download is odd: the connection breaks before the end, and the user has files for the tools."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pyhelpers.netserve import ReleaseServer, bound_socket
from pyhelpers.release import variant
from tests.scripts.install import FRESH, PATH, Install, archive

TOOLS = {"curl": PATH, "wget": "/tmp/few"}  # PATH with what else there is
WITHOUT_CURL = "mkdir /tmp/few; ln -s $(ls -d /usr/bin/* | grep -v '/curl$') /tmp/few"


@contextmanager
def breaking(install: Install, body: bytes) -> Iterator[str]:
    """A server inside the sandbox that announces one byte more than BODY and hangs up after it -> its URL."""
    bound = bound_socket(install.box.netns, 0)

    def serve() -> None:
        while True:
            try:
                link, _ = bound.accept()
            except OSError:  # shut down: the end
                return
            with link:
                link.recv(65536)
                link.sendall(f"HTTP/1.1 200 OK\r\nContent-Length: {len(body) + 1}\r\n\r\n".encode() + body)

    thread = threading.Thread(target=serve)
    thread.start()
    yield f"http://127.0.0.1:{bound.getsockname()[1]}"
    bound.shutdown(socket.SHUT_RDWR)
    thread.join()
    bound.close()


@pytest.mark.parametrize("tool", TOOLS)
def test_what_came_before_the_connection_broke_is_not_used(install: Install, tool: str) -> None:
    """The body is a whole archive: only the length that was announced tells that something is missing."""
    install.sh(WITHOUT_CURL)
    with breaking(install, Path(archive("current")).read_bytes()) as url:
        result = install("--archive", f"{url}/agent.tar.gz", env={"PATH": TOOLS[tool]})
    install.refused(result, "E_DOWNLOAD", 5)


@pytest.mark.parametrize("tool", TOOLS)
def test_the_users_files_for_the_tools_do_not_count(install: Install, tool: str) -> None:
    install.sh(WITHOUT_CURL)
    install.box.write("/root/.curlrc", b'proxy = "http://127.0.0.1:1"\n')
    install.box.write("/root/.wgetrc", b"use_proxy = on\nhttp_proxy = http://127.0.0.1:1\n")
    with ReleaseServer(install.box.netns, {"v0.1.0": variant("current")}, "v0.1.0") as server:
        install.done("--base-url", f"{server.url}/releases", env={"PATH": TOOLS[tool], "HOME": "/root"})
    assert install.paths() == FRESH
