"""One release directory: the executable file, an archive for each architecture, checksums.txt."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from pyhelpers import contract
from pyhelpers.agent import build as agent
from pyhelpers.release.archive import archive, checksums
from pyhelpers.release.executable import executable
from pyhelpers.release.source import CHECKOUT, agent_files, dependency_files, git_commit, source_time

ARCHITECTURES = ("amd64", "arm64")  # the file is the same for both; the official releases have two
VERSION = f"v{contract.TOOLKIT_VERSION}"


@dataclass(frozen=True)
class Build:
    """What is built in. fault and legacy: see pyhelpers/agent/build.py. seconds: the source's time, since 1970."""

    version: str = VERSION
    fault: str = ""
    legacy: bool = False
    commit: str = "unknown"
    seconds: int = 0

    @classmethod
    def from_checkout(cls, version: str = VERSION) -> Build:
        """A build that names the commit and time of this checkout."""
        return cls(version, commit=git_commit(), seconds=source_time())


def module(build: Build) -> bytes:
    """The text of pyhelpers/agent/_build.py."""
    when = datetime.fromtimestamp(build.seconds, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    facts: dict[str, Any] = {
        "version": build.version,
        "git_commit": build.commit,
        "build_time": when,
        "legacy": build.legacy,
        "fault": build.fault,
    }
    lines = agent.Build(**facts).lines()
    return f'"""Written by `flexkit release`."""\n\nBUILD = {facts!r}\nVERSION_LINES = {lines!r}\n'.encode()


def contents(build: Build) -> dict[str, bytes]:
    """Every file inside the executable."""
    files = agent_files() | dependency_files()
    files["__main__.py"] = CHECKOUT.joinpath("pyhelpers/release/launcher.py").read_bytes()
    files["pyhelpers/agent/_build.py"] = module(build)
    files["licenses/LICENSE"] = CHECKOUT.joinpath("LICENSE").read_bytes()
    return files


def release_files(build: Build) -> dict[str, bytes]:
    """Every file of the release directory, by name."""
    agent = executable(contents(build), build.seconds)
    archives = {
        contract.ARCHIVE_NAME.replace("{ARCH}", arch): archive(
            f"{contract.BINARY_NAME}-linux-{arch}", agent, build.seconds
        )
        for arch in ARCHITECTURES
    }
    return {contract.BINARY_NAME: agent, contract.CHECKSUMS_NAME: checksums(archives).encode(), **archives}


def write(directory: Path, build: Build) -> None:
    """Write the release into the existing `directory`."""
    for name, content in release_files(build).items():
        path = directory / name
        path.write_bytes(content)
        path.chmod(0o755 if name == contract.BINARY_NAME else 0o644)


def build(out: Path, build: Build) -> Path:
    """Write the release into `out`, which is replaced as a whole. Returns `out`."""
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{out.name}-", dir=out.parent) as work:
        fresh = Path(work) / "fresh"
        fresh.mkdir(mode=0o755)
        write(fresh, build)
        if out.exists():
            out.rename(Path(work) / "former")
        fresh.rename(out)
    return out
