"""Measures throwaway hosts: start, command, difference, reboot, power cut, end; beside a host from a copied tree.

The copy holds only the packages that a boot needs (this machine's whole tree would take minutes) and boots in the
same way as the clone, so the ratio shows what the overlay saves, and in the copy's favour.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from pyhelpers.testhost import Host

BOOTABLE = (
    "systemd",
    "dbus",
    "bash",
    "coreutils",
    "base-files",
    "base-passwd",
    "passwd",
    "login",
    "mount",
    "util-linux",
)
TOP = {"/bin", "/sbin", "/lib", "/lib64", "/etc", "/usr", "/var", "/dev", "/proc", "/run", "/sys", "/tmp", "/root"}
TOP |= {"/etc/passwd", "/etc/group", "/etc/shadow", "/etc/gshadow", "/etc/ld.so.cache"}
UNNEEDED = ("/usr/share/doc", "/usr/share/man", "/usr/share/locale")


def seconds(work: Callable[[], object]) -> float:
    """How long WORK takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def measure(times: int = 5) -> dict[str, list[float]]:
    """Seconds of each thing, `times` values; start is from nothing to systemd's `running`."""
    found: dict[str, list[float]] = {}
    for _ in range(times):
        for name, value in _one_host().items():
            found.setdefault(name, []).append(value)
    return found


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


def copied_tree() -> float:
    """Seconds to copy a bootable tree and boot it to `running`."""
    files = _files(_closure(BOOTABLE))
    with tempfile.TemporaryDirectory(prefix="flexkit-bench-", dir="/var/tmp") as directory:
        start = time.perf_counter()
        _copy(files, Path(directory))
        Path(directory).chmod(0o755)
        with Host.clone_of_this_machine(base=Path(directory)) as host:
            took = time.perf_counter() - start
            if host.state != "running":
                raise RuntimeError(f"the host from a copy is {host.state}")
    return took


def _closure(packages: tuple[str, ...]) -> set[str]:
    """The packages with all that they depend on, of alternatives those that are installed."""
    query = ["dpkg-query", "--show", "--showformat=${Package}\t${Pre-Depends}, ${Depends}\n"]
    lines = subprocess.run(query, check=True, capture_output=True, text=True).stdout.splitlines()
    needs = {
        name: set(re.findall(r"[a-z0-9][a-z0-9.+-]+", text)) for name, _, text in (x.partition("\t") for x in lines)
    }
    found: set[str] = set()
    todo = list(packages)
    while todo:
        name = todo.pop()
        if name in needs and name not in found:
            found.add(name)
            todo += needs[name]
    return found


def _files(packages: set[str]) -> bytes:
    """What tar shall copy, separated by NUL, in the order that makes directories first."""
    listed = subprocess.run(
        ["dpkg", "--listfiles", *sorted(packages)], check=True, capture_output=True, text=True
    ).stdout
    names = {line for line in listed.splitlines() if line.startswith("/") and not line.startswith(UNNEEDED)}
    real = {os.path.realpath(above) + "/" + name for above, _, name in (x.rpartition("/") for x in names) if above}
    names = {name for name in real | TOP if os.path.lexists(name)}  # packages name what lies in /usr by /bin or /lib
    return "\0".join(sorted(name.lstrip("/") for name in names)).encode()


def _copy(files: bytes, root: Path) -> None:
    pack = ["tar", "-C", "/", "--null", "--no-recursion", "--files-from=-", "-cf", "-"]
    with subprocess.Popen(pack, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as source:
        assert source.stdin is not None
        with subprocess.Popen(["tar", "-C", str(root), "-xf", "-"], stdin=source.stdout) as target:
            source.stdin.write(files)
            source.stdin.close()
        if target.returncode or source.wait():
            raise RuntimeError("the tree cannot be copied")
