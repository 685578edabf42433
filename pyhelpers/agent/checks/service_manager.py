"""service-manager: systemd is process 1, new enough and well."""

from __future__ import annotations

from pyhelpers.agent.checks.model import FAIL, PASS, UNKNOWN, WARN, Check, Question, Result
from pyhelpers.host import Host

OLDEST_TESTED = 249  # Ubuntu 22.04's; what the agent's units use is older
STATES = {  # of `systemctl is-system-running`
    "running": PASS,
    "starting": PASS,
    "initializing": PASS,
    "degraded": WARN,
    "maintenance": WARN,
    "stopping": FAIL,
}


def run(question: Question) -> list[Result]:
    """Look at process 1 first: without systemd the rest makes no sense."""
    host = question.host
    first = (host.read("/proc/1/comm") or b"").decode("utf-8", "replace").strip()
    if not first:
        return [Result(UNKNOWN, "process 1 cannot be seen", target="systemd", required="systemd is process 1")]
    if first != "systemd" or not host.is_directory("/run/systemd/system"):
        seen = f"process 1 is {first}" if first != "systemd" else "/run/systemd/system is not there"
        return [Result(FAIL, f"systemd does not manage this host: {seen}", "systemd", seen, "systemd is process 1")]
    return [_judge(host, _version(host))]


def _version(host: Host) -> int:
    """The number after `systemd` in the first line of `systemctl --version`; 0: not to be had."""
    words = host.run(["systemctl", "--version"], timeout=5).stdout.split()
    number = words[1].split(".")[0] if len(words) > 1 else ""
    return int(number) if number.isdecimal() else 0


def _judge(host: Host, version: int) -> Result:
    state = host.run(["systemctl", "is-system-running"], timeout=5).stdout.strip()
    named = f"systemd {version or 'of unknown version'} is process 1 and {state or 'gives no state'}"
    verdict, remedy = STATES.get(state, UNKNOWN), ""
    if state == "degraded":
        failed = host.run(["systemctl", "list-units", "--failed", "--plain", "--no-legend"], timeout=5).stdout
        units = [line.split()[0] for line in failed.splitlines() if line.strip()]
        named += f": {', '.join(units[:5])} failed" if units else ""
        remedy = "look at the failed units: systemctl --failed"
    if version == 0 and verdict == PASS:
        verdict = UNKNOWN
    if 0 < version < OLDEST_TESTED and verdict == PASS:
        verdict, remedy = WARN, f"use a host with systemd {OLDEST_TESTED} or newer"
        named += f"; the oldest that is tested is {OLDEST_TESTED}"
    return Result(verdict, named, "systemd", state, "running", remedy)


CHECK = Check(
    id="service-manager",
    asks="Is systemd process 1, new enough, and are its units well?",
    why="The agent is a unit, and recovery and upgrades are units and timers too.",
    remedy="run it on a host that systemd booted",
    run=run,
    seconds=20,
)
