"""The generated files of scripts/lib: contract.sh, errors.sh and options-*.sh, from contract.py and errors.py.

Pure: tables in, text out. What a parser accepts stands in contract.py, how it does so in templates/options.sh.j2.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import jinja2

from pyhelpers import contract, errors
from pyhelpers.contract import Option

HELP_COLUMN = 30
HELP_WIDTH = 100


def sh_quote(text: str) -> str:
    """`text` as one word of sh, always in quotes, so that every generated line looks alike."""
    return "'" + text.replace("'", "'\\''") + "'"


def variable(option: Option) -> str:
    """The variable that holds the option's value."""
    return "FLEXNODE_OPT_" + (option.variable or option.name[2:].upper().replace("-", "_"))


def spellings(option: Option) -> list[str]:
    """Everything a user may write for this option, the short form first."""
    return [word for word in (option.short, option.name, *option.aliases) if word]


def alternatives(words: Sequence[str], suffix: str = "") -> str:
    """A pattern of `case` inside a loop of a function that matches each of the words, on lines of modest length."""
    text = " | ".join(word + suffix for word in words)
    return " \\\n        ".join(textwrap.wrap(text, HELP_WIDTH, break_long_words=False, break_on_hyphens=False))


def any_case(words: Sequence[str]) -> str:
    """A pattern of `case` that matches the words in upper, lower and mixed case."""
    return " | ".join("".join(f"[{c.upper()}{c}]" if c.isalpha() else c for c in word) for word in words)


def option_help(option: Option) -> str:
    """The lines that help prints for one option: spellings, text, environment twin; all in two columns."""
    left = "  " + ", ".join(spellings(option)) + (f" {option.metavar}" if option.metavar else "")
    text = option.help + (f" [{option.env}]" if option.env else "")
    right = textwrap.wrap(text, HELP_WIDTH - HELP_COLUMN, break_long_words=False, break_on_hyphens=False)
    first = [left] if len(left) > HELP_COLUMN - 2 else [f"{left:<{HELP_COLUMN}}{right.pop(0)}"]
    return "\n".join(first + [" " * HELP_COLUMN + line for line in right])


def constants(module: ModuleType) -> dict[str, str]:
    """The constants of `module` that a script can use: texts, numbers, tuples of words (joined by a blank)."""
    found: dict[str, str] = {}
    for name, value in vars(module).items():
        if not name.isupper():
            continue
        if isinstance(value, (str, int)):
            found[f"FLEXNODE_{name}"] = str(value)
        elif isinstance(value, tuple) and all(isinstance(word, str) for word in value):
            found[f"FLEXNODE_{name}"] = " ".join(value)
    return found


def twins() -> list[str]:
    """Every variable that stands in for an option of bootstrap.sh, and those that have no option."""
    return [o.env for o in contract.BOOTSTRAP_OPTIONS if o.env] + list(contract.ENVIRONMENT_ONLY)


def environment() -> jinja2.Environment:
    """Templates with the filters that shell needs."""
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).with_name("templates")),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    made.filters.update(
        sh=sh_quote,
        variable=variable,
        spellings=spellings,
        help=option_help,
        any_case=any_case,
        alternatives=alternatives,
    )
    return made


def generated() -> dict[str, str]:
    """File name in scripts/lib -> text, for every generated file."""
    templates = environment()
    by_code: dict[int, list[str]] = {}
    for error in errors.ERRORS:
        by_code.setdefault(error.exit_code, []).append(error.id)
    files = {
        "contract.sh": templates.get_template("contract.sh.j2").render(constants=constants(contract)),
        "errors.sh": templates.get_template("errors.sh.j2").render(by_code=by_code, errors=errors.ERRORS),
    }
    for script, options in contract.OPTIONS.items():
        files[f"options-{script}.sh"] = templates.get_template("options.sh.j2").render(
            script=script, options=options, twins=twins(), contract=contract
        )
    return files
