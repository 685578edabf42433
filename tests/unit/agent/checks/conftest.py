"""A host in a temporary directory on which every check passes; each test takes away what it is about."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pyhelpers.agent.checks.model import Question, Result
from pyhelpers.agent.checks.table import CHECKS
from pyhelpers.agent.config import Config
from pyhelpers.agent.config.validate import validate
from pyhelpers.host import Completed
from pyhelpers.rooted import RecordingHost

CLUSTER = (
    "/subscriptions/44654aed-2753-4b88-9142-af7132933b6b/resourceGroups/rg"
    "/providers/Microsoft.ContainerService/managedClusters/c1"
)
TOOLS = ("systemctl", "systemd-nspawn", "curl", "nft", "mountpoint", "apt-get")
DIRECTORIES = ("/opt/unbounded/bin", "/opt/unbounded/lib/aks-flex-node", "/opt/unbounded/libexec")


@pytest.fixture
def host(tmp_path: Path) -> RecordingHost:
    """A Debian that systemd booted, with nothing of ours on it."""
    root = tmp_path / "root"
    for directory in (
        "etc/systemd/system",
        "etc/sysctl.d",
        "opt",
        "proc/1",
        "run/systemd/system",
        "var/lib",
        "var/log",
    ):
        (root / directory).mkdir(parents=True)
    (root / "proc/1/comm").write_text("systemd\n")
    (root / "etc/os-release").write_text("ID=debian\n")
    host = RecordingHost(root, TOOLS)
    host.answers["systemctl --version"] = Completed((), 0, "systemd 252 (252.39-1~deb12u1)\n+PAM +AUDIT\n")
    host.answers["systemctl is-system-running"] = Completed((), 0, "running\n")
    return host


@pytest.fixture
def question(host: RecordingHost) -> Question:
    """What the checks are asked about, with a config that is right."""
    raw = {"azure": {"targetCluster": {"resourceId": CLUSTER}, "managedIdentity": {}}}
    data, problems = validate(raw, "host1")
    assert problems == []
    return Question(host, Config("/etc/aks-flex-node/config.json", data), DIRECTORIES, 10 << 20)


Ask = Callable[[str], list[Result]]


@pytest.fixture
def ask(question: Question) -> Ask:
    """The results of the check with this id."""
    checks = {check.id: check for check in CHECKS}
    return lambda name: checks[name].run(question)
