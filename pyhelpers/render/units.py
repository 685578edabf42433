"""The texts of what start installs: agent unit, recovery unit, recovery script."""

from __future__ import annotations

from pyhelpers import contract
from pyhelpers.render.text import render, source


def agent_unit(root: str, config_path: str, arc: bool) -> str:
    """The unit that runs the daemon from the resolved `root`."""
    return render(
        "agent.service.j2",
        root=root,
        binary=f"{root}/bin/{contract.BINARY_NAME}",
        config_path=config_path,
        recovery_unit=contract.RECOVERY_UNIT,
        wanted_by=contract.AGENT_WANTED_BY,
        arc=arc,
    )


def recovery_unit(root: str) -> str:
    """The unit that systemd starts when the agent has failed."""
    return render("recovery.service.j2", root=root, script=_script_path(root))


def recovery_script(root: str) -> str:
    """The script of that unit: embedded with the legacy paths, which are replaced by those below `root`."""
    return source("recovery.sh").replace(_directory(contract.LEGACY_ROOT), _directory(root))


def _directory(root: str) -> str:
    return f"{root}/lib/{contract.LIB_NAME}"


def _script_path(root: str) -> str:
    return f"{_directory(root)}/{contract.RECOVERY_SCRIPT}"
