"""A host below a temporary directory, as bare as a fresh one, and an agent on it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pyhelpers import contract
from pyhelpers.rooted import RecordingHost

AGENT = b"#!/bin/sh\necho an agent\n"
CLUSTER = (
    "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/r"
    "/providers/Microsoft.ContainerService/managedClusters/c"
)


@pytest.fixture
def host(tmp_path: Path) -> RecordingHost:
    for name in (
        "opt",
        "usr/local/bin",
        "usr/local/lib",
        "etc/systemd/system",
        "var/lib",
        "var/log",
        "run/systemd/system",
    ):
        (tmp_path / name).mkdir(parents=True)
    return RecordingHost(tmp_path)


@pytest.fixture
def install(host: RecordingHost) -> Callable[..., None]:
    """Puts a plain agent at the binary's path below a root, as an installer does."""

    def put(root: str = contract.HOST_ROOT, content: bytes = AGENT) -> None:
        host.make_directory(f"{root}/bin")
        host.write(f"{root}/bin/{contract.BINARY_NAME}", content, 0o755)
        host.events.clear()

    return put


@pytest.fixture
def config(host: RecordingHost) -> Callable[..., str]:
    """Writes a config that is right, with these keys of `azure` over it."""

    def write(**azure: Any) -> str:
        data = {"azure": {"targetCluster": {"resourceId": CLUSTER}, "managedIdentity": {}, **azure}}
        host.make_directory(contract.CONFIG_DIR)
        host.write(contract.CONFIG_PATH, json.dumps(data).encode(), 0o600)
        host.events.clear()
        return contract.CONFIG_PATH

    return write
