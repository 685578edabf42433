"""The jinja2 environment of what is generated: filters that quote for shell and for Markdown tables."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from textwrap import wrap

import jinja2

from pyhelpers.contract import Option

HELP_COLUMN = 30
LINE_WIDTH = 100


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
    return " \\\n        ".join(wrap(text, LINE_WIDTH, break_long_words=False, break_on_hyphens=False))


def any_case(words: Sequence[str]) -> str:
    """A pattern of `case` that matches the words in upper, lower and mixed case."""
    return " | ".join("".join(f"[{c.upper()}{c}]" if c.isalpha() else c for c in word) for word in words)


def option_help(option: Option) -> str:
    """The lines that help prints for one option: spellings, text, environment twin; all in two columns."""
    left = "  " + ", ".join(spellings(option)) + (f" {option.metavar}" if option.metavar else "")
    text = option.help + (f" [{option.env}]" if option.env else "")
    right = wrap(text, LINE_WIDTH - HELP_COLUMN, break_long_words=False, break_on_hyphens=False)
    first = [left] if len(left) > HELP_COLUMN - 2 else [f"{left:<{HELP_COLUMN}}{right.pop(0)}"]
    return "\n".join(first + [" " * HELP_COLUMN + line for line in right])


def code(text: str) -> str:
    """`text` as code of Markdown."""
    return f"`{text}`"


def cell(text: str) -> str:
    """`text` as the cell of a Markdown table."""
    return text.replace("|", "\\|")


def environment() -> jinja2.Environment:
    """Templates of this package with the filters above."""
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).with_name("templates")),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    made.filters.update(
        {
            "sh": sh_quote,
            "variable": variable,
            "spellings": spellings,
            "alternatives": alternatives,
            "any_case": any_case,
            "help": option_help,
            "code": code,
            "cell": cell,
        }
    )
    return made
