"""The command line's contract: what a caller sees of each command, and what a command costs to import."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pyhelpers import contract
from pyhelpers.agent import build, cli, fault
from pyhelpers.agent.build import Build


def run(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, str, str]:
    code = cli.main(list(argv))
    said = capsys.readouterr()
    return code, said.out, said.err


def built_as(monkeypatch: pytest.MonkeyPatch, **facts: object) -> None:
    monkeypatch.setattr(build, "current", lambda: Build(**facts))  # type: ignore[arg-type]


def test_version_is_four_lines_on_stdout(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    built_as(monkeypatch, version="v1.2.3", git_commit="abc", build_time="2026-01-01T00:00:00Z")
    assert run(capsys, "version") == (
        0,
        f"{contract.PRODUCT_TITLE}\nVersion: v1.2.3\nGit Commit: abc\nBuild Time: 2026-01-01T00:00:00Z\n",
        "",
    )


def test_version_imports_nothing_that_python_has_not_loaded_but_the_agent_itself() -> None:
    program = (
        "import sys; before = set(sys.modules)\n"
        "from pyhelpers.agent.cli import main; main(['version'])\n"
        "print(*sorted(set(sys.modules) - before), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=Path.cwd())
    extra = [name for name in done.stderr.split() if not name.startswith("pyhelpers") and name != "__future__"]
    assert extra == []


@pytest.mark.parametrize(
    ("argv", "cause"),
    [
        (["frobnicate"], 'unknown command "frobnicate"'),
        (["version", "now"], 'unexpected argument "now"'),
        (["status", "--colour"], "unknown flag: --colour"),
        (["start"], 'required flag "config" not set'),
        (["start", "--config"], "flag needs an argument: --config"),
        (["start", "--config="], 'required flag "config" not set'),
        (["status", "--output", "yaml"], "--output must be text or json"),
    ],
)
def test_a_wrong_call_is_one_line_and_exit_1(capsys: pytest.CaptureFixture[str], argv: list[str], cause: str) -> None:
    assert run(capsys, *argv) == (1, "", f"Command execution failed: {cause}\n")


def test_help_goes_to_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    for argv in ([], ["--help"], ["help"], ["start", "--help"]):
        code, out, err = run(capsys, *argv)
        assert (code, err) == (0, "")
        assert out.startswith("usage: aks-flex-node COMMAND")


def test_aliases_and_both_ways_to_give_a_value() -> None:
    assert cli.parse(["bootstrap", "--config=/c"], False) == ("start", {"config": "/c"})
    assert cli.parse(["agent", "--config", "/c"], False) == ("daemon", {"config": "/c"})
    assert cli.parse(["unbootstrap"], False) == ("reset", {})
    assert cli.parse(["preflight", "--config", "/c", "--fail-on-warnings"], False)[1]["fail-on-warnings"] == "true"


def test_a_wrong_config_names_every_problem_and_changes_nothing(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "config.json"
    path.write_text('{"agent": {"logLevel": "loud"}, "node": {"maxPods": "many"}}')
    code, out, err = run(capsys, "start", "--config", str(path))
    assert (code, out) == (1, "")
    assert err.startswith("Command execution failed: ") and err.count("\n") == 1
    for key in ("agent.logLevel", "node.maxPods", "azure.targetCluster.resourceId"):
        assert key in err


def test_a_relative_config_path_is_refused_since_the_unit_runs_elsewhere(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "start", "--config", "config.json")
    assert code == 1
    assert "must be an absolute path" in err


def test_the_canonical_root_is_the_one_as_released(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "host-root", "--canonical") == (0, "/opt/unbounded\n", "")


# --- built-in faults --------------------------------------------------------------------------------------------
def test_a_legacy_release_does_not_know_host_root(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    built_as(monkeypatch, legacy=True)
    assert run(capsys, "host-root") == (1, "", 'Command execution failed: unknown command "host-root"\n')


def test_a_broken_build_exits_126_whatever_it_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    built_as(monkeypatch, fault="broken")
    for argv in (["version"], ["host-root"], ["--help"]):
        with pytest.raises(SystemExit) as caught:
            cli.main(argv)
        assert caught.value.code == 126


def test_a_bad_host_root_build_prints_a_relative_path(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    built_as(monkeypatch, fault="bad-host-root")
    assert run(capsys, "host-root") == (0, "opt/unbounded\n", "")


def test_a_build_that_hangs_answers_nothing_until_it_is_killed() -> None:
    program = (
        "from pyhelpers.agent import build, cli\n"
        "build.current = lambda: build.Build(fault='hangs')\n"
        "cli.main(['version'])"
    )
    with pytest.raises(subprocess.TimeoutExpired) as caught:
        subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=0.5, check=False)
    assert not caught.value.stdout


def test_a_build_without_a_fault_has_no_delay_and_no_end() -> None:
    assert (fault.delay(""), fault.lifetime(""), fault.host_root("", "/r")) == (0, None, "/r")
    fault.at_entry("")
    fault.before_units("")


def test_dies_n_and_slow_say_their_seconds() -> None:
    assert (fault.lifetime("dies-0"), fault.lifetime("dies-15"), fault.delay("slow")) == (0, 15, 5)


def test_a_checkout_is_the_development_build_and_no_one_file() -> None:
    assert build.current().version == "dev"
    assert build.own_file() == ""


def test_host_root_imports_neither_the_effects_nor_pathlib_nor_typing() -> None:
    program = (
        f"import sys; sys.path.insert(0, {str(Path.cwd())!r})\n"
        "from pyhelpers.agent.cli import main; main(['host-root'])\n"
        "print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True, check=True)
    assert not {"pathlib", "re", "typing", "pyhelpers.host", "pyhelpers.errors"} & set(done.stderr.split())
