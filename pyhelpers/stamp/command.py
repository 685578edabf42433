"""`flexkit stamp [--check]`: writes what is generated and stamped, or says what is out of step."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from pyhelpers.stamp.blocks import StampError, stamp
from pyhelpers.stamp.generate import documents, libraries

CHECKOUT = Path(__file__).resolve().parents[2]


def wanted(checkout: Path) -> dict[Path, str]:
    """Every file that this command owns, with the text it should have. StampError for wrong markers."""
    scripts = checkout / "scripts"
    made = libraries()
    written = {path.name: path.read_text() for path in sorted((scripts / "lib").glob("*.sh"))}
    files = {scripts / "lib" / name: text for name, text in made.items()}
    files |= {checkout / "docs" / name: text for name, text in documents().items()}
    for path in sorted(scripts.glob("*.sh")):
        files[path] = stamp(f"scripts/{path.name}", path.read_text(), written | made)
    return files


def out_of_step(checkout: Path) -> dict[Path, str]:
    """The files of `wanted` that are missing or have another text."""
    return {p: text for p, text in wanted(checkout).items() if not p.is_file() or p.read_text() != text}


def main(argv: Sequence[str], checkout: Path = CHECKOUT) -> int:
    """Run the subcommand; 1 when --check finds something or the markers are wrong."""
    parser = argparse.ArgumentParser(prog="flexkit stamp", description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 when something is out of step")
    check: bool = parser.parse_args(argv).check
    try:
        differ = out_of_step(checkout)
    except StampError as error:
        print(f"stamp: error: {error}", file=sys.stderr)
        return 1
    for path, text in differ.items():
        if check:
            print(f"stamp: {path.relative_to(checkout)} is out of step; run make scripts", file=sys.stderr)
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        print(f"stamp: {path.relative_to(checkout)} written")
    return 1 if check and differ else 0
