"""What can be seen of a host beside its files: units, users, groups, listening ports, processes; and what is new."""

from __future__ import annotations

import re
import socket
import struct
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from pyhelpers.testhost.host import Host, HostError
from pyhelpers.testhost.runner import UNIT_PREFIX
from pyhelpers.tree import Change

# pid 1 and what descends from it, but for the processes of this very question (same cgroup) and of the keeper's
# clients, whose parent is outside (0). /proc instead of ps, which a small host lacks.
PROCESSES = r"""
own=$(cat /proc/self/cgroup)
for dir in /proc/[0-9]*; do
  [ "$(cat "$dir/cgroup" 2>/dev/null)" != "$own" ] || continue
  [ "${dir#/proc/}" = 1 ] || ! grep -q '^PPid:.0$' "$dir/status" 2>/dev/null || continue
  line=$(tr '\0' ' ' 2>/dev/null <"$dir/cmdline") && [ -n "$line" ] && printf '%s\n' "${line% }"
done
exit 0
"""
PLAIN = ("--no-legend", "--no-pager", "--plain", "--full")
UNIT_FILE = re.compile(r"/systemd/system/.*\.(automount|mount|path|service|slice|socket|swap|target|timer)$")
TCP_LISTENS, UDP_IS_BOUND = "0A", "07"  # linux/tcp_states.h


@dataclass(frozen=True)
class Facts:
    """Everything as lines for people; a line that is there afterwards and was not before is new."""

    units: Counter[str]  # name and active state of each loaded unit
    users: Counter[str]
    groups: Counter[str]
    ports: Counter[str]
    processes: Counter[str]


def gather(host: Host) -> Facts:
    """Ask the host. Raises HostError when one of the questions cannot be answered."""
    loaded = [line.split()[:3] for line in _output(host, ["systemctl", "list-units", "--all", *PLAIN]).splitlines()]
    return Facts(
        Counter(f"{name} {active}" for name, _, active in loaded if not name.startswith(UNIT_PREFIX)),
        Counter(_accounts(host, "/etc/passwd")),
        Counter(_accounts(host, "/etc/group")),
        Counter(_ports(host)),
        Counter(_output(host, ["/bin/sh", "-c", PROCESSES]).splitlines()),
    )


def news(before: Facts, after: Facts) -> dict[str, list[str]]:
    """Title -> what is new, sorted; a thing that only changed its state counts as new."""
    titles = ("units", "users", "groups", "ports", "processes")
    return {title: sorted((getattr(after, title) - getattr(before, title)).elements()) for title in titles}


def changed_units(host: Host, new: list[str], changes: Iterable[Change]) -> list[str]:
    """`NAME (enabled, active)` of the units that changed their state (NEW) or a file or link of theirs (CHANGES).

    Only these are asked for: to list all unit files with their state takes longer than everything else together.
    """
    names = {line.split()[0] for line in new}
    names |= {change.path.rpartition("/")[2] for change in changes if UNIT_FILE.search(change.path)}
    if not names:
        return []
    properties = "--property=Id,LoadState,UnitFileState,ActiveState"
    blocks = _output(host, ["systemctl", "show", properties, "--", *sorted(names)]).strip().split("\n\n")
    units = [dict(line.split("=", 1) for line in block.splitlines()) for block in blocks]
    return sorted(
        f"{unit['Id']} ({unit['UnitFileState'] or 'no file'}, {unit['ActiveState']})"
        for unit in units
        if unit["LoadState"] != "not-found"
    )


def _output(host: Host, argv: list[str]) -> str:
    result = host.run(argv)
    if result.code:
        raise HostError(f"{argv[0]} failed on the host ({result.code}): {result.stderr.strip()}")
    return result.stdout


def _accounts(host: Host, path: str) -> list[str]:
    return [line for line in host.read(path).decode(errors="replace").splitlines() if line.strip()]


def _ports(host: Host) -> list[str]:
    """`tcp 127.0.0.1:80`; the tables are described in proc_net_tcp(5)."""
    found = []
    for table, state in (("tcp", TCP_LISTENS), ("tcp6", TCP_LISTENS), ("udp", UDP_IS_BOUND), ("udp6", UDP_IS_BOUND)):
        for line in host.read(f"/proc/1/net/{table}").decode().splitlines()[1:]:
            fields = line.split()
            if fields[3] == state:
                found.append(f"{table} {address(fields[1])}")
    return found


def address(text: str) -> str:
    """`0100007F:0050` -> `127.0.0.1:80`; the address is in words of the machine's byte order."""
    digits, _, port = text.partition(":")
    words = [int(digits[i : i + 8], 16) for i in range(0, len(digits), 8)]
    packed = struct.pack(f"={len(words)}I", *words)
    if len(words) == 1:
        return f"{socket.inet_ntop(socket.AF_INET, packed)}:{int(port, 16)}"
    return f"[{socket.inet_ntop(socket.AF_INET6, packed)}]:{int(port, 16)}"
