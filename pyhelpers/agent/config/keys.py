"""Dotted keys in nested JSON: reading, writing, and finding every place that a rule's key stands for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]


def get(data: Any, key: str, default: Any = None) -> Any:
    """The value at `a.b.c`; the default where any part is missing or is no object."""
    for part in key.split("."):
        if not isinstance(data, dict) or part not in data:
            return default
        data = data[part]
    return data


def put(data: Json, key: str, value: Any) -> None:
    """Set `a.b.c`, making the objects on the way; null counts as no object yet."""
    *parents, last = key.split(".")
    for part in parents:
        if data.get(part) is None:
            data[part] = {}
        data = data[part]
    data[last] = value


def places(data: Any, key: str) -> Iterator[tuple[str, Any]]:
    """Each `(written key, value)` that a rule's key stands for; a key that is not there gives `(key, None)`.

    `a[].b` gives `a[0].b`, `a[1].b`, …; `a.*` gives `a["x"]`, …. A part of the wrong type gives nothing: its own
    error is enough.
    """
    yield from _walk(data, key.replace("[]", ".[]").split("."), "")


def _walk(data: Any, parts: list[str], written: str) -> Iterator[tuple[str, Any]]:
    if not parts:
        yield written, data
        return
    part, rest = parts[0], parts[1:]
    if part == "[]":
        for index, element in enumerate(data if isinstance(data, list) else ()):
            yield from _walk(element, rest, f"{written}[{index}]")
    elif part == "*":
        for name, value in data.items() if isinstance(data, dict) else ():
            yield from _walk(value, rest, f"{written}[{json.dumps(name)}]")
    elif data is None or isinstance(data, dict):
        child = data.get(part) if data else None
        yield from _walk(child, rest, f"{written}.{part}" if written else part)


def containers(rule_keys: tuple[str, ...]) -> dict[str, type]:
    """Every leading part of the rules' keys, and whether it is an object or a list."""
    found: dict[str, type] = {}
    for key in rule_keys:
        parts = key.replace("[]", ".[]").split(".")
        for index, following in enumerate(parts[1:], 1):
            lead = ".".join(parts[:index]).replace(".[]", "[]")
            found[lead] = list if following == "[]" else dict
    return found
