"""What the agent leaves in the kernel's network at reset: LocalDNS, tunnel interfaces, rules and routes.

Only what carries one of our names or table numbers is touched, and only where `ip` and `nft` are there to do it.
"""

from __future__ import annotations

import json
from typing import Any

from pyhelpers.agent.steps import Step
from pyhelpers.host import Host

LOCALDNS_TABLE = ("ip", "unbounded_localdns")
LOCALDNS_INTERFACE = "localdns"
NUMBERS = range(51820, 51900)  # WireGuard interfaces wg<n> and routing tables <n>
INTERFACES = frozenset({"geneve0", "vxlan0", "ipip0", "unbounded0", "cbr0", *(f"wg{n}" for n in NUMBERS)})


def steps(localdns_unit: Any) -> list[Step]:
    """The unit that maintains LocalDNS goes before what it would make again."""
    return [
        ("LocalDNS unit", localdns_unit),
        ("LocalDNS table", _table),
        ("LocalDNS interface", _localdns_interface),
        ("interfaces", _interfaces),
        ("rules and routes", _rules_and_routes),
    ]


def _table(host: Host) -> None:
    """Looked for first: `nft delete` of a table that is not there is an error."""
    if host.find("nft") and host.run(["nft", "list", "table", *LOCALDNS_TABLE]).code == 0:
        host.run(["nft", "delete", "table", *LOCALDNS_TABLE]).check()


def _localdns_interface(host: Host) -> list[str]:
    for link in _ip(host, "-details", "link", "show"):
        if link.get("ifname") == LOCALDNS_INTERFACE:
            if link.get("linkinfo", {}).get("info_kind") != "dummy":
                return [f"interface {LOCALDNS_INTERFACE} is no dummy interface and stays: it is not ours"]
            host.run(["ip", "link", "delete", LOCALDNS_INTERFACE]).check()
    return []


def _interfaces(host: Host) -> list[str]:
    left = []
    for link in _ip(host, "link", "show"):
        if link.get("ifname") in INTERFACES:
            done = host.run(["ip", "link", "delete", link["ifname"]])
            if done.code:
                left.append(f"{link['ifname']}: {done.stderr.strip()}")
    return left


def _rules_and_routes(host: Host) -> None:
    for family in ("-4", "-6"):
        for rule in _ip(host, family, "rule", "show"):
            if _number(rule) in NUMBERS:
                table, priority = str(rule["table"]), str(rule["priority"])
                host.run(["ip", family, "rule", "delete", "priority", priority, "table", table]).check()
        used = {_number(route) for route in _ip(host, family, "route", "show", "table", "all")}
        for number in sorted(used & set(NUMBERS)):
            host.run(["ip", family, "route", "flush", "table", str(number)]).check()


def _number(entry: dict[str, Any]) -> int:
    table = str(entry.get("table", ""))
    return int(table) if table.isdigit() else 0


def _ip(host: Host, *words: str) -> list[dict[str, Any]]:
    """`ip -json`; [] where there is no ip. A family that the kernel lacks has no rules either."""
    if host.find("ip") is None:
        return []
    done = host.run(["ip", "-json", *words])
    if done.code or not done.stdout.strip():
        return []
    return [entry for entry in json.loads(done.stdout) if isinstance(entry, dict)]
