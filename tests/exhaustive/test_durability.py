"""The order of syncs and renames: after a power cut the disk holds what the scripts rely on.

A kill cannot show a sync that is missing, since the kernel keeps what was written; so the calls themselves are traced.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

from pyhelpers.contract import STATE_NEW
from pyhelpers.sandbox import Box, Server
from tests.scripts.install import JOURNAL, PROJECT, ROOT_BINARY, SCRIPT, archive
from tests.scripts.uninstall import CONFIG, LOGS, ROOT, STATE, UNINSTALL, Uninstall

CALLS = "fsync,fdatasync,sync,syncfs,rename,renameat,renameat2,mkdir,mkdirat,unlink,unlinkat,rmdir"
LINE = re.compile(r"^\d+ +(\w+)\((.*)")
BOOTSTRAP = SCRIPT.replace("install.sh", "bootstrap.sh")
NEW_JOURNAL = f"{STATE}/.flexnode-new.journal"
NEW_BINARY = "/opt/.flexnode-new.aks-flex-node"


def traced(box: Box, command: Sequence[str]) -> list[str]:
    """Run COMMAND, which must succeed -> what it did: `sync PATH`, `rename A B`, `mkdir A`, `remove A`, in order."""
    trace = ["strace", "-f", "--seccomp-bpf", "-qq", "-y", "-s", "4096", "-e", f"trace={CALLS}", "-o", "/tmp/trace"]
    result = box.run([*trace, *command])
    assert result.code == 0, result.stderr
    return [event for line in box.read("/tmp/trace").decode().splitlines() for event in event_of(line)]


def event_of(line: str) -> list[str]:
    """The event in a line of strace's output, if it holds one."""
    match = LINE.match(line)
    if not match:  # a signal, an exit, the end of a call whose beginning stands above
        return []
    name, arguments = match.groups()
    if name in ("sync", "syncfs"):
        return ["sync"]
    if name in ("fsync", "fdatasync"):
        return [f"sync {arguments[arguments.index('<') + 1 : arguments.rindex('>')]}"]
    word = {"ren": "rename", "mkd": "mkdir"}.get(name[:3], "remove")
    return [" ".join([word, *re.findall(r'"([^"]*)"', arguments)])]


def assert_in_order(events: Sequence[str], *wanted: str) -> None:
    """Each of WANTED happens, after the one before it."""
    position = 0
    for event in wanted:
        assert event in events[position:], f"{event!r} does not come after {events[:position]}: {events[position:]}"
        position = events.index(event, position) + 1


@pytest.fixture(scope="module")
def fresh(server: Server) -> list[str]:
    """The events of an install on a host without an agent."""
    with server.box(binds=[PROJECT]) as box:
        return traced(box, ["sh", SCRIPT, "--archive", archive("current")])


def test_the_agent_is_on_the_disk_before_it_gets_its_name(fresh: list[str]) -> None:
    assert_in_order(fresh, f"sync {NEW_BINARY}", f"rename {NEW_BINARY} {ROOT_BINARY}")


def test_the_journal_is_on_the_disk_with_its_name_before_the_first_change(fresh: list[str]) -> None:
    first = f"mkdir {ROOT}"
    assert_in_order(fresh, f"sync {NEW_JOURNAL}", f"rename {NEW_JOURNAL} {JOURNAL}", f"sync {STATE}", first)


def test_each_directory_that_changed_is_on_the_disk_before_the_journal_says_done(fresh: list[str]) -> None:
    for directory in ("/opt", ROOT, f"{ROOT}/bin", "/etc", "/var/lib", "/var/log"):
        assert_in_order(fresh, f"rename {NEW_BINARY} {ROOT_BINARY}", f"sync {directory}", f"sync {JOURNAL}")


def test_the_word_done_is_on_the_disk_when_the_script_ends(fresh: list[str]) -> None:
    assert [event for event in fresh if event.endswith(JOURNAL)][-1] == f"sync {JOURNAL}"


def test_the_agent_takes_its_name_by_one_rename_also_over_an_older_one(box: Box) -> None:
    assert box.run(["sh", SCRIPT, "--archive", archive("current")]).code == 0
    events = traced(box, ["sh", SCRIPT, "--archive", archive("next")])
    staged = f"{ROOT}/bin/.flexnode-new.aks-flex-node"
    assert_in_order(events, f"sync {staged}", f"rename {staged} {ROOT_BINARY}", f"sync {ROOT}/bin")
    assert f"remove {ROOT_BINARY}" not in events


def test_the_config_is_on_the_disk_before_it_gets_its_name(box: Box) -> None:
    script = (
        f". {BOOTSTRAP}; flexnode_begin test :; FLEXNODE_OPT_VERBOSE= FLEXNODE_OPT_LOG=\n"
        f"flexnode_act config 0600 {CONFIG}/config.json /tmp/staged && flexnode_settle"
    )
    box.write("/tmp/staged", b"{}\n", 0o600)
    assert box.run(["mkdir", CONFIG]).code == 0
    events = traced(box, ["sh", "-c", script])
    staged = f"{CONFIG}/.flexnode-new.config.json"
    assert_in_order(events, f"sync {staged}", f"rename {staged} {CONFIG}/config.json", f"sync {CONFIG}")


def test_all_removals_are_on_the_disk_before_the_journal_goes(box: Box) -> None:
    host = Uninstall(box)
    host.install()
    events = traced(box, ["sh", UNINSTALL, "--yes"])
    goes = f"rename {STATE} {STATE_NEW}"
    assert_in_order(events, f"remove {ROOT_BINARY}", f"remove {ROOT}", "sync /opt", goes)
    for directory in (CONFIG, LOGS):
        assert_in_order(events, f"remove {directory}", f"sync {directory.rpartition('/')[0]}", goes)


def test_what_keep_config_parks_is_on_the_disk_before_the_agent_is_reset(box: Box) -> None:
    host = Uninstall(box)
    host.put_agent(reset="rm -rf /etc/aks-flex-node")
    host.put(f"{CONFIG}/config.json", b"{}", 0o600)
    events = traced(box, ["sh", UNINSTALL, "--yes", "--keep-config"])
    assert_in_order(events, f"sync {STATE}/kept", f"remove {CONFIG}")


def test_what_keep_config_puts_back_is_on_the_disk_before_the_copy_goes(box: Box) -> None:
    host = Uninstall(box)
    host.put_agent(reset="rm -rf /etc/aks-flex-node")
    host.put(f"{CONFIG}/config.json", b"{}", 0o600)
    events = traced(box, ["sh", UNINSTALL, "--yes", "--keep-config"])
    back = f"{CONFIG}/.flexnode-new.config.json"
    assert_in_order(
        events, f"sync {back}", f"rename {back} {CONFIG}/config.json", f"sync {CONFIG}", f"remove {STATE}/kept"
    )
