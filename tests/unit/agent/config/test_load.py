"""Reading config.json: what cannot be read is one clear line, and the complete configuration has its attributes."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from pyhelpers.agent.config import ConfigErrors, load
from pyhelpers.agent.config.keys import put
from pyhelpers.agent.config.rules import LEGACY_KEYS
from pyhelpers.agent.config.validate import BY_KEY, CONTAINERS, validate

CLUSTER = (
    "/subscriptions/44654aed-2753-4b88-9142-af7132933b6b/resourceGroups/rg"
    "/providers/Microsoft.ContainerService/managedClusters/c1"
)
GOOD: dict[str, Any] = {"azure": {"targetCluster": {"resourceId": CLUSTER}, "managedIdentity": {}}}


def refused(path: Path) -> str:
    """The one line that refuses a file."""
    with pytest.raises(ConfigErrors) as caught:
        load(path, hostname="host1")
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_missing_file_is_one_line_that_names_it(tmp_path: Path) -> None:
    line = refused(tmp_path / "config.json")
    assert f"config {tmp_path}/config.json: cannot be read: No such file or directory" in line
    assert line.endswith("[E_CONFIG]")


def test_a_directory_is_refused(tmp_path: Path) -> None:
    assert "is not a regular file" in refused(tmp_path)


def test_a_pipe_is_refused_without_waiting_for_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert "is not a regular file" in refused(tmp_path / "pipe")


def test_a_file_that_is_not_utf_8_names_the_byte(tmp_path: Path) -> None:
    (tmp_path / "c").write_bytes(b'{"a": "\xff"}')
    assert "is not UTF-8 at byte 7" in refused(tmp_path / "c")


def test_a_huge_file_is_refused_unread(tmp_path: Path) -> None:
    with (tmp_path / "c").open("wb") as file:
        file.truncate(1 << 30)
    assert "the limit is" in refused(tmp_path / "c")


def test_nesting_without_end_is_refused(tmp_path: Path) -> None:
    (tmp_path / "c").write_text("[" * 200_000)
    assert "nested too deeply" in refused(tmp_path / "c")


def test_a_path_with_a_nul_is_refused() -> None:
    assert "cannot be read" in refused(Path("/tmp/a\x00b"))


def test_a_good_config_has_its_attributes(tmp_path: Path) -> None:
    (tmp_path / "c").write_text(json.dumps(GOOD))
    config = load(tmp_path / "c", hostname="Host1")
    assert (config.path, config.log_level, config.node_name) == (str(tmp_path / "c"), "info", "host1")
    assert config.get("agent.logDir") == "/var/log/aks-flex-node"
    assert config.get("azure.targetCluster.resourceId") == CLUSTER


def test_the_input_is_not_changed_by_validation() -> None:
    before = json.dumps(GOOD)
    data, problems = validate(GOOD, "host1")
    assert problems == []
    data["node"]["labels"]["x"] = "y"
    assert json.dumps(GOOD) == before


def test_a_complete_configuration_is_complete_again() -> None:
    data, _ = validate(GOOD, "host1")
    again, problems = validate(data, "other-host")
    assert (again, problems) == (data, [])


def test_two_configurations_share_no_default() -> None:
    first, _ = validate(GOOD, "host1")
    first["node"]["labels"]["mine"] = "1"
    second, _ = validate(GOOD, "host1")
    assert second["node"]["labels"] == {"kubernetes.azure.com/managed": "false"}


ODD: tuple[Any, ...] = (None, True, 0, -1, 1.5, 10**30, "", " ", "x", "\x00\ud800", [], [None], ["x"], {}, {"a": None})


@pytest.mark.parametrize("key", [*CONTAINERS, *BY_KEY, *(old for old, _ in LEGACY_KEYS)])
def test_no_value_of_any_key_breaks_the_validation(key: str) -> None:
    for value in ODD:
        data = json.loads(json.dumps(GOOD))
        plain = key.replace(".*", ".zone").partition("[]")[0]  # a list itself stands for its elements
        put(data, plain, [value, {"source": value, "destination": value}] if "[]" in key else value)
        complete, problems = validate(data, "host1")
        assert all(": " in problem and "\n" not in problem for problem in problems)
        assert problems or validate(complete, "host1") == (complete, [])


@pytest.mark.parametrize("raw", [value for value in ODD if not isinstance(value, dict)], ids=repr)
def test_a_file_that_holds_something_else_than_an_object_is_one_problem(raw: Any) -> None:
    assert len(validate(raw, "host1")[1]) == 1
