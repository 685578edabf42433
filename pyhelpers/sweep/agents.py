"""Archives of a stand-in agent that keeps the agent's contract and answers at once; it starts nothing.

A sweep runs the scripts thousands of times, and most of such a run would be Python's start. The stand-in is as large
as it takes to be written in several pieces. `--agent reference` takes the reference agent instead.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import tarfile

from pyhelpers import contract
from pyhelpers.release import variant

VERSIONS = {"legacy": "v0.0.9", "current": "v0.1.0", "next": "v0.2.0"}
REFERENCE = {
    "legacy": "legacy",
    "current": "current",
    "next": "broken-start",
}  # the last one's start stops before units
SIZE = 30_000
TEXT = """#!/bin/sh
case ${1-} in
  version) printf 'AKS Flex Node Agent\\nVersion: @VERSION@\\nGit Commit: 0\\nBuild Time: 0\\n' ;;
  host-root) @ROOT@ ;;
  preflight) ;;
  start) echo 'this agent starts nothing' >&2; exit 1 ;;
  reset) rm -rf @CONFIG@ @LOGS@ ;;
  *) echo 'Command execution failed: unknown command' >&2; exit 1 ;;
esac
exit
"""
ASK_ROOT = """if [ "${2-}" = --canonical ]; then echo @HOST@
  elif [ -e @HOST@ ]; then readlink -f @HOST@
  elif [ -e @LEGACY@/bin/@NAME@ ]; then echo @LEGACY@
  else echo @HOST@; fi"""
UNKNOWN = "echo 'Command execution failed: unknown command' >&2; exit 1"


def stand_in(name: str) -> bytes:
    """The stand-in of a version; `legacy` predates the host root."""
    text = TEXT.replace("@ROOT@", UNKNOWN if name == "legacy" else ASK_ROOT)
    values = {
        "VERSION": VERSIONS[name],
        "CONFIG": contract.CONFIG_DIR,
        "LOGS": contract.LOG_DIR,
        "HOST": contract.HOST_ROOT,
        "LEGACY": contract.LEGACY_ROOT,
        "NAME": contract.BINARY_NAME,
    }
    for key, value in values.items():
        text = text.replace(f"@{key}@", value)
    rest = (f"# {name} {hashlib.sha256(f'{name} {line}'.encode()).hexdigest()}\n" for line in range(SIZE // 60))
    return (text + "".join(rest)).encode()[:SIZE]


def archive(name: str, reference: bool) -> bytes:
    """The .tar.gz that a release of the agent NAME (a key of VERSIONS) has."""
    if reference:
        return _released(name, ".tar.gz")
    data, buffer = stand_in(name), io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        member = tarfile.TarInfo(contract.BINARY_NAME)
        member.size, member.mode = len(data), 0o755
        tar.addfile(member, io.BytesIO(data))
    return gzip.compress(buffer.getvalue(), mtime=0)


def binary(name: str, reference: bool) -> bytes:
    """The agent itself, as it must stand on the host."""
    return _released(name, contract.BINARY_NAME) if reference else stand_in(name)


def _released(name: str, end: str) -> bytes:
    place = variant(REFERENCE[name])
    arch = {"x86_64": "amd64", "aarch64": "arm64"}[os.uname().machine]
    wanted = contract.ARCHIVE_NAME.replace("{ARCH}", arch) if end.startswith(".") else end
    return (place / wanted).read_bytes()
