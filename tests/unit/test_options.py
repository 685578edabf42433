"""The generated option parsers, in every shell that is there: what is accepted, what is refused, what is set."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass, field

import pytest

from pyhelpers import contract, errors
from pyhelpers.stamp.command import CHECKOUT

SHELLS = [s for s in ("sh", "dash", "bash", "busybox ash", "mksh", "yash") if shutil.which(s.split()[0])]
LIB = CHECKOUT / "scripts/lib"
# $1: the script; the rest: its arguments. Prints every variable of the parser, NUL-terminated.
HARNESS = f"""
set -u
script=$1; shift
flexnode_error() {{ printf 'error %s|%s|%s\\n' "$1" "$2" "$3" >&2; return 2; }}
show() {{ printf 'override=%s\\0' "$1"; }}
. "{LIB}/options-$script.sh"
"flexnode_parse_$script" "$@" || exit
for name in $(set | sed -n 's/^\\(FLEXNODE_OPT_[A-Z0-9_]*\\)=.*/\\1/p'); do
  eval "printf '%s=%s\\\\0' $name \\"\\$$name\\""
done
[ "$script" != bootstrap ] || flexnode_each_config_overrides show
"""


@dataclass
class Parsed:
    """What one call of a parser did."""

    code: int
    error: str
    options: dict[str, str] = field(default_factory=dict)
    overrides: list[str] = field(default_factory=list)


@pytest.fixture(params=SHELLS)
def shell(request: pytest.FixtureRequest) -> list[str]:
    """A shell as the first words of a command."""
    return str(request.param).split()


def parse(shell: list[str], script: str, *args: str, **environment: str) -> Parsed:
    """Call the parser of `script` with nothing but `environment`."""
    done = subprocess.run(
        [*shell, "-c", HARNESS, "harness", script, *args],
        env={"PATH": os.environ["PATH"], "LC_ALL": "C", **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    parsed = Parsed(done.returncode, done.stderr)
    for record in done.stdout.split("\0")[:-1]:
        name, _, value = record.partition("=")
        if name == "override":
            parsed.overrides.append(value)
        else:
            parsed.options[name.removeprefix("FLEXNODE_OPT_")] = value
    return parsed


def test_both_ways_to_give_a_value_mean_the_same(shell: list[str]) -> None:
    for args in (["--auth", "msi"], ["--auth=msi"]):
        assert parse(shell, "bootstrap", *args).options["AUTH"] == "msi"


def test_a_value_may_hold_equals_signs_blanks_and_patterns(shell: list[str]) -> None:
    assert parse(shell, "install", "--archive=a=b * $(id)").options["ARCHIVE"] == "a=b * $(id)"


def test_short_form_and_alias_set_the_option_they_stand_for(shell: list[str]) -> None:
    for word in ("-y", "--yes", "--force"):
        assert parse(shell, "uninstall", word).options["FORCE"] == "1"


def test_the_last_of_two_values_counts(shell: list[str]) -> None:
    assert parse(shell, "install", "--wait", "1", "--wait=2").options["WAIT"] == "2"


def test_without_arguments_every_variable_is_set_and_empty(shell: list[str]) -> None:
    for script, options in contract.OPTIONS.items():
        parsed = parse(shell, script)
        assert parsed.code == 0
        assert len(parsed.options) >= len(options)
        assert set(parsed.options.values()) <= {"", "0"}


def test_the_environment_cannot_inject_an_option(shell: list[str]) -> None:
    parsed = parse(
        shell,
        "bootstrap",
        FLEXNODE_OPT_PLAN="1",
        FLEXNODE_OPT_AUTH="sp",
        FLEXNODE_OPT_CONFIG_OVERRIDES_COUNT="1",
        FLEXNODE_OPT_CONFIG_OVERRIDES_1="{}",
    )
    assert (parsed.options["PLAN"], parsed.options["AUTH"], parsed.overrides) == ("", "", [])


def test_an_environment_twin_stands_in_and_the_option_beats_it(shell: list[str]) -> None:
    assert parse(shell, "install", AKS_FLEX_NODE_VERSION="v1").options["VERSION"] == "v1"
    assert parse(shell, "install", "--version", "v2", AKS_FLEX_NODE_VERSION="v1").options["VERSION"] == "v2"
    assert parse(shell, "install", AKS_FLEX_NODE_VERSION="").options["VERSION"] == ""


@pytest.mark.parametrize(
    ("word", "value"), [("true", "1"), ("YES", "1"), ("y", "1"), ("1", "1"), ("False", ""), ("0", ""), ("n", "")]
)
def test_a_switch_in_the_environment_is_a_word_in_any_case(shell: list[str], word: str, value: str) -> None:
    parsed = parse(shell, "bootstrap", AKS_FLEX_NODE_USE_INSTALLED_AGENT=word)
    assert (parsed.code, parsed.options["USE_INSTALLED_AGENT"]) == (0, value)


def test_a_switch_that_is_given_beats_a_no_in_the_environment(shell: list[str]) -> None:
    parsed = parse(shell, "bootstrap", "--use-installed-agent", AKS_FLEX_NODE_USE_INSTALLED_AGENT="no")
    assert parsed.options["USE_INSTALLED_AGENT"] == "1"


OVERRIDES = ['{"a": "it\'s"}', 'line\nline\n\n"`$(id)`', "\\n %s *", "ünï"]


def test_overrides_of_any_content_stay_apart_with_the_environment_s_first(shell: list[str]) -> None:
    # yash drops what the C locale has no character for from its arguments, before any script can run
    texts = [text for text in OVERRIDES if text.isascii() or shell != ["yash"]]
    args = [word for text in texts for word in ("--config-overrides", text)]
    parsed = parse(shell, "bootstrap", *args, AKS_FLEX_NODE_CONFIG_OVERRIDES='{"env": 1}\n')
    assert parsed.overrides == ['{"env": 1}\n', *texts]


@pytest.mark.parametrize(
    ("script", "args", "message"),
    [
        ("install", ["--bogus"], "unexpected option '--bogus'"),
        ("install", ["-z"], "unexpected option '-z'"),
        ("install", ["--bogus=s3cret"], "unexpected option '--bogus'"),
        ("install", ["operand"], "unexpected operand 'operand'"),
        ("install", ["two\nlines"], "unexpected operand 'two'"),
        ("install", [""], "unexpected operand ''"),
        ("install", ["--", "--plan"], "unexpected operand '--plan'"),
        ("install", ["--archive"], "--archive needs a value"),
        ("install", ["--archive", "--plan"], "--archive needs a value"),
        ("install", ["--plan=yes"], "--plan takes no value"),
        ("install", ["--plan", "--version"], "--version needs a value"),
        ("uninstall", ["--config-path", "x"], "unexpected option '--config-path'"),
    ],
)
def test_a_wrong_call_is_a_usage_error(shell: list[str], script: str, args: list[str], message: str) -> None:
    parsed = parse(shell, script, *args)
    assert (parsed.code, parsed.error) == (2, f"error E_USAGE|options|{message}\n")


def test_a_switch_that_is_no_boolean_is_a_usage_error_without_its_value(shell: list[str]) -> None:
    parsed = parse(shell, "bootstrap", AKS_FLEX_NODE_FETCH_BOOTSTRAP_DATA="maybe")
    assert parsed.code == 2
    assert parsed.error == "error E_USAGE|options|AKS_FLEX_NODE_FETCH_BOOTSTRAP_DATA is not a boolean\n"


def test_version_alone_asks_for_the_version_of_the_script(shell: list[str]) -> None:
    for script in contract.OPTIONS:
        assert parse(shell, script, "--version").options["SHOW_VERSION"] == "1"
    assert parse(shell, "install", "--version", "v1").options["SHOW_VERSION"] == ""


def test_a_double_dash_ends_the_options(shell: list[str]) -> None:
    assert parse(shell, "install", "--plan", "--").options["PLAN"] == "1"


def run_lib(shell: list[str], library: str, call: str, **environment: str) -> str:
    """The output of one call after sourcing one library file."""
    return subprocess.run(
        [*shell, "-uc", f". {LIB}/{library}; {call}"],
        env={"PATH": os.environ["PATH"], "LC_ALL": "C", **environment},
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def test_every_twin_is_unset_and_nothing_else(shell: list[str]) -> None:
    twins = [o.env for o in contract.BOOTSTRAP_OPTIONS if o.env] + list(contract.ENVIRONMENT_ONLY)
    kept = ["AKS_FLEX_NODE_CONTAINERIZED", *contract.TEST_ENVIRONMENT]
    output = run_lib(
        shell, "options-bootstrap.sh", "flexnode_unset_twins; env", **dict.fromkeys([*twins, *kept], "set")
    )
    left = {line.split("=")[0] for line in output.splitlines() if line.startswith("AKS_FLEX_NODE_")}
    assert left == set(kept)


def test_install_unsets_its_twins_too(shell: list[str]) -> None:
    twins = [option.env for option in contract.INSTALL_OPTIONS if option.env]
    output = run_lib(
        shell, "options-install.sh", "flexnode_unset_twins; env", **dict.fromkeys([*twins, "OTHER"], "set")
    )
    assert "OTHER=set\n" in output and "AKS_FLEX_NODE_" not in output


def test_help_shows_each_option_once_with_its_twin_in_two_columns(shell: list[str]) -> None:
    for script, options in contract.OPTIONS.items():
        text = run_lib(shell, f"options-{script}.sh", f"flexnode_help_options_{script}")
        rows = [line for line in text.splitlines() if line.startswith("  -")]
        assert len(rows) == len(options)
        assert max(map(len, text.splitlines())) <= 100
        for option in options:
            assert f"[{option.env}]" in text if option.env else option.name in text


def test_the_shell_knows_exit_code_and_remedy_of_every_error(shell: list[str]) -> None:
    for error in errors.ERRORS:
        output = run_lib(shell, "errors.sh", f"flexnode_exit_code {error.id}; flexnode_remedy {error.id}")
        assert output == f"{error.exit_code}\n{error.remedy}\n"
    assert run_lib(shell, "errors.sh", "flexnode_exit_code E_NEW") == "1\n"


def test_the_shell_has_the_constants_only_after_it_asked_for_them(shell: list[str]) -> None:
    output = run_lib(
        shell, "contract.sh", 'printf "%s|" "${FLEXNODE_LOCK-unset}"; flexnode_contract; echo "$FLEXNODE_LOCK"'
    )
    assert output == f"unset|{contract.LOCK}\n"
