"""Fixtures for tests in which a script is cut off, killed or lied to: the same as for the tests of the scripts."""

from tests.scripts.conftest import box, install, server

__all__ = ["box", "install", "server"]
