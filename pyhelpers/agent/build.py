"""Which build of the agent this is. Imports nothing heavy: `version` must answer in the time that Python needs anyway.

`make release` writes `pyhelpers/agent/_build.py` into the executable file; a checkout has none and says `dev`.
"""

from __future__ import annotations

import sys

TITLE = "AKS Flex Node Agent"  # contract.PRODUCT_TITLE; a test compares them (importing contract costs 5 ms)


class Build:
    """One build. legacy: a release that predates the host root. fault: built in on purpose, see fault.py."""

    def __init__(
        self,
        version: str = "dev",
        git_commit: str = "unknown",
        build_time: str = "unknown",
        legacy: bool = False,
        fault: str = "",
    ) -> None:
        self.version, self.git_commit, self.build_time = version, git_commit, build_time
        self.legacy, self.fault = legacy, fault

    def lines(self) -> str:
        """The four lines of `version`."""
        return f"{TITLE}\nVersion: {self.version}\nGit Commit: {self.git_commit}\nBuild Time: {self.build_time}\n"


def current() -> Build:
    """What was built into this file, or the development default."""
    try:
        from pyhelpers.agent import _build
    except ImportError:
        return Build()
    return Build(**_build.BUILD)


def own_file() -> str:
    """The executable file that is running: the zip that Python was given, else "" (a checkout is not one file)."""
    import os.path

    first = os.path.abspath(sys.path[0])  # noqa: PTH100 - pathlib is heavy
    return first if os.path.isfile(first) else ""  # noqa: PTH113
