"""daemon-state.json and its checksum: whole, private, refused when they disagree."""

from __future__ import annotations

import stat
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from pyhelpers import contract
from pyhelpers.agent import state
from pyhelpers.rooted import RecordingHost, RootedHost

Config = Callable[..., str]


@pytest.fixture(autouse=True)
def directory(config: Config) -> None:
    config()


def test_what_is_written_is_read_and_both_files_are_0600(host: RecordingHost) -> None:
    state.write(host, {"state": "ready", "pid": 7})
    assert state.read(host) == {"schemaVersion": 1, "state": "ready", "pid": 7}
    assert [stat.S_IMODE(host.real(p).stat().st_mode) for p in (contract.DAEMON_STATE, state.CHECKSUM)] == [0o600] * 2


def test_no_state_is_none(host: RecordingHost) -> None:
    assert state.read(host) is None


def test_no_configuration_directory_is_no_state(host: RecordingHost) -> None:
    host.unlink(contract.CONFIG_PATH)
    host.remove_directory(contract.CONFIG_DIR)
    assert state.read(host) is None


@pytest.mark.parametrize("damage", ["changed", "no checksum", "empty checksum", "other checksum"])
def test_a_mismatch_is_refused(host: RecordingHost, damage: str) -> None:
    state.write(host, {"state": "ready"})
    if damage == "changed":
        host.write(contract.DAEMON_STATE, b'{"schemaVersion": 1, "state": "forged"}')
    elif damage == "no checksum":
        host.unlink(state.CHECKSUM)
    else:
        host.write(state.CHECKSUM, b"" if damage == "empty checksum" else b"0" * 64)
    with pytest.raises(state.StateRefused, match="does not match"):
        state.read(host)


def test_the_checksum_is_what_sha256sum_checks(host: RecordingHost) -> None:
    import subprocess

    state.write(host, {"state": "ready"})
    done = subprocess.run(
        ["sha256sum", "-c", "daemon-state.json.sha256"], cwd=host.real(contract.CONFIG_DIR), check=False
    )
    assert done.returncode == 0


@pytest.mark.parametrize("content", [b"[]", b"{", b'{"schemaVersion": 99}'])
def test_a_state_of_another_shape_is_refused(host: RecordingHost, content: bytes) -> None:
    import hashlib

    host.write(contract.DAEMON_STATE, content)
    host.write(state.CHECKSUM, hashlib.sha256(content).hexdigest().encode())
    with pytest.raises(state.StateRefused):
        state.read(host)


def test_a_reader_never_sees_a_state_between_two_files(host: RecordingHost, tmp_path: Path) -> None:
    state.write(host, {"n": 0})
    done = threading.Event()

    def write() -> None:
        n = 0
        while not done.is_set():
            n += 1
            state.write(RootedHost(tmp_path), {"n": n})

    writer = threading.Thread(target=write)
    writer.start()
    try:
        seen = {(state.read(RootedHost(tmp_path)) or {}).get("n") for _ in range(200)}
    finally:
        done.set()
        writer.join()
    assert None not in seen
    assert len(seen) > 1, "the writer wrote nothing meanwhile"
