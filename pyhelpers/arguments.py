"""Types of command line arguments that several subcommands share: what is wrong is said before anything runs."""

from __future__ import annotations

import argparse
import math
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # loaded where it is used: a sandbox without a bind starts a tenth sooner
    from pathlib import Path


def size(text: str) -> str:
    """Room to write in, as tmpfs takes it, but with a unit."""
    if not re.fullmatch(r"[1-9][0-9]*[kKmMgG]", text):
        raise argparse.ArgumentTypeError(f"{text!r} is no size; sizes look like 512m or 1g")
    return text


def count(text: str) -> int:
    """A whole number above 0."""
    if not re.fullmatch(r"0*[1-9][0-9]*", text):
        raise argparse.ArgumentTypeError(f"{text!r} is no number above 0")
    return int(text)


def seconds(text: str) -> float:
    """A time above 0."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds above 0")
    return value


def bind(text: str) -> tuple[Path, str]:
    """PATH[:TARGET] -> what to show, and where."""
    from pathlib import Path

    source, _, target = text.partition(":")
    if not source or not Path(source).exists():
        raise argparse.ArgumentTypeError(f"there is no {source or 'PATH'} to show")
    if target and not target.startswith("/"):
        raise argparse.ArgumentTypeError(f"TARGET is no absolute path: {target}")
    return Path(source).absolute(), target or str(Path(source).absolute())


def directory(text: str) -> Path:
    """A directory that is there."""
    from pathlib import Path

    if not Path(text).is_dir():
        raise argparse.ArgumentTypeError(f"{text} is no directory")
    return Path(text)


def new_file(text: str) -> Path:
    """A file to write: its directory is there, and it is none itself."""
    from pathlib import Path

    path = Path(text)
    if path.is_dir() or not path.absolute().parent.is_dir():
        raise argparse.ArgumentTypeError(f"{text} cannot be written: no directory {path.parent}, or one itself")
    return path
