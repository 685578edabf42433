"""The whole preflight: report, exit code, ignore list, JSON, time limits, and that it changes nothing."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pyhelpers.agent.checks import preflight, report, runner
from pyhelpers.agent.checks.model import Check, Question, Result
from pyhelpers.agent.checks.table import CHECKS, OTHER_IDS
from pyhelpers.host import Completed
from pyhelpers.rooted import RecordingHost
from pyhelpers.tree import compare, snapshot

CONFIG = "/etc/aks-flex-node/config.json"
OFFICIAL = ("is-privileged-user", "existing-deployment", "host-packages", "host-os-configuration", "disk-space")


@pytest.fixture
def ready(host: RecordingHost, question: Question) -> RecordingHost:
    """The good host with its config file."""
    file = Path(host.prefix + CONFIG)
    file.parent.mkdir()
    file.write_text(json.dumps(question.config.data))  # type: ignore[union-attr]
    return host


def broken(host: RecordingHost) -> RecordingHost:
    """A host with one warning and three errors."""
    host.user_id = 1000
    host.answers["systemctl is-system-running"] = Completed((), 1, "degraded\n")
    data: dict[str, Any] = json.loads(Path(host.prefix + CONFIG).read_text())
    data["agent"]["logLevel"], data["node"]["maxPods"] = "loud", -1
    Path(host.prefix + CONFIG).write_text(json.dumps(data))
    return host


def test_a_good_host_passes(ready: RecordingHost, capsys: pytest.CaptureFixture[str]) -> None:
    assert preflight(CONFIG, host=ready) == 0
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert lines[0] == f"[preflight] config {CONFIG}"
    assert lines[-1] == "Preflight: 8 ok, 0 warnings, 0 errors, 0 unknown"
    assert [line.split()[1] for line in lines[1:-1]] == [check.id for check in CHECKS]
    assert err == ""


def test_preflight_changes_nothing(ready: RecordingHost, capsys: pytest.CaptureFixture[str]) -> None:
    before = snapshot(Path(ready.prefix))
    assert preflight(CONFIG, host=ready) == 0
    assert preflight(CONFIG, "json", host=broken(ready)) == 1
    after = snapshot(Path(ready.prefix))
    assert [change.path for change in compare(before, after)] == ["/etc/aks-flex-node/config.json"]  # by the test
    assert {action for action, _ in ready.events} == {"run"}
    assert {words.split()[0].rpartition("/")[2][:15] for _, words in ready.events} == {"systemctl", ".flexnode-probe"}


def test_errors_are_explained_with_remedies_and_a_hint(
    ready: RecordingHost, capsys: pytest.CaptureFixture[str]
) -> None:
    assert preflight(CONFIG, host=broken(ready)) == 1
    out = capsys.readouterr().out
    assert 'error    agent-config           agent.logLevel: must be debug, info, warning or error, not "loud"' in out
    assert "node.maxPods: must be a whole number from 1 to 1000, not -1" in out
    assert "    -> run it with sudo\n" in out
    assert "--ignore-preflight-errors" not in out  # start needs a config that is right
    assert out.endswith("\nPreflight: 5 ok, 1 warning, 3 errors, 0 unknown\n")


def test_errors_that_start_can_do_without_are_offered_to_be_ignored(
    ready: RecordingHost, capsys: pytest.CaptureFixture[str]
) -> None:
    ready.user_id = 1000
    assert preflight(CONFIG, host=ready) == 1
    assert "--ignore-preflight-errors is-privileged-user\n" in capsys.readouterr().out


def test_ignored_errors_are_warnings_that_say_so(ready: RecordingHost, capsys: pytest.CaptureFixture[str]) -> None:
    assert preflight(CONFIG, ignore="is-privileged-user, agent-config", host=broken(ready)) == 0
    out = capsys.readouterr().out
    assert "warning  is-privileged-user     runs as user id 1000, not as root (ignored)\n" in out
    assert out.endswith("Preflight: 5 ok, 4 warnings, 0 errors, 0 unknown\n")


def test_all_ignores_every_error(ready: RecordingHost, capsys: pytest.CaptureFixture[str]) -> None:
    assert preflight(CONFIG, ignore="all", host=broken(ready)) == 0
    assert "0 errors" in capsys.readouterr().out


def test_an_error_that_is_not_ignored_still_fails(ready: RecordingHost, capsys: pytest.CaptureFixture[str]) -> None:
    assert preflight(CONFIG, ignore="agent-config", host=broken(ready)) == 1
    assert "3 warnings, 1 error," in capsys.readouterr().out


def test_warnings_fail_where_they_are_told_to(ready: RecordingHost, capsys: pytest.CaptureFixture[str]) -> None:
    ready.answers["systemctl is-system-running"] = Completed((), 1, "degraded\n")
    assert preflight(CONFIG, host=ready) == 0
    assert preflight(CONFIG, fail_on_warnings=True, host=ready) == 1
    assert "    -> look at the failed units: systemctl --failed\n" in capsys.readouterr().out


def test_an_id_that_does_not_exist_is_a_warning_line(ready: RecordingHost, capsys: pytest.CaptureFixture[str]) -> None:
    assert preflight(CONFIG, ignore="diskspace,swap-active", host=ready) == 0
    assert capsys.readouterr().err == "preflight: warning: there is no check diskspace to ignore\n"


def test_json_holds_every_field_of_every_result(ready: RecordingHost, capsys: pytest.CaptureFixture[str]) -> None:
    assert preflight(CONFIG, "json", "agent-config", host=broken(ready)) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["status"], found["summary"]) == ("failed", {"ok": 5, "warnings": 3, "errors": 1, "unknown": 0})
    fields = {"name", "target", "severity", "message", "ignored", "observed", "required", "remedy", "duration_ms"}
    assert {frozenset(check) for check in found["checks"]} == {frozenset(fields)}
    ignored = [check for check in found["checks"] if check["ignored"]]
    assert {(check["name"], check["severity"]) for check in ignored} == {("agent-config", "warning")}
    assert found["checks"][0]["remedy"] == "run it with sudo"
    assert isinstance(found["checks"][0]["duration_ms"], int)


def test_a_config_that_is_no_json_is_one_error(ready: RecordingHost, capsys: pytest.CaptureFixture[str]) -> None:
    Path(ready.prefix + CONFIG).write_text("{")
    assert preflight(CONFIG, host=ready) == 1
    assert f"{CONFIG} is not JSON: line 1 column 2" in capsys.readouterr().out


def test_a_linked_root_is_checked_where_it_leads(ready: RecordingHost, capsys: pytest.CaptureFixture[str]) -> None:
    old = Path(ready.prefix, "usr/local/bin/aks-flex-node")
    old.parent.mkdir(parents=True)
    old.touch()
    assert preflight(CONFIG, host=ready) == 0
    assert "/usr/local/bin, /usr/local/lib/aks-flex-node, /usr/local/libexec can be used" in capsys.readouterr().out


# --- runner and report ---------------------------------------------------------------------------------------------
def check(name: str, run: Any, seconds: float = 5) -> Check:
    """A check that does what the test wants."""
    return Check(name, "?", "because", "do it", run, seconds)


def test_a_check_that_hangs_is_unknown_after_its_time_limit(question: Question) -> None:
    release = threading.Event()
    answers = runner.ask([check("slow", lambda _: release.wait() and [], 0.05)], question)
    release.set()
    assert [r.verdict for r in answers[0].results] == ["unknown"]
    assert answers[0].results[0].message == "no answer within 0.05 s"


def test_a_check_that_breaks_is_unknown_and_the_others_answer(question: Question) -> None:
    def breaks(_: Question) -> list[Result]:
        raise ZeroDivisionError("by zero")

    answers = runner.ask([check("bad", breaks), check("good", lambda _: [Result("pass", "fine")])], question)
    assert [answer.results[0].verdict for answer in answers] == ["unknown", "pass"]
    assert answers[0].results[0].message == "the check itself failed: ZeroDivisionError: by zero"


def test_checks_run_at_the_same_time_and_report_in_order(question: Question) -> None:
    meet = threading.Barrier(3, timeout=5)

    def run(_: Question) -> list[Result]:
        meet.wait()
        return [Result("pass", "met")]

    answers = runner.ask([check(name, run) for name in "cab"], question)
    assert [(answer.check.id, answer.results[0].message) for answer in answers] == [(n, "met") for n in "cab"]


def test_what_is_unknown_neither_passes_nor_fails(question: Question) -> None:
    answered = runner.Answered(check("x", None), [Result("unknown", "cannot be seen")], 1)
    made = report.make([answered], [], fail_on_warnings=True)
    assert (made.failed, made.count("ok"), made.count("unknown")) == (False, 0, 1)


def test_every_check_says_what_it_asks_why_and_what_to_do() -> None:
    for one in CHECKS:
        assert one.asks.endswith("?")
        assert one.why.endswith(".")
        assert one.remedy
        assert replace(one, seconds=1).id == one.id


def test_the_ids_are_unique_and_the_official_ones_are_kept() -> None:
    ids = [one.id for one in CHECKS] + list(OTHER_IDS)
    assert len(set(ids)) == len(ids)
    assert set(OFFICIAL) <= {one.id for one in CHECKS}
