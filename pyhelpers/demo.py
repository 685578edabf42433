"""`flexkit demo`: the main job for the eye. Bootstraps the agent by `curl | bash` on a throwaway clone of this
machine, shows it running and what changed, uninstalls it and shows that nothing is left.

Everything happens in the clone; the release is served on the clone's own loopback interface.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from pyhelpers import contract
from pyhelpers.netserve import ReleaseServer
from pyhelpers.release import ReleaseError, variant
from pyhelpers.release.build import VERSION
from pyhelpers.testhost import Host, HostError
from pyhelpers.testhost.show import change_tree

PROJECT = Path(__file__).resolve().parents[1]
SCRIPTS = {f"/{name}": PROJECT / "scripts" / name for name in ("bootstrap.sh", "uninstall.sh")}
BASE_CONFIG = "/run/flexkit-demo/base.json"  # /run is the clone's memory: it is no part of what changed
CLUSTER = (
    "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/demo"
    "/providers/Microsoft.ContainerService/managedClusters/demo"
)
CONFIG = {
    "azure": {"targetCluster": {"resourceId": CLUSTER, "location": "westeurope"}, "managedIdentity": {}},
    "node": {"labels": {"demo": "true"}},
}


class Failed(Exception):
    """A step of the demo did not do what it shows; the text says which."""


def main(argv: Sequence[str]) -> int:
    """Exit 0 when every step did what it should and nothing was left, 125 when release or host cannot be had."""
    parser = argparse.ArgumentParser(prog="flexkit demo", description=__doc__)
    parser.add_argument("--keep", action="store_true", help="leave the host up after the bootstrap, to look around")
    options = parser.parse_args(argv)
    console = Console(soft_wrap=True, highlight=False)
    try:
        Demo(console).run(options.keep)
    except Failed as error:
        console.print(f"[bold red]demo failed:[/] {escape(str(error))}")
        return 1
    except (HostError, ReleaseError) as error:
        console.print(f"flexkit demo: {escape(str(error))}")
        return 125
    return 0


class Demo:
    """The steps in order, each with its time."""

    def __init__(self, console: Console) -> None:
        self.console = console

    def run(self, keep: bool) -> None:
        """Build, boot, bootstrap, look, uninstall, look again."""
        start = time.monotonic()
        with self._step("build the release of the reference agent"):
            release = variant("current")
        with self._step("boot a throwaway clone of this machine"):
            host = Host.clone_of_this_machine()
        with host, ReleaseServer(host.netns, {VERSION: release}, VERSION, files=SCRIPTS) as server:
            self._bootstrap(host, server.url)
            self._look(host)
            if keep:
                self._hand_over(host)
                return
            self._uninstall(host, server.url)
        self.console.print(f"\n[bold]done in {time.monotonic() - start:.1f} s; the clone is gone[/]")

    def _bootstrap(self, host: Host, url: str) -> None:
        host.write(BASE_CONFIG, json.dumps(CONFIG).encode(), 0o600)
        archive = f"{url}/releases/download/{{{{VERSION}}}}/{{{{ARCHIVE_NAME}}}}"
        options = f"--base-config {BASE_CONFIG} --auth msi --agent-version {VERSION} --agent-url '{archive}'"
        with self._step("bootstrap"):
            self._shell(host, f"curl -fsSL {url}/bootstrap.sh | bash -s -- {options}")

    def _look(self, host: Host) -> None:
        with self._step("is it running?"):
            self._shell(host, f"systemctl is-active {contract.AGENT_UNIT}")
            self._shell(host, f"{contract.HOST_ROOT}/bin/{contract.BINARY_NAME} status")
        with self._step("what changed on the host"):
            changes = host.diff()
        if not changes:
            raise Failed("the bootstrap changed nothing")
        self.console.print(change_tree(changes))

    def _uninstall(self, host: Host, url: str) -> None:
        with self._step("uninstall"):
            self._shell(host, f"curl -fsSL {url}/uninstall.sh | bash -s -- --yes")
        with self._step("what is left on the host"):
            changes = host.diff()
        if changes:
            self.console.print(change_tree(changes))
            raise Failed(f"{len(changes)} paths are not as they were")
        self.console.print("  nothing: the file tree is what it was before")

    def _hand_over(self, host: Host) -> None:
        name = host.hand_over()
        self.console.print(
            f"\nthe host stays up as [bold]{name}[/]; look around, then delete it:\n"
            f"  flexkit host exec {name} -- bash\n  flexkit host diff {name}\n  flexkit host down {name}"
        )

    def _shell(self, host: Host, command: str) -> None:
        self.console.print(f"  [bold]$ {escape(command)}[/]")
        result = host.run(["bash", "-o", "pipefail", "-c", command], timeout=120)
        for line in (result.stdout + result.stderr).splitlines():
            self.console.print(f"    {escape(line)}")
        if result.code:
            raise Failed(f"exit {result.code} from: {command}")

    @contextmanager
    def _step(self, title: str) -> Iterator[None]:
        self.console.print(f"\n[bold cyan]== {title}[/]")
        start = time.monotonic()
        yield
        self.console.print(f"  [dim]{time.monotonic() - start:.2f} s[/]")
