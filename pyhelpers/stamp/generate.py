"""The generated files: contract.sh, errors.sh and options-*.sh of scripts/lib, and the reference documents.

Pure: the tables of contract.py and errors.py in, text out. How it looks stands in templates/.
"""

from __future__ import annotations

from types import ModuleType

from pyhelpers import contract, errors
from pyhelpers.stamp.templating import environment


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


def twins(script: str) -> list[str]:
    """Every variable that stands in for an option of a script, and those of bootstrap.sh that have no option."""
    alone = contract.ENVIRONMENT_ONLY if script == "bootstrap" else ()
    return [o.env for o in contract.OPTIONS[script] if o.env] + list(alone)


def libraries() -> dict[str, str]:
    """File name in scripts/lib -> text."""
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
            script=script, options=options, twins=twins(script), contract=contract
        )
    return files


def documents() -> dict[str, str]:
    """File name in docs -> text."""
    templates = environment()
    return {
        name: templates.get_template(f"{name}.j2").render(contract=contract, errors=errors)
        for name in ("errors.md", "exit-codes.md", "options.md")
    }
