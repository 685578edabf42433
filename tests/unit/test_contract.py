"""The contract is consistent: ids and names unique, exit codes used, options documented, paths clean."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pyhelpers import contract, errors
from pyhelpers.contract import BOOTSTRAP_OPTIONS, OPTIONS, Option

ROOT = Path(__file__).parents[2]
ALL = [(script, option) for script, options in OPTIONS.items() for option in options]
PATHS = {
    name: value
    for name, value in vars(contract).items()
    if name.isupper() and isinstance(value, str) and value.startswith("/")
}


def words(option: Option) -> list[str]:
    """Everything that may be written for an option."""
    return [option.name, *option.aliases, *([option.short] if option.short else [])]


# --- errors --------------------------------------------------------------------------------------------------------
def test_error_ids_are_unique() -> None:
    ids = [error.id for error in errors.ERRORS]
    assert len(set(ids)) == len(ids) == len(errors.BY_ID)


@pytest.mark.parametrize("error", errors.ERRORS, ids=lambda error: error.id)
def test_an_error_has_a_plain_id_a_known_exit_code_and_a_remedy(error: errors.ErrorKind) -> None:
    assert re.fullmatch(r"E_[A-Z_]+", error.id)
    assert error.exit_code in errors.EXIT_CODES
    assert error.meaning
    assert error.remedy


def test_every_exit_code_but_0_belongs_to_an_error() -> None:
    assert {error.exit_code for error in errors.ERRORS} == set(errors.EXIT_CODES) - {0}


def test_exit_codes_stay_below_those_of_the_shell() -> None:
    assert all(0 <= code < 125 for code in errors.EXIT_CODES)


def test_an_error_is_one_line_with_step_cause_remedy_and_id() -> None:
    error = errors.FlexError("E_CONFIG", "config /x", "is not JSON", "correct it")
    assert str(error) == "config /x: is not JSON; correct it [E_CONFIG]"
    assert str(errors.FlexError("E_CONFIG", "a", "b")) == f"a: b; {errors.BY_ID['E_CONFIG'].remedy} [E_CONFIG]"


@pytest.mark.parametrize("error", errors.ERRORS, ids=lambda error: error.id)
def test_each_error_is_documented(error: errors.ErrorKind) -> None:
    assert f"| `{error.id}` | {error.exit_code} |" in (ROOT / "docs/errors.md").read_text()


# --- options -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("script", OPTIONS)
def test_no_two_options_of_a_script_are_written_alike(script: str) -> None:
    # install.sh knows --version V (the agent's) and --version (its own) on purpose: one option, with or without value.
    written = [word for option in OPTIONS[script] for word in words(option)]
    assert len(set(written)) == len(written)


@pytest.mark.parametrize("script", OPTIONS)
def test_no_two_options_of_a_script_share_an_environment_variable(script: str) -> None:
    twins = [option.env for option in OPTIONS[script] if option.env]
    assert len(set(twins)) == len(twins)


@pytest.mark.parametrize(("script", "option"), ALL, ids=lambda value: getattr(value, "name", value))
def test_an_option_is_complete(script: str, option: Option) -> None:
    assert re.fullmatch(r"--[a-z0-9-]+", option.name)
    assert option.kind in ("flag", "value", "values", "json")
    assert bool(option.metavar) == (option.kind != "flag")
    assert option.help
    assert not option.help.endswith(".")
    assert not option.env or re.fullmatch(r"AKS_FLEX_NODE_[A-Z0-9_]+", option.env)


@pytest.mark.parametrize(("script", "option"), ALL, ids=lambda value: getattr(value, "name", value))
def test_an_option_is_documented_with_its_environment_variable(script: str, option: Option) -> None:
    section = (ROOT / "docs/options.md").read_text().split(f"## {script}.sh\n", 1)[1].split("\n## ", 1)[0]
    cells = {line.split(" | ")[0]: line for line in section.splitlines() if line.startswith("| `-")}
    [line] = [line for first, line in cells.items() if f"`{option.name}`" in first]
    assert all(f"`{word}`" in line for word in words(option))
    assert option.env in line
    assert option.help in line


def test_bootstrap_twins_follow_from_the_option_unless_an_official_name_is_older() -> None:
    older = {"--base-config": "AKS_FLEX_NODE_BASE_CONFIG_FILE"}
    for option in BOOTSTRAP_OPTIONS:
        usual = "AKS_FLEX_NODE_" + option.name[2:].upper().replace("-", "_")
        assert option.env in ("", older.get(option.name, usual))


def test_variables_that_only_the_environment_has_are_no_options_twin() -> None:
    twins = {option.env for _, option in ALL}
    assert not twins & {*contract.ENVIRONMENT_ONLY, *contract.TEST_ENVIRONMENT}


def test_no_option_carries_a_secret() -> None:
    assert [
        o.name for _, o in ALL if re.search(r"secret|password|token", o.name) and not o.name.endswith("-file")
    ] == []


# --- paths and units -----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", PATHS)
def test_a_path_is_absolute_and_clean(name: str) -> None:
    assert re.fullmatch(r"(/[A-Za-z0-9._-]+)+", PATHS[name])
    assert not {".", ".."} & set(PATHS[name].split("/"))


def test_state_staging_and_journal_lie_in_the_state_directory() -> None:
    inside = (contract.STAGING_DIR, contract.JOURNAL, contract.START_ATTEMPT)
    assert {Path(path).parent for path in inside} == {Path(contract.STATE_DIR)}


def test_units_have_different_names_and_a_suffix() -> None:
    units = [contract.AGENT_UNIT, contract.RECOVERY_UNIT, contract.FIRST_BOOT_UNIT, contract.LOCALDNS_UNIT]
    assert len(set(units)) == 4
    assert all(unit.endswith(".service") for unit in units)


def test_temporary_names_are_hidden_and_match_nothing_of_ours() -> None:
    assert contract.TEMP_PREFIX.startswith(".")
    names = [Path(path).name for path in PATHS.values() if path != contract.STATE_NEW]
    assert not [name for name in names if name.startswith(contract.TEMP_PREFIX)]
