"""The executable file: a zip file behind a `#!` line. The same input gives the same bytes, on any machine."""

from __future__ import annotations

import io
import time
import zipfile
from collections.abc import Mapping

SHEBANG = b"#!/usr/bin/env python3\n"


def executable(files: Mapping[str, bytes], seconds: int) -> bytes:
    """A zip file of `files`, stored and sorted, each dated `seconds` (since 1970) and 0644."""
    date = time.gmtime(seconds)[:6]
    buffer = io.BytesIO()
    buffer.write(SHEBANG)
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, date)
            entry.create_system = 3  # Unix: the mode below counts
            entry.external_attr = 0o100644 << 16
            archive.writestr(entry, files[name])
    return buffer.getvalue()
