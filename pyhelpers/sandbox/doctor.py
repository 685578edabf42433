"""`flexkit doctor`: says which depth of test this machine can do, and why not. It tries things, it does not guess.

Where a depth is not possible nothing falls back to a weaker one: what was to be tested then does not run.
"""

from __future__ import annotations

import argparse
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from pyhelpers.sandbox.result import SandboxError
from pyhelpers.sandbox.server import Server


class Depth(NamedTuple):
    """One depth of test: its name, what it shows, the reasons against it (none: possible)."""

    name: str
    shows: str
    reasons: list[str]


def main(argv: Sequence[str]) -> int:
    """Exit 0 when sandboxes are possible, else 1."""
    argparse.ArgumentParser(prog="flexkit doctor", description=__doc__).parse_args(argv)
    depths = examine()
    for depth in depths:
        print(f"{depth.name:<15} {'no' if depth.reasons else 'yes'}  {depth.shows}")
        for reason in depth.reasons:
            print(f"{'':<15}     - {reason}")
    return 1 if depths[0].reasons else 0


def examine() -> list[Depth]:
    """All depths, the sandbox first."""
    sandbox = sandbox_reasons()
    return [
        Depth("sandbox", "what a command writes: namespaces over an overlay of /", sandbox),
        Depth(
            "throwaway host",
            "units, boots, power cuts: systemd in such an overlay",
            [*(["it needs sandboxes"] if sandbox else []), *_host_reasons()],
        ),
    ]


def sandbox_reasons() -> list[str]:
    """Why no sandbox can be made here: what the attempt to make one says."""
    try:
        with Server(jobs=0, fork=True) as server:
            result = server.run(["true"])
    except SandboxError as error:
        return [f"{error}{_hint()}"]
    return [] if result.code == 0 else [f"`true` gave {result.code} in it: {result.stderr.strip()}"]


def _hint() -> str:
    """What usually stands behind a refusal of the kernel."""
    if os.geteuid() != 0:
        return ""
    release = tuple(int(part) for part in os.uname().release.split("-")[0].split(".")[:2])
    if release < (5, 12):
        return f" (Linux {os.uname().release} is too old: 5.12 or later is needed)"
    if Path("/proc/1/comm").read_text() == "sandbox\n":
        return " (this is the inside of a sandbox)"
    if Path("/run/.containerenv").exists() or Path("/.dockerenv").exists():
        return " (this is a container: it must be privileged, and its root no overlay over an overlay)"
    return " (inside a sandbox or container this right is missing even for root)"


def _host_reasons() -> list[str]:
    reasons = [
        f"{tool} is missing: install {package}"
        for tool, package in (("systemd-nspawn", "systemd-container"), ("nsenter", "util-linux"))
        if shutil.which(tool) is None
    ]
    if not any(os.access(path, os.W_OK) for path in _systemd_hierarchies()):
        reasons.append("no cgroup tree below /sys/fs/cgroup can be written")
    if not any(Path(root, "systemd/systemd").exists() for root in ("/lib", "/usr/lib")):
        reasons.append("this machine has no systemd to boot: install systemd")
    return reasons


def _systemd_hierarchies() -> list[str]:
    """The cgroup trees that systemd could run on: version 2, or the named one of version 1."""
    tops = ("/sys/fs/cgroup", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/systemd")
    return [top for top in tops if Path(top, "cgroup.procs").exists()]
