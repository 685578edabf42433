"""Read config.json, check it, and hand it over complete. Writes nothing, prints nothing."""

from __future__ import annotations

import json
import os
import socket
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyhelpers.agent.config.keys import Json, get
from pyhelpers.errors import FlexError

LIMIT_BYTES = 8 * 1024 * 1024  # a config is a few KiB; this stops a wrong path from filling the memory


class ConfigErrors(FlexError):
    """Everything that is wrong with a config file: `problems` one a line, `str()` all of them in one line."""

    def __init__(self, path: str, problems: Sequence[str], remedy: str = "") -> None:
        self.path, self.problems = path, tuple(problems)
        super().__init__("E_CONFIG", f"config {path}", "; ".join(self.problems), remedy)


@dataclass(frozen=True)
class Config:
    """A checked configuration. `data` is complete: defaults filled in, legacy keys mapped, unknown keys kept."""

    path: str
    data: Json

    def get(self, key: str, default: Any = None) -> Any:
        """The value at a dotted key."""
        return get(self.data, key, default)

    @property
    def log_level(self) -> str:
        """debug, info, warning or error."""
        return str(self.data["agent"]["logLevel"])

    @property
    def node_name(self) -> str:
        """The name of the Kubernetes node."""
        return str(self.data["agent"]["nodeName"])


def load(path: str | os.PathLike[str], hostname: str | None = None) -> Config:
    """Read and check a config file.

    Raises:
        ConfigErrors: it cannot be read, is not JSON, or breaks rules (all of them are named).
    """
    from pyhelpers.agent.config.validate import validate

    name = str(path)
    raw = _parse(name, _read(name))
    data, problems = validate(raw, socket.gethostname() if hostname is None else hostname)
    if problems:
        raise ConfigErrors(name, problems)
    return Config(name, data)


def _read(path: str) -> bytes:
    remedy = "give the path of a readable config.json"
    try:
        status = Path(path).stat()
        if not stat.S_ISREG(status.st_mode):
            raise ConfigErrors(path, ["is not a regular file"], remedy)
        if status.st_size > LIMIT_BYTES:
            raise ConfigErrors(path, [f"is {status.st_size} bytes long, the limit is {LIMIT_BYTES}"], remedy)
        return Path(path).read_bytes()
    except (OSError, ValueError) as error:
        raise ConfigErrors(path, [f"cannot be read: {getattr(error, 'strerror', None) or error}"], remedy) from error


def _parse(path: str, content: bytes) -> Any:
    try:
        return json.loads(content.decode("utf-8"), object_pairs_hook=_unique, parse_constant=_no_constant)
    except UnicodeDecodeError as error:
        raise ConfigErrors(path, [f"is not UTF-8 at byte {error.start}"], "save it as UTF-8") from error
    except json.JSONDecodeError as error:
        where = f"is not JSON: line {error.lineno} column {error.colno}: {error.msg}"
        raise ConfigErrors(path, [where], "correct the file") from error
    except RecursionError as error:
        raise ConfigErrors(path, ["is not JSON that can be read: nested too deeply"], "correct the file") from error
    except ValueError as error:
        raise ConfigErrors(path, [f"is not JSON: {error}"], "correct the file") from error


def _unique(pairs: list[tuple[str, Any]]) -> Json:
    """An object; two values for one key would leave it to the reader's implementation which one counts."""
    found: Json = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"the key {json.dumps(key)} is there twice in one object")
        found[key] = value
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON value")
