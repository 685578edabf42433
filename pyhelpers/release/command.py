"""`flexkit release [--out DIR] [--version V]`: builds the reference agent's archives and checksums.txt.

`flexkit release --variant NAME` prints the directory of a variant for tests, which is built when it has to be.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from pyhelpers.release.build import VERSION, Build, build
from pyhelpers.release.source import CHECKOUT, ReleaseError
from pyhelpers.release.variants import variant


def main(argv: Sequence[str]) -> int:
    """Run the subcommand; 1 when the environment does not have what is packed."""
    parser = argparse.ArgumentParser(prog="flexkit release", description=__doc__)
    parser.add_argument("--out", type=Path, default=CHECKOUT / "build" / "release", help="(build/release)")
    parser.add_argument("--version", default=VERSION, help=f"the version built in ({VERSION})")
    parser.add_argument("--variant", metavar="NAME", help="print the release directory of this variant, for tests")
    options = parser.parse_args(argv)
    try:
        if options.variant:
            print(variant(options.variant))
            return 0
        out = build(options.out, Build.from_checkout(options.version))
    except ReleaseError as error:
        print(f"release: error: {error}", file=sys.stderr)
        return 1
    for path in sorted(out.iterdir()):
        print(f"{path.stat().st_size:>9}  {path}")
    return 0
