"""Imports go only downwards, as the table in docs/architecture.md says; both are read, so neither can drift."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "pyhelpers"
MODULES = sorted(PACKAGE.rglob("*.py"))
SHIPPED = {"contract", "errors", "host", "view", "render", "agent"}  # what runs on hosts
ELSEWHERE = {"release/launcher.py": "agent"}  # the `__main__` of the file that ships; nobody imports it here
SHIPPED_LIBRARIES = {"jinja2", "yaml"}  # packed into the file that ships


def rows() -> list[tuple[list[str], str]]:
    """(parts, what they may import) for each row of the table: `contract.py`, `errors.py` -> [contract, errors]."""
    text = (ROOT / "docs/architecture.md").read_text()
    table = text.split("| place | what it is | may import |\n", 1)[1].split("\n\n", 1)[0]
    found = []
    for line in table.splitlines()[1:]:
        place, _, allowed = (cell.strip() for cell in line.strip("|").split("|"))
        found.append(([name.removesuffix(".py").rstrip("/") for name in re.findall(r"`([^`]+)`", place)], allowed))
    return found


def allowed() -> dict[str, set[str]]:
    """Each part and the parts that it may import, itself and the others of its row among them."""
    table, above, found = rows(), list[str](), dict[str, set[str]]()
    everything = {part for parts, _ in table for part in parts}
    for parts, words in table:
        if words.startswith("all"):
            may = everything
        elif words == "the five above":
            assert len(above) == 5
            may = set(above)
        else:
            may = set() if words == "nothing" else {word.strip() for word in words.split(",")}
            assert {word.partition("/")[0] for word in may} <= everything, words
        for part in parts:
            found[part] = may | set(parts)
        above += parts
    return found


ALLOWED = allowed()


def part_of(dotted: str) -> str:
    """The part that a module of ours belongs to: pyhelpers.agent.checks.probe -> agent."""
    return dotted.split(".")[1]


def imports(file: Path) -> set[str]:
    """The dotted names of all modules that a file imports, anywhere in it."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: a relative import"
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def ours(file: Path) -> set[str]:
    """Those of `imports` that are ours."""
    return {name for name in imports(file) if name.startswith("pyhelpers.")}


def name_of(file: Path) -> str:
    """The part that a file belongs to."""
    path = file.relative_to(PACKAGE)
    return ELSEWHERE.get(str(path), path.parts[0].removesuffix(".py"))


def may_import(part: str, name: str) -> bool:
    """Whether a part may import a module: by its part, or by a longer name such as agent/build."""
    path = name.removeprefix("pyhelpers.").replace(".", "/")
    return any(path == place or path.startswith(f"{place}/") for place in ALLOWED[part])


def relative(file: Path) -> str:
    """A file as pytest shows it."""
    return str(file.relative_to(PACKAGE))


@pytest.mark.parametrize("file", MODULES, ids=relative)
def test_a_module_imports_only_what_its_part_may(file: Path) -> None:
    part = name_of(file)
    if part == "__init__":
        assert imports(file) == set(), "importing the package must cost nothing"
        return
    assert [name for name in sorted(ours(file)) if not may_import(part, name)] == []


def test_every_part_stands_in_the_table() -> None:
    assert {name_of(file) for file in MODULES} - {"__init__"} <= set(ALLOWED)


def test_nobody_imports_what_a_person_runs() -> None:
    tops = set(next(parts for parts, words in rows() if words.startswith("all; nobody")))
    importers = [file for file in MODULES if name_of(file) not in tops]
    assert [file for file in importers if any(part_of(name) in tops for name in ours(file))] == []


@pytest.mark.parametrize("file", [file for file in MODULES if name_of(file) in SHIPPED], ids=relative)
def test_what_ships_needs_only_python_and_what_is_packed_with_it(file: Path) -> None:
    libraries = {name.split(".")[0] for name in imports(file)} - {"pyhelpers", "__future__"}
    assert libraries - sys.stdlib_module_names <= SHIPPED_LIBRARIES


@pytest.mark.parametrize("file", [file for file in MODULES if name_of(file) == "agent"], ids=relative)
def test_the_agent_imports_its_libraries_only_where_they_are_used(file: Path) -> None:
    at_once = {
        name.split(".")[0]
        for node in ast.parse(file.read_text()).body
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for name in ([alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""])
    }
    assert at_once & SHIPPED_LIBRARIES == set(), "`version` would pay for it"
