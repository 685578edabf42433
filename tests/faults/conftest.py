"""Fixtures for tests in which a script is cut off or killed: the same as for the tests of the scripts."""

from tests.scripts.conftest import box, server

__all__ = ["box", "server"]
