"""host-packages: the tools that the agent calls are there. Looked for as executables, never by package names.

This release installs no packages itself, so a missing tool is a warning only where a package manager could bring it.
"""

from __future__ import annotations

from pyhelpers import contract
from pyhelpers.agent.checks import image, mounts
from pyhelpers.agent.checks.model import FAIL, PASS, UNKNOWN, WARN, Check, Question, Result

MANAGERS = ("apt-get", "tdnf", "dnf")  # in this order of preference


def run(question: Question) -> list[Result]:
    """One result for all tools that are there, one for each that is not."""
    host = question.host
    missing = [pair for pair in contract.PACKAGES if host.find(pair[1]) is None]
    if not missing:
        tools = ", ".join(tool for _, tool in contract.PACKAGES)
        return [Result(PASS, f"{tools} are there", observed=tools, required=tools)]
    verdict, why, remedy = _judge(question)
    return [
        Result(verdict, f"{package} (provides {tool}) is missing; {why}", tool, "missing", "executable", remedy)
        for package, tool in missing
    ]


def _judge(question: Question) -> tuple[str, str, str]:
    """(verdict, why, remedy) for tools that are missing."""
    facts = image.facts(question.host)
    if facts.managed:
        how = "bring it by the image or a system extension"
        return FAIL, f"the host is image-managed ({facts.reason()}): {how}", how
    if question.setting("bootstrap.offlineArtifacts.source"):
        return FAIL, "with offline artifacts nothing is fetched", "install the package before bootstrap"
    manager = next((name for name in MANAGERS if question.host.find(name)), "")
    if not manager:
        return FAIL, "no supported package manager (apt-get, tdnf, dnf)", "install the named tool by other means"
    usr = mounts.of(question.host, "/usr")
    if usr and "ro" in usr.options:
        return FAIL, f"{manager} cannot install it: {mounts.evidence(usr)}", "make /usr writable, or install it there"
    if facts.managed is None:
        return UNKNOWN, "whether the host is image-managed cannot be seen", ""
    return WARN, "may be installed by bootstrap", f"or install it before: {manager} install"


CHECK = Check(
    id="host-packages",
    asks="Are systemd-nspawn, curl, nft and mountpoint there?",
    why="Machines, downloads, network rules and clean-up call them.",
    remedy="install the named packages",
    run=run,
)
