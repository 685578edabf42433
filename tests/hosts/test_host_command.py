"""`flexkit host` and `flexkit try` as a person uses them."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import uuid
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from pyhelpers.testhost.names import DIRECTORY

PROJECT = Path(__file__).resolve().parents[2]

INSTALLER = """#!/bin/sh
echo "installing $*"
rm /etc/issue
mkdir /opt/thing && printf text >/opt/thing/file && ln -s file /opt/thing/link
useradd --system --no-create-home thing
cat >/etc/systemd/system/thing.service <<UNIT
[Service]
ExecStart=/usr/bin/python3 -m http.server --bind 127.0.0.1 8099
[Install]
WantedBy=multi-user.target
UNIT
systemctl enable --now thing
until curl -s -o /dev/null http://127.0.0.1:8099; do :; done
exit 4
"""


def flexkit(*args: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """Run the command line."""
    argv = [sys.executable, "-m", "pyhelpers", *args]
    return subprocess.run(argv, cwd=PROJECT, input=stdin, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture
def name() -> Iterator[str]:
    """A name of the test's own; whatever is up by it is taken down."""
    name = "t" + uuid.uuid4().hex[:8]
    yield name
    if (DIRECTORY / name).exists():
        flexkit("host", "down", name)


def test_a_host_outlives_its_command_and_is_used_and_deleted_by_name(name: str) -> None:
    assert flexkit("host", "up", name).stdout == f"{name}\n"
    assert f"{name}\trunning\n" in flexkit("host", "list").stdout
    done = flexkit("host", "exec", name, "--", "sh", "-c", "cat >/opt/in; echo err >&2; exit 7", stdin="text")
    assert (done.returncode, done.stderr) == (7, "err\n")
    assert flexkit("host", "reboot", name).returncode == 0
    assert flexkit("host", "cut", name).returncode == 0
    assert flexkit("host", "exec", name, "--", "cat", "/opt/in").stdout == "text"
    shown = flexkit("host", "diff", "--plain", name)
    assert (shown.returncode, shown.stdout) == (1, "added    /opt/in (file 0644 0:0)\n")
    assert flexkit("host", "down", name).returncode == 0
    assert name not in flexkit("host", "list").stdout


def test_a_name_in_use_and_a_name_of_nothing_are_refused(name: str) -> None:
    assert flexkit("host", "up", name).returncode == 0
    again = flexkit("host", "up", name)
    assert (again.returncode, again.stderr) == (125, f"flexkit host: there is a host {name} already\n")
    missing = flexkit("host", "exec", name + "x", "--", "true")
    assert (missing.returncode, "no host" in missing.stderr) == (125, True)


def test_a_socket_that_nobody_answers_is_removed_when_it_is_met(name: str) -> None:
    import socket

    DIRECTORY.mkdir(parents=True, exist_ok=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as left:
        left.bind(str(DIRECTORY / name))
    assert name not in flexkit("host", "list").stdout
    assert not (DIRECTORY / name).exists()


def test_try_shows_all_that_an_installer_added_and_keeps_it_as_a_layer(tmp_path: Path) -> None:
    installer, layer = tmp_path / "install.sh", tmp_path / "layer.tar"
    installer.write_text(INSTALLER)
    done = flexkit("try", "--tar", str(layer), str(installer), "a", "b c")
    assert done.returncode == 4, done.stderr
    for expected in (
        "installing a b c",
        "exit code 4",
        "file  added  file 0644 0:0",
        "thing.service (enabled, active)",
        "thing:x:",
        "tcp 127.0.0.1:8099",
        "-m http.server --bind 127.0.0.1 8099",
    ):
        assert expected in done.stdout
    with tarfile.open(layer) as tar:
        names = tar.getnames()
        assert {"opt/thing", "opt/thing/file", "etc/.wh.issue"} <= set(names)
        content = tar.extractfile("opt/thing/file")
        assert content is not None
        assert content.read() == b"text"
        assert tar.getmember("opt/thing/link").linkname == "file"


def test_try_fetches_a_url_outside_and_gives_the_installer_no_network(tmp_path: Path) -> None:
    (tmp_path / "get.sh").write_text("echo fetched; curl -s -m 2 http://127.0.0.1:$1 || echo none\n")

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None: ...

    def handler(*args: object) -> Quiet:
        return Quiet(*args, directory=str(tmp_path))  # type: ignore[arg-type]

    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        port = str(server.server_address[1])
        done = flexkit("try", f"http://127.0.0.1:{port}/get.sh", port)
        missing = flexkit("try", f"http://127.0.0.1:{port}/missing.sh")
        server.shutdown()
    assert (done.returncode, "fetched\nnone" in done.stdout) == (0, True)
    assert (missing.returncode, "404" in missing.stderr) == (125, True)


def test_try_keeps_the_clone_when_asked(tmp_path: Path) -> None:
    (tmp_path / "x.sh").write_text("touch /opt/here\n")
    done = flexkit("try", "--keep", str(tmp_path / "x.sh"))
    name = done.stdout.split("flexkit host down ")[1].strip()
    try:
        assert flexkit("host", "exec", name, "--", "test", "-e", "/opt/here").returncode == 0
    finally:
        assert flexkit("host", "down", name).returncode == 0


def test_with_network_the_installer_can_use_it_but_not_change_it(tmp_path: Path) -> None:
    (tmp_path / "n.sh").write_text("ls /sys/class/net; ip link add flexkit0 type dummy && echo link added\nexit 0\n")
    done = flexkit("try", "--network", str(tmp_path / "n.sh"))
    assert done.returncode == 0
    assert all(link.name in done.stdout for link in Path("/sys/class/net").iterdir())
    assert "link added" not in done.stdout


def test_try_shows_what_is_bound(tmp_path: Path) -> None:
    (tmp_path / "x.sh").write_text('cat "$1"\n')
    done = flexkit("try", "--bind", str(tmp_path), str(tmp_path / "x.sh"), str(tmp_path / "x.sh"))
    assert (done.returncode, 'cat "$1"\n' in done.stdout) == (0, True), done.stderr


def test_an_installer_that_hangs_is_said_to_have_timed_out(tmp_path: Path) -> None:
    (tmp_path / "hang.sh").write_text("#!/bin/sh\necho started\nexec sleep 1000\n")
    done = flexkit("try", "--timeout", "1", str(tmp_path / "hang.sh"))
    assert (done.returncode, "== timed out after 1 s\n" in done.stdout) == (124, True), done.stderr
    assert "exit code" not in done.stdout
