"""The sweep's sample for CI: a few calls of each script on each host. `flexkit sweep` takes all of them."""

from __future__ import annotations

import gzip
import io
import tarfile

import pytest

from pyhelpers.sandbox import Server
from pyhelpers.sandbox.mutations import STOP, Call, Watch
from pyhelpers.sweep import agents, command, hosts, image, points, runs
from pyhelpers.sweep.follow import Case
from tests.faults.kill import stopped_or_ended

SAMPLE = 4
# Installers as one should not be: the agent is written in place, and removed before the new one is there.
IN_PLACE = f"gzip -dc {hosts.OWN}/current.tar.gz | tar -xOf - >/usr/local/bin/aks-flex-node"
REMOVED = "cd /usr/local/bin; cp aks-flex-node /tmp/x; rm aks-flex-node; mv /tmp/x aks-flex-node"
LEFT = "cp /usr/local/bin/aks-flex-node /opt/.flexnode-new.x; rm /opt/.flexnode-new.x || echo ': error: x [E_X]' >&2"


@pytest.mark.parametrize("script", hosts.HOSTS)
def test_nothing_breaks_at_a_sample_of_the_calls_of_each_script(
    script: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code = command.main([script, "--sample", str(SAMPLE)])
    said = capsys.readouterr().out
    assert code == 0, said
    last = said.splitlines()[-1]
    count = SAMPLE * len(hosts.HOSTS[script])
    assert last.startswith(f"a sample: {count} of ") and f" {3 * count} points, 0 violations, " in last, said


def worse(server: Server, monkeypatch: pytest.MonkeyPatch, script: str) -> list[str]:
    """What a sweep of an installer that is a line of shell finds on a host with an agent."""
    monkeypatch.setattr(hosts, "command", lambda *_: ["sh", "-c", script])
    case, seen = runs.case(server, "install", "legacy", False)
    found = [what for _, state in seen for what in case.instant(state)]
    for call, _ in seen:
        for point in points.of(call, False):
            found += runs.error(server, case, point)[0]
    return found


def test_an_agent_that_is_written_in_place_is_found(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    assert any("no complete executable agent" in what for what in worse(server, monkeypatch, IN_PLACE))


def test_an_agent_that_is_away_for_a_moment_is_found(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    assert any("was an agent and is none now" in what for what in worse(server, monkeypatch, REMOVED))


def test_what_is_left_without_a_word_is_found(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    assert any("was left, and nobody says so" in what for what in worse(server, monkeypatch, LEFT))


def killed(server: Server, case: Case, number: int) -> str:
    """The key of the state that a real kill before call NUMBER leaves."""
    with case.box(server, case.start) as box:

        def decide(call: Call) -> int:
            return STOP if call.number >= number else 0

        with Watch(str(box.root) + runs.SOCKET, runs.SOCKET, decide) as watch:
            argv = watch.argv(case.command)
            runner = stopped_or_ended(watch, lambda: box.run(argv, env=hosts.ENV))
            box.restart()
            runner.join()
        return image.key(image.take(box))


def test_a_real_kill_leaves_what_was_seen_while_the_call_was_held(server: Server) -> None:
    case, seen = runs.case(server, "install", "plain", False)
    for call in points.sample([call for call, _ in seen], 8):
        state = image.key(seen[call.number - 1][1])
        assert killed(server, case, call.number) == state, call


def test_the_stand_in_comes_in_a_release_archive_of_several_pieces() -> None:
    data = gzip.decompress(agents.archive("current", reference=False))
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        assert [(member.name, member.size) for member in tar] == [("aks-flex-node", agents.SIZE)]
