"""Drives install.sh in a sandbox, and says what it left."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from pyhelpers.release import variant
from pyhelpers.sandbox import Box, Result
from pyhelpers.tree import Change

PROJECT = Path(__file__).resolve().parents[2]
SCRIPTS = PROJECT / "scripts"
SCRIPT = str(SCRIPTS / "install.sh")
SHELLS: dict[str, tuple[str, ...]] = {"dash": ("dash",), "bash": ("bash",), "ash": ("busybox", "ash")}
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
ARCH = {"x86_64": "amd64", "aarch64": "arm64"}[os.uname().machine]
NAME = f"aks-flex-node-linux-{ARCH}.tar.gz"
ROOT_BINARY = "/opt/unbounded/bin/aks-flex-node"
LEGACY_BINARY = "/usr/local/bin/aks-flex-node"
STAGING = "/var/lib/aks-flex-node/staging"
JOURNAL = "/var/lib/aks-flex-node/journal"
NOT_LIVE = ("/run/aks-flex-node-agent-upgrade.lock", "/run/mount/**", "/tmp/**", "/root/**")  # the rest: by tests
FRESH = [  # what an install on a host without an agent adds
    "/etc/aks-flex-node",
    "/opt/unbounded",
    "/opt/unbounded/bin",
    ROOT_BINARY,
    "/var/lib/aks-flex-node",
    JOURNAL,
    "/var/log/aks-flex-node",
]


def archive(name: str) -> str:
    """This machine's archive in the release variant NAME."""
    return str(variant(name) / NAME)


def binary(name: str) -> str:
    """The agent itself in the release variant NAME."""
    return str(variant(name) / "aks-flex-node")


class Install:
    """install.sh in one sandbox."""

    script = SCRIPT

    def __init__(self, box: Box) -> None:
        self.box = box

    def __call__(self, *options: str, shell: Sequence[str] = ("dash",), env: Mapping[str, str] | None = None) -> Result:
        """Run it with OPTIONS."""
        return self.box.run([*shell, self.script, *options], env=env)

    def done(self, *options: str, shell: Sequence[str] = ("dash",), env: Mapping[str, str] | None = None) -> Result:
        """Run it; it must succeed."""
        result = self(*options, shell=shell, env=env)
        assert result.code == 0, result.stderr
        return result

    def sh(self, command: str) -> str:
        """What a shell command in the sandbox prints; it must succeed."""
        result = self.box.run(["sh", "-ec", command])
        assert result.code == 0, result.stderr
        return result.stdout

    def changes(self) -> list[Change]:
        """What is different from the machine, without the lock's file and what tests make."""
        return self.box.diff(ignore=NOT_LIVE)

    def paths(self) -> list[str]:
        """The paths of changes()."""
        return [change.path for change in self.changes()]

    def refused(self, result: Result, error_id: str, code: int) -> str:
        """It ended with CODE and exactly one error line, with ID, and changed nothing; returns the line."""
        line = self.failed(result, error_id, code)
        assert self.paths() == []
        return line

    def failed(self, result: Result, error_id: str, code: int) -> str:
        """It ended with CODE and exactly one error line, with ID; returns the line."""
        errors = [line for line in result.stderr.splitlines() if " error: " in line]
        assert result.code == code, result.stderr
        assert len(errors) == 1 and errors[0].endswith(f"[{error_id}]"), result.stderr
        return errors[0]

    def version(self, path: str = ROOT_BINARY) -> str:
        """The version of the agent at PATH."""
        return self.sh(f"{path} version | sed -n 's/^Version: //p'").strip()
