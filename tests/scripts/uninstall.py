"""A host with an agent on it, in a sandbox, for the tests of uninstall.sh.

The agent is a shell script that keeps the contract and does what an official reset does to files: it is quick and can
be told to fail. The reference agent's own reset is tested on throwaway hosts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from pyhelpers.sandbox import Box, Result
from pyhelpers.tree import Change

PROJECT = Path(__file__).resolve().parents[2]
INSTALL = str(PROJECT / "scripts/install.sh")
UNINSTALL = str(PROJECT / "scripts/uninstall.sh")
ROOT, LEGACY = "/opt/unbounded", "/usr/local"
AGENT, RECOVERY = "aks-flex-node-agent.service", "aks-flex-node-agent-recovery.service"
FIRST_BOOT = "aks-flex-node-bootstrap.service"
UNITS = "/etc/systemd/system"
WANTS = f"{UNITS}/multi-user.target.wants"
CONFIG, STATE, LOGS = "/etc/aks-flex-node", "/var/lib/aks-flex-node", "/var/log/aks-flex-node"
JOURNAL = f"{STATE}/journal"
LOG = "/tmp/agent.log"  # what the agent was asked; the tests' own place, no part of any difference
SCRATCH = ["/tmp/**", "/run/mount/**"]

FAKE = """#!/bin/sh
case $1 in
  version) printf 'AKS Flex Node Agent\\nVersion: v1.0.0\\nGit Commit: 0\\nBuild Time: 0\\n' ;;
  host-root) @ROOT@ ;;
  reset) echo "$0 reset" >>/tmp/agent.log; @RESET@ ;;
  *) echo 'Command execution failed: unknown command' >&2; exit 1 ;;
esac
"""
OFFICIAL_RESET = f"rm -rf {CONFIG} {LOGS}"


def agent(reset: str = OFFICIAL_RESET, root: str = f"echo {ROOT}") -> bytes:
    """The agent's file; `reset` and `root` are the commands behind its `reset` and `host-root`."""
    return FAKE.replace("@RESET@", reset).replace("@ROOT@", root).encode()


class Uninstall:
    """uninstall.sh in one box."""

    def __init__(self, box: Box) -> None:
        self.box = box

    def sh(self, script: str) -> str:
        """What a shell command in the box prints; it must succeed."""
        result = self.box.run(["sh", "-euc", script])
        assert result.code == 0, result
        return result.stdout

    def run(
        self, *options: str, shell: Sequence[str] = ("sh",), env: Mapping[str, str] | None = None, code: int = 0
    ) -> Result:
        """uninstall.sh with OPTIONS; it must exit with `code`."""
        result = self.box.run([*shell, UNINSTALL, *options], env=env)
        assert result.code == code, result
        return result

    def call(self, script: str, shell: Sequence[str] = ("sh",)) -> Result:
        """A shell command after `. uninstall.sh`."""
        return self.box.run([*shell, "-c", f". {UNINSTALL}\n{script}"])

    def put(self, path: str, data: bytes = b"x", mode: int = 0o644) -> None:
        """A file, with the directories above it."""
        self.sh(f"mkdir -p '{path.rpartition('/')[0] or '/'}'")
        self.box.write(path, data, mode)

    def put_agent(self, root: str = ROOT, reset: str = OFFICIAL_RESET) -> None:
        """A plain agent below a root, as an installer without a journal leaves it."""
        self.put(f"{root}/bin/aks-flex-node", agent(reset), 0o755)

    def put_layout(self, root: str = ROOT) -> None:
        """The blue/green layout with all that an agent makes below its root, and its units."""
        self.put_agent(root)
        self.sh(
            f"cd {root}; mkdir -p lib/aks-flex-node libexec\n"
            f"mv bin/aks-flex-node lib/aks-flex-node/aks-flex-node-blue\n"
            f"cp lib/aks-flex-node/aks-flex-node-blue lib/aks-flex-node/aks-flex-node-green; cd lib/aks-flex-node\n"
            f"ln -s aks-flex-node-blue aks-flex-node-current; ln -s aks-flex-node-green aks-flex-node-last-good\n"
            f"touch aks-flex-node-recovery.sh ../../bin/unbounded-agent-nspawn-lifecycle\n"
            f"touch ../../libexec/unbounded-localdns-network\n"
            f"ln -s {root}/lib/aks-flex-node/aks-flex-node-current {root}/bin/aks-flex-node"
        )

    def put_units(self) -> None:
        """The files and links of all units."""
        self.sh(
            f"cd {UNITS}; mkdir -p multi-user.target.wants; touch {AGENT} {RECOVERY} {FIRST_BOOT}\n"
            f"ln -s ../{AGENT} ../{FIRST_BOOT} multi-user.target.wants/"
        )

    def put_journal(
        self, *records: str, root: str = ROOT, logdir: str = LOGS, config: str = f"{CONFIG}/config.json"
    ) -> None:
        """A closed journal of an install with these records besides the usual ones."""
        lines = [
            f"flexnode-journal 1 {root}",
            "attempt|install",
            f"config|{config}",
            f"logdir|{logdir}",
            *records,
            "done",
        ]
        self.put(JOURNAL, "".join(line + "\n" for line in lines).encode(), 0o600)

    def install(self, host_root: str = f"echo {ROOT}") -> Result:
        """install.sh with the quick agent."""
        self.box.write("/tmp/agent", agent(root=host_root), 0o755)
        result = self.box.run(["sh", INSTALL, "--binary", "/tmp/agent"])
        assert result.code == 0, result
        return result

    def exists(self, path: str) -> bool:
        """Whether anything stands there, a dangling link included."""
        return self.box.run(["sh", "-c", f"[ -e '{path}' ] || [ -L '{path}' ]"]).code == 0

    def resets(self) -> list[str]:
        """The resets that were asked for, in order."""
        return self.box.read(LOG).decode().splitlines() if self.exists(LOG) else []

    def diff(self) -> list[str]:
        """What is different from the untouched tree."""
        return [str(change) for change in self.changes()]

    def changes(self) -> list[Change]:
        """The same as data."""
        return self.box.diff(ignore=SCRATCH)
