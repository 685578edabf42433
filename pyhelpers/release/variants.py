"""Named variants of the agent for tests: other versions, and builds with a fault. Made once for the same input."""

from __future__ import annotations

import hashlib
import re
import shutil
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from pyhelpers.release.build import VERSION, Build, contents, write
from pyhelpers.release.source import CHECKOUT, EARLIEST, ReleaseError

FAULTS = ("broken", "hangs", "slow", "bad-host-root", "broken-start")  # and dies-N
NEXT_VERSION = "v0.2.0"
LEGACY_VERSION = "v0.0.9"
KEEP_SECONDS = 3600  # another process may still read what an edit has just made old


def definition(name: str) -> Build:
    """What the variant `name` is; ReleaseError for an unknown name.

    Commit and time are not those of the checkout, so that a commit does not make every variant anew.
    """
    if name == "current":
        return Build(VERSION, seconds=EARLIEST)
    if name == "next":
        return Build(NEXT_VERSION, seconds=EARLIEST)
    if name == "legacy":
        return Build(LEGACY_VERSION, legacy=True, seconds=EARLIEST)
    if name in FAULTS or re.fullmatch(r"dies-\d+", name):
        return Build(NEXT_VERSION, fault=name, seconds=EARLIEST)
    raise ReleaseError(f"there is no variant {name}; there are current, next, legacy, dies-N, {', '.join(FAULTS)}")


def key(build: Build) -> str:
    """Stands for everything that goes into the release: what is packed, and how."""
    digest = hashlib.sha256(repr(build).encode())
    files = contents(build)
    for path in sorted(Path(__file__).parent.glob("*.py")):
        files[f"release/{path.name}"] = path.read_bytes()
    for name in sorted(files):
        digest.update(f"{name} {len(files[name])}\n".encode() + files[name])
    return digest.hexdigest()[:16]


def variant(name: str, cache: Path = CHECKOUT / "build" / "variants") -> Path:
    """The release directory of the variant `name`, built when the cache does not hold it.

    Safe when several processes ask at once: a directory appears complete, under a name made from its input.
    """
    build = definition(name)
    place = cache / name / key(build)
    if place.is_dir():
        return place
    place.parent.mkdir(parents=True, exist_ok=True)
    _prune(place.parent)
    with tempfile.TemporaryDirectory(prefix=".", dir=place.parent) as work:
        fresh = Path(work) / "fresh"
        fresh.mkdir(mode=0o755)
        write(fresh, build)
        try:
            fresh.rename(place)
        except OSError:
            if not place.is_dir():  # else another process was faster, with the same content
                raise
    return place


def _prune(directory: Path) -> None:
    oldest = time.time() - KEEP_SECONDS
    for path in directory.iterdir():
        with suppress(FileNotFoundError):  # another process prunes too, or is done with its work directory
            if path.stat().st_mtime < oldest:
                shutil.rmtree(path)
