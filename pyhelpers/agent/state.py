"""daemon-state.json: what the daemon says of itself, with a checksum beside it that is checked before use.

The two files cannot change in one rename, so writer and reader hold a lock on their directory meanwhile; a kill
releases it. A state that does not match its checksum (a kill between the renames, a hand-made change) is refused.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pyhelpers import contract
from pyhelpers.agent.failure import AgentError
from pyhelpers.host import Host

MODE = 0o600
CHECKSUM = f"{contract.DAEMON_STATE}.sha256"
SCHEMA = 1


class StateRefused(AgentError):
    """The state does not match its checksum or is no state."""


def write(host: Host, state: dict[str, Any]) -> None:
    """Replace the state; a reader sees the old one or this one, whole."""
    data = json.dumps({"schemaVersion": SCHEMA, **state}, indent=2, sort_keys=True).encode() + b"\n"
    name = os.path.basename(contract.DAEMON_STATE)  # noqa: PTH119 - paths of the host are text
    host.make_directory(contract.CONFIG_DIR)  # the config may be elsewhere
    with _locked(host, fcntl.LOCK_EX):
        host.write(contract.DAEMON_STATE, data, MODE)
        host.write(CHECKSUM, f"{hashlib.sha256(data).hexdigest()}  {name}\n".encode(), MODE)


def read(host: Host) -> dict[str, Any] | None:
    """The state, or None when there is none; StateRefused when it cannot be trusted."""
    if not host.present(contract.DAEMON_STATE):
        return None
    with _locked(host, fcntl.LOCK_SH):
        data, line = host.read(contract.DAEMON_STATE), host.read(CHECKSUM)
    if data is None:
        return None
    said = (line or b"").decode("ascii", "replace").split()
    if not said or said[0] != hashlib.sha256(data).hexdigest():
        raise StateRefused(f"{contract.DAEMON_STATE} does not match {CHECKSUM}: refused")
    try:
        state = json.loads(data)
    except ValueError as error:
        raise StateRefused(f"{contract.DAEMON_STATE} is no JSON ({error}): refused") from None
    if not isinstance(state, dict) or state.get("schemaVersion") != SCHEMA:
        raise StateRefused(f"{contract.DAEMON_STATE} is not of schema {SCHEMA}: refused")
    return state


@contextmanager
def _locked(host: Host, how: int) -> Iterator[None]:
    fd = os.open(host.real(contract.CONFIG_DIR), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(fd, how)
        yield
    finally:
        os.close(fd)
