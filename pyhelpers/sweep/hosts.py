"""The hosts that a sweep starts from, made in a sandbox, and the command line of each script there.

A sandbox has no systemd: a stand-in named so answers `systemctl`, and a bootstrap ends at the agent's start, which
fails. Everything of ours lies below /run/sweep and does not count.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

from pyhelpers import contract
from pyhelpers.sandbox import Box, Result, SandboxError
from pyhelpers.sweep import agents

PROJECT = Path(__file__).resolve().parents[2]
OWN = "/run/sweep"
IGNORED = (f"{OWN}/**", "/run/systemd/**", "/run/mount/**")
ENV = {"PATH": f"{OWN}/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C"}
START_FAILED = 11
SYSTEMCTL = """#!/bin/sh
# A stand-in: knows one active unit while the file `active` is there.
case $1 in
  is-active) [ -e @OWN@/active ] && echo active && exit; echo inactive; exit 3 ;;
  is-failed) exit 1 ;;
  stop) rm -f @OWN@/active ;;
  show) echo ActiveState=inactive ;;
  is-system-running) echo running ;;
  --version) echo 'systemd 252 (252)' ;;
esac
exit 0
"""
CLUSTER = (
    "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/sweep"
    "/providers/Microsoft.ContainerService/managedClusters/sweep"
)
SETTINGS = {"azure": {"targetCluster": {"resourceId": CLUSTER}, "managedIdentity": {}}}
LAYOUT = f"""
name={contract.BINARY_NAME}
cd {contract.HOST_ROOT}; mkdir -p lib/{contract.LIB_NAME} libexec; cd lib/{contract.LIB_NAME}
mv ../../bin/$name $name-blue; cp -p $name-blue $name-green; touch {contract.RECOVERY_SCRIPT}
for link in {contract.CURRENT} {contract.LAST_GOOD}; do ln -s "$PWD/$name-blue" $link; done
ln -s "$PWD/{contract.CURRENT}" ../../bin/$name
"""
UNITS = f"""
cd {contract.UNIT_DIR}; mkdir -p {contract.AGENT_WANTED_BY}.wants; touch {contract.AGENT_UNIT} {contract.RECOVERY_UNIT}
ln -s ../{contract.AGENT_UNIT} {contract.AGENT_WANTED_BY}.wants/; touch {OWN}/active {contract.LOG_DIR}/agent.log
umask 077; echo '{{}}' >{contract.CONFIG_PATH}
mkdir {contract.CREDENTIALS_DIR}; echo s >{contract.CREDENTIALS_DIR}/secret
"""


def script(name: str) -> str:
    """Where one of the scripts is, in a sandbox too."""
    return str(PROJECT / "scripts" / f"{name}.sh")


def install(name: str) -> list[str]:
    """Install the agent NAME (a key of agents.VERSIONS)."""
    return ["sh", script("install"), "--archive", f"{OWN}/{name}.tar.gz"]


def bootstrap(name: str) -> list[str]:
    """Bootstrap with the agent NAME, whose start fails."""
    options = f"--base-config {OWN}/base.json --auth msi --ignore-preflight-errors service-manager"
    return ["sh", script("bootstrap"), *options.split(), "--agent-url", f"{OWN}/{name}.tar.gz"]


UNINSTALL = ["sh", script("uninstall"), "--yes"]


def run(box: Box, command: list[str]) -> Result:
    """Run one of the scripts."""
    return box.run(command, env=ENV, timeout=60)


def must(box: Box, command: list[str]) -> None:
    """Run what prepares a host; SandboxError when it fails, since nothing can be said then."""
    result = run(box, command)
    if result.code != 0:
        raise SandboxError(f"a host to start from cannot be made: {' '.join(command)}: {result.stderr}")


def _installs(*names: str) -> Callable[[Box], None]:
    def prepare(box: Box) -> None:
        for name in names:
            must(box, install(name))

    return prepare


def _deployed(box: Box, after: str) -> None:
    must(box, install("current"))
    must(box, ["sh", "-euc", after])


PREPARE: dict[str, Callable[[Box], None]] = {
    "plain": _installs(),  # never saw an agent
    "legacy": _installs("legacy"),  # an agent that predates the host root
    "linked": _installs("legacy", "current"),  # the same, the host root is a link to the legacy root by now
    "installed": _installs("current"),  # an agent that was never started
    "reset": partial(_deployed, after=LAYOUT),  # slots and links, as a reset leaves them
    "started": partial(_deployed, after=LAYOUT + UNITS),  # slots, links, units, config
}
# script -> the hosts that it is swept on
HOSTS = {
    "install": ("plain", "legacy", "linked", "installed", "reset"),
    "bootstrap": ("plain", "legacy", "linked", "installed", "reset"),
    "uninstall": ("legacy", "linked", "installed", "reset", "started"),
}
NEWER = ("linked", "installed", "reset", "started")  # hosts that have `current`: `next` goes there


def wanted(host: str, reference: bool) -> str:
    """The agent that install and bootstrap put on a host."""
    return "next" if reference or host in NEWER else "current"


def command(name: str, host: str, reference: bool) -> list[str]:
    """The command line of the script NAME on a host."""
    if name == "uninstall":
        return UNINSTALL
    return (install if name == "install" else bootstrap)(wanted(host, reference))


def prepare(box: Box, host: str, reference: bool) -> None:
    """Make a fresh sandbox that host."""
    must(box, ["mkdir", "-p", f"{OWN}/bin", "/run/systemd/system"])
    box.write(f"{OWN}/bin/systemctl", SYSTEMCTL.replace("@OWN@", OWN).encode(), 0o755)
    box.write(f"{OWN}/base.json", json.dumps(SETTINGS).encode(), 0o600)
    for name in agents.VERSIONS:
        box.write(f"{OWN}/{name}.tar.gz", agents.archive(name, reference), 0o600)
    PREPARE[host](box)
