"""bootstrap.sh for real: from `cat bootstrap.sh | SHELL` to an agent under systemd, and back to the untouched tree."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from pyhelpers import contract
from pyhelpers.netserve import ReleaseServer
from pyhelpers.release import variant
from pyhelpers.sandbox.result import Result
from pyhelpers.testhost import Host
from tests.scripts.bootstrap import HeldServer

PROJECT = Path(__file__).resolve().parents[2]
SCRIPTS = PROJECT / "scripts"
BOOTSTRAP, UNINSTALL, INSTALL = (str(SCRIPTS / f"{name}.sh") for name in ("bootstrap", "uninstall", "install"))
UNIT, CONFIG, JOURNAL = contract.AGENT_UNIT, contract.CONFIG_PATH, contract.JOURNAL
BINARY = f"{contract.HOST_ROOT}/bin/{contract.BINARY_NAME}"
BASE = "/run/base.json"  # not on the disk, so no part of a difference
CLUSTER = (
    "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/g"
    "/providers/Microsoft.ContainerService/managedClusters/c"
)
GOOD = {"azure": {"targetCluster": {"resourceId": CLUSTER}}}
VARIANTS = ("current", "next", "legacy", "dies-0", "broken-start")
# A drop-in that holds the agent's start until somebody writes to the fifo, or for good when it is only opened: so a
# test knows when a start is under way.
HOLD = "[Service]\nExecStartPre=/bin/sh -c '[ ! -p /run/hold ] || read -r word </run/hold || exec sleep 1000'\n"
DROP_IN = f"/etc/systemd/system/{UNIT}.d/hold.conf"
DURING_START = f'exec 3>/run/hold; sh {BOOTSTRAP} "$@"; code=$?; echo go >&3; exit $code'


class Node:
    """A host with a server of releases, and the scripts."""

    def __init__(self, host: Host, server: ReleaseServer) -> None:
        self.host, self.server = host, server

    def options(self, name: str, *more: str) -> list[str]:
        """Options that bootstrap the variant NAME."""
        archive = f"{self.server.url}/releases/download/{name}/{{{{ARCHIVE_NAME}}}}"
        return ["--base-config", BASE, "--auth", "msi", "--agent-url", archive, *more]

    def bootstrap(self, name: str, *more: str, shell: Sequence[str] = ("sh",)) -> Result:
        """Pipe the script into SHELL."""
        piped = ["sh", "-c", 'script=$1; shift; cat "$script" | "$@"', "pipe", BOOTSTRAP, *shell, "-s", "--"]
        return self.host.run([*piped, *self.options(name, *more)], timeout=120)

    def uninstall_leaves_nothing(self) -> None:
        """uninstall.sh --yes gives the tree of the start back."""
        ok(self.host.run(["sh", UNINSTALL, "--yes"], timeout=120))
        assert list(map(str, self.host.diff())) == []

    def shell(self, command: str) -> str:
        return ok(self.host.run(["sh", "-c", command])).stdout

    def status(self, binary: str = BINARY) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.shell(f"{binary} status --output json"))
        return found

    def is_running(self, root: str = contract.HOST_ROOT) -> None:
        """The agent runs from ROOT, and the attempt is closed."""
        assert self.shell(f"systemctl is-active {UNIT}") == "active\n"
        assert f"ExecStart={root}/bin/aks-flex-node agent" in self.shell(f"cat {contract.UNIT_DIR}/{UNIT}")
        assert self.host.read(JOURNAL).decode().splitlines()[-1] == "done"


@contextmanager
def node(server: type[ReleaseServer] = ReleaseServer) -> Iterator[Node]:
    with Host.clone_of_this_machine(binds=[SCRIPTS]) as host:
        host.write(BASE, json.dumps(GOOD), 0o600)
        with server(host.netns, {name: variant(name) for name in VARIANTS}, "current") as started:
            yield Node(host, started)


@contextmanager
def background(node: Node, *options: str) -> Iterator[Future[Result]]:
    """bootstrap.sh running beside the test."""
    with ThreadPoolExecutor(1) as pool:
        yield pool.submit(node.host.run, ["sh", BOOTSTRAP, *options], timeout=120)


def ok(result: Result) -> Result:
    assert result.code == 0, result.stdout + result.stderr
    return result


def error(result: Result, code: int, words: str) -> None:
    """One error line with the exit code; it may be followed by what was done so far."""
    lines = [line for line in result.stderr.splitlines() if line.startswith("bootstrap: error: ")]
    assert (result.code, len(lines)) == (code, 1), result.stderr
    assert words in lines[0]


@pytest.mark.parametrize("shell", [("bash",), ("dash",), ("busybox", "ash")], ids=" ".join)
def test_a_piped_bootstrap_starts_the_agent_and_uninstall_gives_the_tree_back(shell: Sequence[str]) -> None:
    with node() as it:
        first = ok(it.bootstrap("current", "--config-overrides", '{"node":{"maxPods":50}}', shell=shell))
        assert first.stdout == ""
        assert f"bootstrap: {UNIT} is active: v0.1.0 under /opt/unbounded" in first.stderr
        it.is_running()
        assert it.status()["state"] == "ready"
        assert json.loads(it.host.read(CONFIG))["node"] == {"maxPods": 50}
        modes = it.shell(f"umask 0; stat -L -c '%a %U:%G' {CONFIG} /etc/aks-flex-node {BINARY} /opt/unbounded/bin")
        assert modes.splitlines() == ["600 root:root", "755 root:root", "755 root:root", "755 root:root"]
        assert not [line for line in it.shell("ls -A /var/lib/aks-flex-node").split() if line != "journal"]

        requests = len(it.server.requests)
        error(it.bootstrap("next", shell=shell), 12, "[E_EXISTS]")
        assert len(it.server.requests) == requests
        assert "would" not in it.host.run([*shell, BOOTSTRAP, "--plan", *it.options("next")]).stdout
        it.uninstall_leaves_nothing()


def test_the_installed_agent_is_used_without_any_network() -> None:
    with node() as it:
        it.host.write("/run/agent/aks-flex-node", (variant("current") / "aks-flex-node").read_bytes(), 0o755)
        ok(it.host.run(["sh", INSTALL, "--binary", "/run/agent/aks-flex-node"]))
        it.shell("ip link set lo down")
        path = "/etc/elsewhere/deep/node.json"
        done = ok(it.bootstrap("current", "--use-installed-agent", "--config-path", path))
        assert "--agent-url and --agent-version are not used" in done.stderr
        it.is_running()
        assert f"--config {path}" in it.shell(f"cat {contract.UNIT_DIR}/{UNIT}")
        assert it.shell(f"stat -c %a {path}") == "600\n"
        assert it.server.requests == []
        it.uninstall_leaves_nothing()


def test_an_installed_agent_may_be_anywhere() -> None:
    with node() as it:
        it.host.write("/run/agent/aks-flex-node", (variant("current") / "aks-flex-node").read_bytes(), 0o755)
        ok(it.host.run(["sh", BOOTSTRAP, "--use-installed-agent", "--install-dir", "/run/agent", *it.options("next")]))
        it.is_running()
        assert it.server.requests == []
        it.uninstall_leaves_nothing()


def test_a_current_release_goes_over_a_legacy_one_through_a_link() -> None:
    with node() as it:
        ok(it.bootstrap("legacy"))
        it.is_running("/usr/local")
        assert it.host.run(["test", "-e", "/opt/unbounded"]).code == 1
        it.shell("/usr/local/bin/aks-flex-node reset")

        ok(it.bootstrap("current"))
        it.is_running("/usr/local")
        assert it.shell("readlink /opt/unbounded") == "/usr/local\n"
        assert it.shell(f"{BINARY} version | grep Version:") == "Version: v0.1.0\n"
        it.uninstall_leaves_nothing()


def test_what_preflight_refuses_is_named_and_changes_nothing() -> None:
    with node() as it:
        wrong = {"azure": {"targetCluster": {"resourceId": "x"}}, "node": {"maxPods": -1, "labels": 7}}
        it.host.write("/run/wrong.json", json.dumps(wrong), 0o600)
        result = it.bootstrap("current", "--base-config", "/run/wrong.json")
        error(result, 10, "[E_PREFLIGHT]")
        for key in ("azure.targetCluster.resourceId", "node.maxPods", "node.labels"):
            assert key in result.stderr
        assert list(map(str, it.host.diff())) == []

        settings = "/etc/systemd/nspawn/kube1.nspawn"
        it.host.write(settings, "[Exec]\n")
        before = it.host.diff()
        error(it.bootstrap("current"), 10, "[E_PREFLIGHT]")
        assert it.host.diff() == before

        ok(it.bootstrap("current", "--ignore-preflight-errors", "existing-deployment"))
        it.is_running()


def test_an_agent_that_does_not_start_is_told_and_the_next_run_continues() -> None:
    with node() as it:
        failed = it.bootstrap("broken-start")
        error(failed, 11, "[E_START]")
        assert f"so far: v0.2.0 is {BINARY}" in failed.stderr
        assert "done" not in it.host.read(JOURNAL).decode().splitlines()

        failed = it.bootstrap("dies-0")  # another agent in the place of the one that never started
        error(failed, 11, "[E_START]")
        assert UNIT in failed.stderr

        done = ok(it.bootstrap("current"))
        assert "continuing an attempt that was not finished" in done.stderr
        it.is_running()
        assert "Version: v0.1.0" in it.shell(f"{BINARY} version")
        it.uninstall_leaves_nothing()


def test_a_second_bootstrap_at_the_same_time_is_refused_in_every_phase() -> None:
    with node(HeldServer) as it:
        assert isinstance(it.server, HeldServer)
        it.host.write(DROP_IN, HOLD)
        it.shell("mkfifo /run/hold")
        with background(it, *it.options("current")) as first:
            assert it.server.asked.wait(60)
            error(it.bootstrap("next"), 8, "[E_LOCKED]")
            it.server.go.set()
            error(it.host.run(["sh", "-c", DURING_START, "start", *it.options("next")]), 8, "[E_LOCKED]")
            ok(first.result())
        it.is_running()


@pytest.mark.parametrize("again", [True, False], ids=["run again", "uninstall alone"])
def test_an_attempt_that_lost_power_in_the_middle_of_the_start_is_ours(again: bool) -> None:
    with node() as it:
        it.host.write(DROP_IN, HOLD)
        it.shell("mkfifo /run/hold")
        with background(it, *it.options("current")) as first:
            it.shell("exec 3>/run/hold")  # open: the start has come to the unit
            it.shell("test -e /var/lib/aks-flex-node/start-attempt")
            it.host.power_cut()
            assert first.result().code != 0
        it.server.follow(it.host.netns)
        it.host.write(BASE, json.dumps(GOOD), 0o600)
        assert "done" not in it.host.read(JOURNAL).decode().splitlines()
        if again:
            assert "continuing" in ok(it.bootstrap("current")).stderr
            it.is_running()
        it.shell(f"rm -r {DROP_IN.rpartition('/')[0]}")
        it.uninstall_leaves_nothing()
