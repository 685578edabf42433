"""Templates of this package to text. They are read by `pkgutil`, so that they are found inside the executable zip."""

from __future__ import annotations

import pkgutil

import jinja2


def source(name: str) -> str:
    """A file of `templates/` as it is."""
    data = pkgutil.get_data("pyhelpers.render", f"templates/{name}")
    if data is None:  # a loader without get_data, which none that we ship has
        raise FileNotFoundError(name)
    return data.decode()


def render(name: str, **values: object) -> str:
    """The template `name` filled in; a value that is missing is an error, never an empty string."""
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(source),
        undefined=jinja2.StrictUndefined,
        autoescape=False,  # units are no HTML; arguments are quoted by systemd_argument
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["argument"] = systemd_argument
    environment.filters["path"] = systemd_path
    return environment.get_template(name).render(**values)


def systemd_argument(value: str) -> str:
    """One argument of ExecStart=: quoted, with specifiers and variables switched off (systemd.service(5))."""
    text = value.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return f'"{text}"' if set(value) & set(" \t\"'\\;") else text


def systemd_path(value: str) -> str:
    """A path in a setting that takes a list of paths, such as RequiresMountsFor=: no `$` substitution there."""
    text = value.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{text}"' if set(value) & set(" \t\"'\\") else text
