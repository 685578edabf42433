"""Fixtures for tests on throwaway hosts, and the check after each test that the machine is as it was."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator

import pytest

from pyhelpers.sandbox.outside import Fingerprint
from pyhelpers.testhost import Host, cgroup

NEEDED = ("systemd-nspawn", "systemd-run", "nsenter", "setpriv")


@pytest.fixture(scope="session", autouse=True)
def _can_boot() -> None:
    """Say plainly why nothing can run here; a skip would look like a success."""
    if os.geteuid() != 0:
        pytest.fail("throwaway hosts need root")
    missing = [tool for tool in NEEDED if shutil.which(tool) is None]
    if missing:
        pytest.fail(f"throwaway hosts need {', '.join(missing)} (package systemd-container, util-linux)")


@pytest.fixture(autouse=True)
def _outside_is_unchanged() -> Iterator[None]:
    """Of cgroups only those count that are a host's and no keeper holds: the machine's own and those of other tests
    come and go at any time."""
    before = Fingerprint.take()
    yield
    changes = [line for line in before.changes_since() if not line.startswith("cgroups:")]
    assert changes == []
    assert _still_stale() == []


def _still_stale() -> list[str]:
    """The cgroups that no keeper holds for two seconds: a host of another run has none while it is made or removed."""
    end = time.monotonic() + 2
    names = set(cgroup.stale())
    while names and time.monotonic() < end:
        names &= set(cgroup.stale())
    return sorted(names)


@pytest.fixture(scope="module")
def host() -> Iterator[Host]:
    """One host for all tests of a file that leave it as it is or do not mind each other."""
    with Host.clone_of_this_machine() as made:
        yield made


@pytest.fixture
def fresh() -> Iterator[Host]:
    """A host of the test's own."""
    with Host.clone_of_this_machine() as made:
        yield made
