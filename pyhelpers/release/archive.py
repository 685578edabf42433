"""Archives in the official layout, and checksums.txt. The same input gives the same bytes with the same zlib."""

from __future__ import annotations

import gzip
import hashlib
import io
import tarfile
from collections.abc import Mapping


def archive(member: str, content: bytes, seconds: int) -> bytes:
    """A gzipped tar with the one regular file `member`, 0755, of root, dated `seconds` (since 1970)."""
    entry = tarfile.TarInfo(member)
    entry.size, entry.mode, entry.mtime = len(content), 0o755, seconds
    entry.uname = entry.gname = "root"
    inner = io.BytesIO()
    with tarfile.open(fileobj=inner, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        tar.addfile(entry, io.BytesIO(content))
    return gzip.compress(inner.getvalue(), mtime=0)


def checksums(files: Mapping[str, bytes]) -> str:
    """`files` as sha256sum prints them, sorted by name."""
    return "".join(f"{hashlib.sha256(files[name]).hexdigest()}  {name}\n" for name in sorted(files))
