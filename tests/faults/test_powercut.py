"""The syncs of the scripts, judged by the model of a power cut on a recorded run: enough, and none without need."""

from __future__ import annotations

import pytest

from pyhelpers.sandbox import Server
from pyhelpers.sweep import command, hosts, runs, trace

CASES = [(script, host) for script, names in hosts.HOSTS.items() for host in names]


@pytest.mark.parametrize("script, host", CASES, ids="-".join)
def test_a_power_cut_anywhere_breaks_nothing_but_would_without_the_syncs(
    server: Server, script: str, host: str
) -> None:
    case, _ = runs.case(server, script, host, False)
    judgement = trace.judgement(server, case)
    assert judgement.kept.faults == []
    assert judgement.dropped.faults != []
    assert judgement.syncs > 0


def test_the_command_prints_its_figures(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["uninstall", "--from", "installed", "--power-cut"]) == 0
    assert " states, 0 faults; without the syncs " in capsys.readouterr().out.splitlines()[-1]
