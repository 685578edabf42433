"""Fixtures for the tests of the host scripts.

Every test gets a sandbox of its own, with the checkout bound read-only; nothing is shared but the fork server.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pyhelpers.release import variant
from pyhelpers.sandbox import Box, Server
from tests.scripts.install import PROJECT, Install


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """One fork server for each test file."""
    with Server(jobs=1) as started:
        yield started


@pytest.fixture
def box(server: Server) -> Iterator[Box]:
    """A fresh sandbox with the checkout bound read-only."""
    with server.box(binds=[PROJECT]) as made:
        yield made


@pytest.fixture
def install(box: Box) -> Install:
    """install.sh in the test's sandbox."""
    return Install(box)


@pytest.fixture(scope="session")
def releases() -> Callable[[str], Path]:
    """releases(NAME): the directory of the release variant NAME (current, next, legacy, broken, …)."""
    return variant
