"""Measures throwaway hosts: start, command, difference, reboot, power cut, end, and the end after a SIGKILL."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from pyhelpers.bench.report import Row, row, seconds
from pyhelpers.testhost import Host, cgroup

ROUNDS = 5
LIMITS_MS = {"host start to running": 2000.0, "all gone after SIGKILL of the tool": 2000.0}
TOOL = """
import sys
from pyhelpers.testhost import Host
with Host.clone_of_this_machine() as host:
    print(host.name, flush=True)
    sys.stdin.read()
"""


def measure() -> list[Row]:
    """One row for each thing; start is from nothing to systemd's `running`."""
    found: dict[str, list[float]] = {}
    for _ in range(ROUNDS):
        for name, value in _one_host().items():
            found.setdefault(name, []).append(value)
        found.setdefault("all gone after SIGKILL of the tool", []).append(_killed())
    return [row(name, times, limit=LIMITS_MS.get(name)) for name, times in found.items()]


def _one_host() -> dict[str, float]:
    start = time.perf_counter()
    host = Host.clone_of_this_machine()
    found = {"host start to running": time.perf_counter() - start}
    try:
        if host.state != "running":
            raise RuntimeError(f"the host is {host.state}")
        found["host run true"] = seconds(lambda: host.run(["true"]))
        found["host diff"] = seconds(host.diff)
        found["host reboot"] = seconds(host.reboot)
        found["host power cut and boot"] = seconds(host.power_cut)
    finally:
        found["host down"] = seconds(host.down)
    return found


def _killed() -> float:
    """Seconds from SIGKILL of a tool that has a host until none of its processes and cgroups is left."""
    with subprocess.Popen(
        [sys.executable, "-c", TOOL], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as tool:
        assert tool.stdout is not None
        name = tool.stdout.readline().strip()
        if not _left(name):
            raise RuntimeError("the host did not come up")
        tool.kill()
    start = time.perf_counter()
    while left := _left(name):
        if time.perf_counter() - start > 10:
            raise RuntimeError(f"left after 10 s: {left}")
        time.sleep(0.005)  # the end of a process that is nobody's child here cannot be awaited
    return time.perf_counter() - start


def _left(name: str) -> list[str]:
    """The cgroups of the host NAME and the processes in them; its mounts live and die with these."""
    found = [str(path) for path in cgroup.existing() if name in path]
    for entry in Path("/proc").glob("[0-9]*/cgroup"):
        try:
            if f"/{cgroup.PREFIX}{name}-" in entry.read_text():
                found.append(str(entry.parent))
        except (FileNotFoundError, ProcessLookupError):
            continue
    return found
