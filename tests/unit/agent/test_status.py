"""Status: the truth from systemd, layout and state, also when one of them is missing or wrong."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from pyhelpers import contract
from pyhelpers.agent import layout, state, status, units
from pyhelpers.host import Completed
from pyhelpers.rooted import RecordingHost


def systemd(host: RecordingHost, **properties: str) -> None:
    text = "".join(f"{name}={value}\n" for name, value in properties.items())
    host.answers[f"systemctl show --property={','.join(status.PROPERTIES)} -- {contract.AGENT_UNIT}"] = Completed(
        (), 0, text
    )


@pytest.fixture
def joined(host: RecordingHost, install: Callable[..., None], config: Callable[..., str]) -> RecordingHost:
    install()
    layout.ensure(host, contract.HOST_ROOT)
    units.converge(host, contract.HOST_ROOT, config(), arc=False)
    state.write(host, {"state": "ready", "pid": 7, "version": "v1"})
    host.answers["systemctl show"] = Completed((), 0, "ActiveState=inactive\n")
    host.events.clear()
    return host


@pytest.mark.parametrize(
    ("active", "sub", "pid", "word"),
    [
        ("active", "running", "7", "ready"),
        ("active", "running", "8", "starting"),
        ("activating", "auto-restart", "0", "restarting"),
        ("activating", "start-pre", "0", "starting"),
        ("failed", "failed", "0", "failed"),
        ("inactive", "dead", "0", "stopped"),
    ],
)
def test_the_state_is_what_systemd_and_the_daemon_say_together(
    joined: RecordingHost, active: str, sub: str, pid: str, word: str
) -> None:
    joined.answers.clear()
    systemd(joined, ActiveState=active, SubState=sub, MainPID=pid)
    found = status.collect(joined)
    assert (found["state"], found["slot"], found["lastGoodSlot"], found["version"]) == (word, "blue", "blue", "v1")


def test_it_works_on_a_bare_host_without_systemd(host: RecordingHost) -> None:
    host.answers["systemctl"] = Completed((), 127)
    found = status.collect(host)
    assert (found["state"], found["slot"]) == ("not-installed", "")
    assert found["problems"] == ["systemd does not answer"]


def test_a_refused_state_is_a_problem_and_not_believed(joined: RecordingHost) -> None:
    joined.write(contract.DAEMON_STATE, b"{}")
    systemd(joined, ActiveState="active", SubState="running", MainPID="7")
    found = status.collect(joined)
    assert found["version"] == ""
    assert ["refused" in problem for problem in found["problems"]] == [True]


def test_an_unfinished_start_is_a_problem(joined: RecordingHost) -> None:
    joined.make_directory(contract.STATE_DIR)
    joined.write(contract.START_ATTEMPT, b"")
    assert status.collect(joined)["problems"] == ["a start has not been finished: run start again"]


def test_json_and_text_say_the_same_and_nothing_is_changed(joined: RecordingHost) -> None:
    found = json.loads(status.report(joined, "json"))
    text = status.report(joined, "text")
    assert found["state"] == "stopped"
    assert "State:           stopped" in text
    assert "Active slot:     blue (last good: blue)" in text
    assert "Last operation:  none" in text
    assert [event for event in joined.events if event[0] != "run"] == []
