"""What reset takes out of the kernel's network: ours by name and number, nothing else."""

from __future__ import annotations

import json

import pytest

from pyhelpers.agent import network
from pyhelpers.agent.failure import AgentError
from pyhelpers.agent.steps import run_all
from pyhelpers.host import Completed
from pyhelpers.rooted import RecordingHost


@pytest.fixture
def net(host: RecordingHost) -> RecordingHost:
    host.tools |= {"ip", "nft"}
    host.answers["nft list table"] = Completed((), 1, "", "No such file or directory")
    return host


def answer(host: RecordingHost, words: str, data: object) -> None:
    host.answers[f"ip -json {words}"] = Completed((), 0, json.dumps(data))


def changes(host: RecordingHost) -> list[str]:
    return [w for a, w in host.events if a == "run" and not w.startswith(("ip -json", "nft list"))]


def clean(host: RecordingHost) -> None:
    run_all(host, network.steps(lambda _: None))


def test_our_interfaces_go_and_others_stay(net: RecordingHost) -> None:
    names = [
        "lo",
        "eth0",
        "wg0",
        "wg51820",
        "wg51899",
        "wg51900",
        "geneve0",
        "vxlan0",
        "ipip0",
        "unbounded0",
        "cbr0",
        "cbr1",
    ]
    answer(net, "link show", [{"ifname": name} for name in names])
    clean(net)
    deleted = [c.removeprefix("ip link delete ") for c in changes(net)]
    assert deleted == ["wg51820", "wg51899", "geneve0", "vxlan0", "ipip0", "unbounded0", "cbr0"]


def test_the_localdns_dummy_goes(net: RecordingHost) -> None:
    answer(net, "-details link show", [{"ifname": "localdns", "linkinfo": {"info_kind": "dummy"}}])
    clean(net)
    assert changes(net) == ["ip link delete localdns"]


def test_a_localdns_that_is_no_dummy_is_refused(net: RecordingHost) -> None:
    answer(net, "-details link show", [{"ifname": "localdns", "linkinfo": {"info_kind": "veth"}}])
    with pytest.raises(AgentError, match="no dummy interface"):
        clean(net)
    assert changes(net) == []


def test_the_localdns_table_is_deleted_when_it_is_there(net: RecordingHost) -> None:
    net.answers["nft list table"] = Completed((), 0, "table ip unbounded_localdns {}")
    clean(net)
    assert changes(net) == ["nft delete table ip unbounded_localdns"]


def test_rules_and_routes_of_our_tables_go_in_both_families(net: RecordingHost) -> None:
    answer(net, "-4 rule show", [{"priority": 0, "table": "local"}, {"priority": 99, "table": "51820"}])
    answer(
        net, "-6 route show table all", [{"dst": "default", "table": "51899"}, {"dst": "fe80::/64"}, {"table": "51900"}]
    )
    clean(net)
    assert changes(net) == ["ip -4 rule delete priority 99 table 51820", "ip -6 route flush table 51899"]


def test_without_ip_and_nft_nothing_is_tried(host: RecordingHost) -> None:
    clean(host)
    assert host.events == []
