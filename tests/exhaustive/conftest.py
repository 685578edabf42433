"""Fixtures for tests of the scripts that go through many cases of one kind: the same as for their other tests."""

from tests.scripts.conftest import box, install, releases, server

__all__ = ["box", "install", "releases", "server"]
