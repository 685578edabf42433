"""What goes into the executable file: the agent and its pure-Python dependencies, as names and bytes. Reads only."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
PACKED = ("jinja2", "markupsafe", "pyyaml")
AGENT = ("__init__.py", "contract.py", "errors.py", "host.py", "view.py", "agent", "render")
EARLIEST = 315532800  # 1980-01-01, the earliest time that a zip file can hold


class ReleaseError(Exception):
    """A release cannot be built from this checkout and environment; the text says what to do."""


def agent_files(checkout: Path = CHECKOUT) -> dict[str, bytes]:
    """The part of `pyhelpers` that ships on hosts, with templates and data, without what interpreters leave there."""
    package = checkout / "pyhelpers"
    found: dict[str, bytes] = {}
    for top in (package / name for name in AGENT):
        for path in sorted(top.rglob("*")) if top.is_dir() else [top]:
            if path.is_file() and "__pycache__" not in path.parts:
                found[path.relative_to(checkout).as_posix()] = path.read_bytes()
    return found


def pinned(checkout: Path = CHECKOUT) -> dict[str, str]:
    """Package -> version, as requirements.txt pins it."""
    return dict(re.findall(r"^([\w.-]+)==(\S+)$", (checkout / "requirements.txt").read_text(), re.M))


def dependency_files(checkout: Path = CHECKOUT) -> dict[str, bytes]:
    """The Python files and licences of the packed packages. ReleaseError when another version is installed."""
    versions, found = pinned(checkout), dict[str, bytes]()
    for package in PACKED:
        distribution = metadata.distribution(package)
        if distribution.version != versions[package]:
            have, want = distribution.version, versions[package]
            raise ReleaseError(f"{package} {have} is installed, requirements.txt pins {want}; run make setup")
        found |= dict(_packed(package, distribution))
    return found


def _packed(package: str, distribution: metadata.Distribution) -> Iterator[tuple[str, bytes]]:
    for file in distribution.files or []:
        if file.suffix == ".py":
            yield file.as_posix(), file.read_binary()
        elif "licenses" in file.parts or file.name.startswith("LICENSE"):
            yield f"licenses/{package}/{file.name}", file.read_binary()


def git_commit(checkout: Path = CHECKOUT) -> str:
    """The commit, with `-dirty` when tracked files were changed; `unknown` outside a git checkout."""
    return _git(checkout, "describe", "--always", "--abbrev=40", "--dirty", "--exclude=*") or "unknown"


def source_time(checkout: Path = CHECKOUT) -> int:
    """Seconds since 1970 that stand for this source: SOURCE_DATE_EPOCH, else the commit's time, else 1980."""
    text = os.environ.get("SOURCE_DATE_EPOCH") or _git(checkout, "log", "-1", "--format=%ct")
    return max(EARLIEST, int(text or 0))


def _git(checkout: Path, *words: str) -> str:
    """One line of git's answer, "" where there is no git or no repository (a source archive has neither)."""
    try:
        done = subprocess.run(
            ["git", "--no-optional-locks", "-C", str(checkout), *words], capture_output=True, text=True, check=False
        )
    except FileNotFoundError:
        return ""
    return done.stdout.strip()
