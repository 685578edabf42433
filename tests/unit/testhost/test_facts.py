"""What is new on a host, told from what was asked before and after."""

from __future__ import annotations

import sys
from collections import Counter

import pytest

from pyhelpers.testhost import facts


def hexadecimal(address: bytes) -> str:
    """As the kernel writes it: words of four bytes in the machine's order."""
    words = (address[i : i + 4] for i in range(0, len(address), 4))
    return "".join(f"{int.from_bytes(word, sys.byteorder):08X}" for word in words)


@pytest.mark.parametrize(
    ("address", "port", "expected"),
    [
        (bytes([127, 0, 0, 1]), "0050", "127.0.0.1:80"),
        (bytes([0, 0, 0, 0]), "1F90", "0.0.0.0:8080"),
        (bytes(15) + b"\x01", "0016", "[::1]:22"),
        (b"\xfe\x80" + bytes(13) + b"\x02", "FFFF", "[fe80::2]:65535"),
    ],
)
def test_an_address_of_the_kernels_tables_is_shown_as_people_write_it(address: bytes, port: str, expected: str) -> None:
    assert facts.address(f"{hexadecimal(address)}:{port}") == expected


def test_news_are_what_was_added_and_a_second_process_of_the_same_name_counts() -> None:
    nothing: Counter[str] = Counter()
    before = facts.Facts(Counter({"a.service active": 1}), nothing, nothing, nothing, Counter({"sleep 1": 1}))
    after = facts.Facts(Counter({"a.service failed": 1}), Counter({"u": 1}), nothing, nothing, Counter({"sleep 1": 2}))
    assert facts.news(before, after) == {
        "units": ["a.service failed"],
        "users": ["u"],
        "groups": [],
        "ports": [],
        "processes": ["sleep 1"],
    }


@pytest.mark.parametrize(
    ("path", "is_unit"),
    [
        ("/etc/systemd/system/x.service", True),
        ("/etc/systemd/system/multi-user.target.wants/x.service", True),
        ("/usr/lib/systemd/system/x.timer", True),
        ("/etc/systemd/system/x.service.d/override.conf", False),
        ("/etc/systemd/user/x.service", False),
    ],
)
def test_files_and_links_of_units_are_known_by_their_place(path: str, is_unit: bool) -> None:
    assert bool(facts.UNIT_FILE.search(path)) is is_unit
