"""From parsed JSON to a complete configuration, or to the list of everything that is wrong with it. Pure.

Order: the shape, legacy keys, each key's rule, the table's defaults, the rules over several keys, the defaults that
depend on other keys. Nothing is read from the machine: the host's name is an argument. The input is not changed;
keys that no rule knows are kept.
"""

from __future__ import annotations

import copy
import json
from typing import Any
from urllib.parse import urlsplit

from pyhelpers.agent.config import kinds
from pyhelpers.agent.config.keys import Json, containers, get, places, put
from pyhelpers.agent.config.relations import RELATIONS, identities
from pyhelpers.agent.config.rules import LEGACY_KEYS, PUBLIC_ENDPOINT, RULES, Rule

Problem = tuple[str, str]  # (key as the user wrote it, what is wrong)
BY_KEY = {rule.key: rule for rule in RULES}
CONTAINERS = containers(tuple(BY_KEY) + tuple(old for old, _ in LEGACY_KEYS))
SHOWN = 60  # characters of a wrong value that are repeated in its error


def validate(raw: Any, hostname: str) -> tuple[Json, list[str]]:
    """The complete data, and what is wrong with it, a line each; the data counts only when nothing is wrong."""
    if not isinstance(raw, dict):
        return {}, [f"the file must hold a JSON object, not {_type_name(raw)}"]
    data = copy.deepcopy(raw)
    problems = _shape_problems(data)
    legacy = _map_legacy(data)
    problems += _key_problems(data, legacy)
    _fill(data)
    for relation in RELATIONS:
        problems += relation(data)
    problems += _derive(data, hostname)
    return data, [f"{key}: {what}" for key, what in _first_of_each(problems)]


def _first_of_each(problems: list[Problem]) -> list[Problem]:
    """One problem for each key, and none below a key that is of the wrong shape: that would only be an echo."""
    kept: list[Problem] = []
    for key, what in problems:
        bare = key.split(" ")[0]
        if not any(bare == known or bare.startswith((f"{known}.", f"{known}[")) for known, _ in kept):
            kept.append((key, what))
    return kept


def _shape_problems(data: Json) -> list[Problem]:
    """Objects and lists where the keys need them. What is of the wrong shape is emptied, so that the rest is seen."""
    problems = []
    for key, wanted in CONTAINERS.items():
        for written, value in places(data, key):
            if value is None or isinstance(value, wanted):
                continue
            name = "an object" if wanted is dict else "a list"
            problems.append((written, f"must be {name}, not {_type_name(value)}"))
            if "[" not in written:
                put(data, written, wanted())
    return problems


def _map_legacy(data: Json) -> dict[str, str]:
    """Take legacy keys where the new key is empty; which new key came from which old one."""
    taken = {}
    for old, new in LEGACY_KEYS:
        value = get(data, old)
        if value not in (None, "") and BY_KEY[new].kind.absent(get(data, new)):
            put(data, new, _host_of(value) if old.endswith("serverURL") else value)
            taken[new] = old
    return taken


def _host_of(url: Any) -> Any:
    """The host (and port) of a URL; anything that is no URL is left to the new key's rule."""
    if not isinstance(url, str) or "://" not in url:
        return url
    try:
        return urlsplit(url.strip()).netloc or url
    except ValueError:
        return url


def _key_problems(data: Json, legacy: dict[str, str]) -> list[Problem]:
    problems = []
    for rule in RULES:
        for written, value in places(data, rule.key):
            if rule.kind.absent(value):
                if rule.required:
                    problems.append((written, "is required"))
            elif not rule.kind.accepts(value):
                name = f"{legacy[rule.key]} (now {rule.key})" if rule.key in legacy else written
                problems.append((name, f"{rule.kind.must}{_but_is(rule, value)}"))
    return problems


def _but_is(rule: Rule, value: Any) -> str:
    """`, not "loud"`: the wrong value, unless it is secret or no single word; never long, always one line."""
    if isinstance(value, str) and rule.secret:
        return ""
    if isinstance(value, (dict, list)):
        return "" if isinstance(value, dict) and "object" in rule.kind.must else f", not {_type_name(value)}"
    text = json.dumps(value)
    return f", not {text}" if len(text) <= SHOWN else f", not {text[:SHOWN]}…"


def _type_name(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    for kind, name in ((dict, "an object"), (list, "a list"), (str, "a string")):
        if isinstance(value, kind):
            return name
    return "a number"


def _fill(data: Json) -> None:
    """The table's defaults."""
    for rule in RULES:
        if rule.default is not None:
            _default(data, rule.key, copy.copy(rule.default))


def _default(data: Json, key: str, value: Any) -> None:
    if BY_KEY[key].kind.absent(get(data, key)) and value not in (None, ""):
        put(data, key, value)


def _derive(data: Json, hostname: str) -> list[Problem]:
    """The defaults that depend on other keys or on the host's name."""
    _default(data, "azure.resourceManagerEndpoint", PUBLIC_ENDPOINT)
    put(data, "azure.resourceManagerEndpoint", str(get(data, "azure.resourceManagerEndpoint")).rstrip("/"))
    cluster = kinds.RESOURCE_ID.fullmatch(str(get(data, "azure.targetCluster.resourceId")))
    _default(data, "azure.subscriptionId", cluster.group(1) if cluster else None)
    _default(data, "agent.requireMachineRegistration", bool(identities(data)))
    if get(data, "azure.servicePrincipal") is not None:
        _default(data, "azure.servicePrincipal.tenantId", get(data, "azure.tenantId"))
    mounts = get(data, "bootstrap.additionalHostMounts") or []
    for mount in (m for m in mounts if isinstance(m, dict)):
        mount.update(target=mount.get("target") or mount.get("source"), readOnly=mount.get("readOnly") or False)
    if isinstance(get(data, "node.labels"), dict):
        data["node"]["labels"]["kubernetes.azure.com/managed"] = "false"
    named = not BY_KEY["agent.nodeName"].kind.absent(get(data, "agent.nodeName"))
    _default(data, "agent.nodeName", hostname.lower())
    if named or kinds.NODE_NAME.accepts(get(data, "agent.nodeName")):
        return []
    return [("agent.nodeName", f"must be given, because the host's name {json.dumps(hostname)} cannot be a node's")]
