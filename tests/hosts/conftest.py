"""Fixtures for tests on throwaway hosts, and the check after each test that the machine is as it was."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from pyhelpers.testhost import Host, cgroup

NEEDED = ("systemd-nspawn", "systemd-run", "nsenter", "setpriv")


@dataclass(frozen=True)
class Outside:
    """What a host could leave on the machine, as far as other tests at the same time do not change it."""

    mounts: str
    links: list[str]
    children: list[str]
    stale_cgroups: list[str]


def look_outside() -> Outside:
    """The machine now, without what belongs to hosts of other processes."""
    return Outside(
        Path("/proc/self/mountinfo").read_text(),
        sorted(os.listdir("/sys/class/net")),  # noqa: PTH208
        Path(f"/proc/self/task/{os.getpid()}/children").read_text().split(),
        cgroup.stale(),
    )


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
    before = look_outside()
    yield
    assert look_outside() == before


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
