"""JSON: jq and python3 accept, refuse and merge alike. The documents are files; a new case needs no code."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from pyhelpers.sandbox import Server
from tests.scripts.bootstrap import BASE, CORPUS, JSON_TOOLS, OUT, SCRIPT, WORK, Bootstrap, Json, in_a_box


@pytest.fixture(scope="module")
def bootstrap(server: Server) -> Iterator[Bootstrap]:
    with in_a_box(server) as made:
        yield made


APPLY_ALL = f"""
. {SCRIPT}
flexnode_begin test :
FLEXNODE_JSON_TOOL=@
mkdir -p {WORK}/accept {WORK}/refuse
cd {CORPUS}/json
for name in */*.json; do
  flexnode_json_begin {WORK}/ops
  flexnode_json_op merge document <$name
  flexnode_json_apply {WORK}/$name.@ || :
done
"""


def documents(kind: str) -> list[Path]:
    """The documents of the corpus that must be accepted or refused."""
    return sorted((CORPUS / "json" / kind).glob("*.json"))


def by_both(bootstrap: Bootstrap, *options: str, base: Json | bytes) -> Json:
    """The config, which is the same by jq and by python3."""
    by_jq, by_python = (bootstrap.config(*options, base=base, tool=tool) for tool in JSON_TOOLS)
    assert by_jq == by_python
    return by_jq


def overrides(*documents: Json) -> list[str]:
    return [word for document in documents for word in ("--config-overrides", json.dumps(document))]


@pytest.fixture(scope="module")
def answers(bootstrap: Bootstrap) -> dict[str, bytes]:
    """`KIND/NAME.json TOOL` -> the merge of that document alone, or the line that refuses it; all in one go."""
    for tool in JSON_TOOLS:
        bootstrap.shell(APPLY_ALL.replace("@", tool))
    paths = {f"{path.parent.name}/{path.name}": path for path in documents("accept") + documents("refuse")}
    return {f"{name} {tool}": bootstrap.box.read(f"{WORK}/{name}.{tool}") for name in paths for tool in JSON_TOOLS}


@pytest.mark.parametrize("document", documents("accept"), ids=lambda path: path.stem)
def test_both_tools_accept_this_document_with_the_same_result(answers: dict[str, bytes], document: Path) -> None:
    by_jq, by_python = (json.loads(answers[f"accept/{document.name} {tool}"]) for tool in JSON_TOOLS)
    assert by_jq == by_python == json.loads(document.read_bytes())


@pytest.mark.parametrize("document", documents("refuse"), ids=lambda path: path.stem)
def test_both_tools_refuse_this_document(answers: dict[str, bytes], document: Path) -> None:
    for tool in JSON_TOOLS:
        assert answers[f"refuse/{document.name} {tool}"].startswith((b"document: ", b"a control character")), tool


def test_objects_are_merged_recursively_and_the_right_side_wins(bootstrap: Bootstrap) -> None:
    config = by_both(bootstrap, *overrides({"node": {"a": 2, "b": {"d": 4}}}), base={"node": {"a": 1, "b": {"c": 3}}})
    assert config["node"] == {"a": 2, "b": {"c": 3, "d": 4}}


def test_arrays_are_replaced(bootstrap: Bootstrap) -> None:
    assert by_both(bootstrap, *overrides({"a": [3]}), base={"a": [1, 2]})["a"] == [3]


def test_an_object_replaces_a_scalar_and_a_scalar_an_object(bootstrap: Bootstrap) -> None:
    config = by_both(bootstrap, *overrides({"a": {"x": 1}, "b": "s"}), base={"a": 1, "b": {"y": 2}})
    assert (config["a"], config["b"]) == ({"x": 1}, "s")


def test_null_in_an_override_replaces_and_does_not_delete(bootstrap: Bootstrap) -> None:
    config = by_both(bootstrap, *overrides({"a": None, "b": {"c": None}}), base={"a": {"x": 1}, "b": {"c": 1, "d": 2}})
    assert (config["a"], config["b"]) == (None, {"c": None, "d": 2})


def test_an_object_goes_over_null(bootstrap: Bootstrap) -> None:
    assert by_both(bootstrap, *overrides({"a": {"x": 1}}), base={"a": None})["a"] == {"x": 1}


def test_an_empty_override_changes_nothing(bootstrap: Bootstrap) -> None:
    assert by_both(bootstrap, *overrides({}), base={"a": {"b": 1}})["a"] == {"b": 1}


def test_unicode_keys_are_merged_by_what_they_are_and_not_by_how_they_are_written(bootstrap: Bootstrap) -> None:
    config = by_both(bootstrap, "--config-overrides", '{"\\u00eb":{"b":2}}', base='{"ë":{"a":1}}'.encode())
    assert config["ë"] == {"a": 1, "b": 2}


def test_the_text_of_both_tools_is_the_same(bootstrap: Bootstrap) -> None:
    texts = []
    for tool in JSON_TOOLS:
        bootstrap.config(base={"z": [1, {"k": 'é\n"\\'}], "a": {}, "n": [0.5, True, None, []]}, tool=tool)
        texts.append(bootstrap.box.read(OUT))
    assert texts[0] == texts[1]


def test_an_override_that_is_no_object_is_refused_by_its_number(bootstrap: Bootstrap) -> None:
    for tool in JSON_TOOLS:
        words = bootstrap.error("--config-overrides", "{}", "--config-overrides", "[1]", base={}, tool=tool)
        assert "--config-overrides number 2: not a JSON object; correct it" in words, tool


def test_an_override_of_the_environment_is_refused_by_its_variable_with_the_place(bootstrap: Bootstrap) -> None:
    for tool in JSON_TOOLS:
        words = bootstrap.error(base={}, tool=tool, env={"AKS_FLEX_NODE_CONFIG_OVERRIDES": "{a: 1}"})
        assert "render the config: AKS_FLEX_NODE_CONFIG_OVERRIDES: not JSON: " in words, tool
        assert "line 1" in words, tool


def test_an_error_shows_no_value_of_the_document(bootstrap: Bootstrap) -> None:
    for tool in JSON_TOOLS:
        assert "hunter2" not in bootstrap.error(base=b'{"clientSecret":"hunter2",}', tool=tool)


def test_a_refused_number_is_explained(bootstrap: Bootstrap) -> None:
    for tool in JSON_TOOLS:
        words = bootstrap.error(base=b'{"a":1e3}', tool=tool)
        assert f"base config {BASE}: a number that is neither an integer below 2^53 nor a plain decimal" in words, tool


def test_a_target_below_something_that_is_no_object_is_refused(bootstrap: Bootstrap) -> None:
    for tool in JSON_TOOLS:
        words = bootstrap.error("--cluster-resource-id", "x", base={"azure": {"targetCluster": []}}, tool=tool)
        assert "azure.targetCluster: not a JSON object" in words, tool


def test_neither_tool_is_an_error_that_names_both(bootstrap: Bootstrap) -> None:
    words = bootstrap.error(base={}, tool="none")
    assert words.startswith("4 bootstrap: error: tools: neither jq nor python3 is there")
    assert words.endswith("install jq or python3 [E_TOOL]")


def test_definitions_in_the_home_directory_do_not_reach_jq(bootstrap: Bootstrap) -> None:
    bootstrap.box.write(f"{WORK}/home/.jq", b'def fromjson: {"stolen": true}; def split($a): ["x"];')
    assert "a" in bootstrap.config(base={"a": 1}, env={"HOME": f"{WORK}/home"}, tool="jq")


def test_modules_in_the_current_directory_do_not_reach_python(bootstrap: Bootstrap) -> None:
    bootstrap.box.write(f"{WORK}/home/json.py", b"raise SystemExit(1)")
    assert "a" in bootstrap.config(base={"a": 1}, env={"PYTHONPATH": f"{WORK}/home"}, tool="python3")


@pytest.mark.parametrize("shell", [["dash"], ["bash"], ["bash", "--posix"], ["busybox", "ash"]], ids=" ".join)
def test_every_shell_renders_the_same(bootstrap: Bootstrap, shell: list[str]) -> None:
    base = {"a": "back\\slash \\n $HOME `id` 'q' \"d\" %s é"}
    assert bootstrap.config("--agent-pool-name", "p\\n$x", base=base, shell=shell)["azure"] == {
        "targetAgentPoolName": "p\\n$x"
    }
