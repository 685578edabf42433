"""Cuts the power of a throwaway host before the N-th mutating system call of a bootstrap; says what is left."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager

from pyhelpers.netserve import ReleaseServer
from pyhelpers.release import variant
from pyhelpers.sandbox.mutations import Decision, Watch, go_on, stop_before
from pyhelpers.testhost import Host
from pyhelpers.tree import Change
from tests.faults.kill import PROJECT, UNINSTALL, must, stopped_or_ended

AGENT_UNIT = "aks-flex-node-agent.service"
EXISTING_DEPLOYMENT = 12
CONFIG = "/run/faults/base.json"
CLUSTER = (
    "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/faults"
    "/providers/Microsoft.ContainerService/managedClusters/faults"
)
SETTINGS = {"azure": {"targetCluster": {"resourceId": CLUSTER}, "managedIdentity": {}}}


class Node:
    """A throwaway host with a release server that follows it over reboots."""

    def __init__(self, host: Host, server: ReleaseServer) -> None:
        self.host, self.server = host, server

    @property
    def bootstrap(self) -> list[str]:
        """The command line of the bootstrap; it needs `give_config` once after each boot."""
        archive = f"{self.server.url}/releases/download/v0.1.0/{{{{ARCHIVE_NAME}}}}"
        options = f"--base-config {CONFIG} --auth msi --agent-version v0.1.0 --agent-url {archive}"
        return ["sh", str(PROJECT / "scripts/bootstrap.sh"), *options.split()]

    def give_config(self) -> None:
        """/run is empty after each boot."""
        self.host.write(CONFIG, json.dumps(SETTINGS), 0o600)

    def cut_and_boot(self) -> None:
        """Power off without a warning, then boot from the same disk."""
        self.host.power_cut()
        self.server.follow(self.host.netns)
        self.give_config()

    @contextmanager
    def watch(self, decide: Decision) -> Iterator[Watch]:
        """A watch whose socket is in the host's /run."""
        with self.host.root() as root:
            path = f"/proc/{os.getpid()}/fd/{root}/run/w.sock"
            with Watch(path, "/run/w.sock", decide) as one:
                yield one


@contextmanager
def node() -> Iterator[Node]:
    """A booted host that sees the project and a server with the current release."""
    release = {"v0.1.0": variant("current")}
    with Host.clone_of_this_machine(binds=[PROJECT]) as host, ReleaseServer(host.netns, release) as server:
        one = Node(host, server)
        one.give_config()
        yield one


def calls() -> int:
    """How many mutating calls an undisturbed bootstrap and its agent's start make."""
    with node() as one:
        with one.watch(go_on) as watch:
            must(one.host.run(watch.argv(one.bootstrap), timeout=120))
        return watch.count


def leftovers(number: int, *, rerun: bool) -> list[Change]:
    """Cut the power at call NUMBER, perhaps bootstrap again, uninstall -> what is not as it was."""
    with node() as one:
        with one.watch(stop_before(number)) as watch:
            runner = stopped_or_ended(watch, lambda: one.host.run(watch.argv(one.bootstrap), timeout=120))
            one.cut_and_boot()
            runner.join()
        if rerun:
            _continue(one)
        must(one.host.run(["sh", UNINSTALL, "--yes"], timeout=120))
        return one.host.diff()


def _continue(one: Node) -> None:
    """Bootstrap again. When the cut came after the first run's end, the agent it started is what must be in the way."""
    again = one.host.run(one.bootstrap, timeout=120)
    if again.code == EXISTING_DEPLOYMENT:
        must(one.host.run(["systemctl", "is-active", AGENT_UNIT]))
    else:
        must(again)
