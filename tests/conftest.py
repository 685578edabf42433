"""What all tests share: the marker `needs`, the fork server, and the check that a test left nothing outside."""

from __future__ import annotations

import functools
import os
import shutil
from collections.abc import Iterator

import pytest

from pyhelpers.sandbox import Server, doctor, outside


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "needs(*names): tools on PATH, or `root`, or `sandbox`; else it is skipped")


def pytest_runtest_setup(item: pytest.Item) -> None:
    for marker in item.iter_markers("needs"):
        for name in marker.args:
            reason = why_not(name)
            if reason:
                pytest.skip(f"needs {name}: {reason}")


@functools.cache
def why_not(name: str) -> str:
    """Why what a test needs is not there; empty when it is."""
    if name == "root":
        return "" if os.geteuid() == 0 else "not root"
    if name == "sandbox":
        return "; ".join(doctor.sandbox_reasons())
    return "" if shutil.which(name) else "not installed"


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """One fork server for a session."""
    with Server(jobs=2) as started:
        yield started


@pytest.fixture(autouse=True)
def nothing_is_left(request: pytest.FixtureRequest) -> Iterator[None]:
    """After a test that used a sandbox: no mount, link or process more than before.

    Control groups are compared once per suite only: hosts of other test files come and go at the same time.
    """
    if "server" not in request.fixturenames:
        yield
        return
    before = outside.Fingerprint.take(cgroups=False)
    yield
    assert before.changes_to(outside.Fingerprint.take(cgroups=False)) == []
