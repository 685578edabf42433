"""Blocks between `# >>> lib/x.sh` and `# <<< lib/x.sh`: each holds that library file. Pure: text in, text out."""

from __future__ import annotations

import re
from collections.abc import Mapping

MARKER = re.compile(r"# (>>>|<<<) lib/(\S+)")


class StampError(Exception):
    """The markers of a script are wrong; the text says where and how."""


def body(library: str) -> str:
    """The library file without shebang and without shellcheck directives of its header: those are a file's own."""
    lines = library.splitlines()
    header = next((n for n, line in enumerate(lines) if not line.startswith("#")), len(lines))
    kept = [line for line in lines[:header] if not line.startswith(("#!", "# shellcheck "))]
    return "\n".join(kept + lines[header:]).strip("\n") + "\n"


def stamp(name: str, script: str, libraries: Mapping[str, str]) -> str:
    """The text of the script `name` with every block replaced by its library file; StampError for wrong markers."""
    out: list[str] = []
    opened, seen = "", set[str]()
    for number, line in enumerate(script.splitlines(keepends=True), 1):
        where = f"{name}:{number}"
        marker = MARKER.fullmatch(line.rstrip("\n"))
        if not marker:
            out += [] if opened else [line]
            continue
        kind, library = marker.groups()
        if kind == ">>>":
            _check_start(where, library, opened, seen, libraries)
            opened = library
            seen.add(library)
            out += [line, body(libraries[library])]
        elif library != opened:
            raise StampError(f"{where}: end of lib/{library}, but lib/{opened or 'nothing'} was begun")
        else:
            opened = ""
            out.append(line)
    if opened:
        raise StampError(f"{name}: lib/{opened} is begun and never ends")
    return "".join(out)


def _check_start(where: str, library: str, opened: str, seen: set[str], libraries: Mapping[str, str]) -> None:
    if opened:
        raise StampError(f"{where}: lib/{library} begins inside lib/{opened}")
    if library in seen:
        raise StampError(f"{where}: lib/{library} is there twice")
    if library not in libraries:
        raise StampError(f"{where}: there is no lib/{library}")
