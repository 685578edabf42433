"""What a sandbox is asked to be. Plain data that goes from the caller's process to the fork server as JSON."""

from __future__ import annotations

import json
import re
from typing import NamedTuple

DEFAULT_SIZE = "1g"
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"  # of a command that was given no environment
DEVICES = ("null", "zero", "full", "random", "urandom", "tty")  # of the outside, shown in /dev
MADE = ("/run", "/tmp", "/dev/shm")  # directories of the store, empty at the start
MADE_MODES = {"/run": 0o755, "/tmp": 0o1777, "/dev/shm": 0o1777}


class Spec(NamedTuple):
    """binds: (source, target), read-only inside; size: of the store, as tmpfs takes it."""

    binds: tuple[tuple[str, str], ...] = ()
    size: str = DEFAULT_SIZE

    def dump(self) -> str:
        """As text, which two equal specs have in common."""
        return json.dumps(self)


def load(text: str) -> Spec:
    """The Spec that `Spec.dump` wrote."""
    binds, size = json.loads(text)
    return Spec(tuple((source, target) for source, target in binds), size)


def store_name(prefix: str) -> str:
    """The name within the store for what belongs at PREFIX (`root` for `/`), without signs that mount options use."""
    plain = re.sub(r"[^A-Za-z0-9._/]", lambda match: f"%{ord(match[0]):02x}", prefix.strip("/"))
    return plain.replace("/", "-") or "root"
