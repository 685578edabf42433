"""Hosts below another directory: `RootedHost` resolves every link inside it and refuses commands; `RecordingHost` also
notes every change and answers commands from a table. Neither is shipped with the agent.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from pyhelpers.host import Completed, Host, Mount


class RootedHost(Host):
    """The tree below another directory: every link in it is resolved inside it. It runs no commands."""

    def __init__(self, prefix: Path) -> None:
        self.prefix = str(prefix).rstrip("/")
        self.owner = os.geteuid()

    def where(self, path: str, follow: bool = True) -> str:
        if follow:
            return f"{self.prefix}{self.realpath(path)}"
        parent, _, name = path.rstrip("/").rpartition("/")
        return f"{self.prefix}{self.realpath(parent or '/').rstrip('/')}/{name}"

    def mounts(self) -> list[Mount]:
        return []

    def find(self, tool: str) -> str | None:
        return None

    def run(self, argv: Sequence[str], timeout: float = 60, stdin: bytes = b"") -> Completed:
        return Completed(tuple(argv), 127, stderr=f"{argv[0]}: no commands are run below {self.prefix}")


class RecordingHost(RootedHost):
    """Such a tree whose changes and commands are noted in `events`, in order.

    A command succeeds silently unless `answers` has an entry for the beginning of its words; `tools` are the
    executables that it has; `stop_before` N raises KeyboardInterrupt instead of the change number N, as a kill would.
    `user_id` and `room` (free bytes) are what it says of itself.
    """

    def __init__(self, prefix: Path, tools: Sequence[str] = ("systemctl",), stop_before: int = -1) -> None:
        super().__init__(prefix)
        self.events: list[tuple[str, str]] = []
        self.answers: dict[str, Completed] = {}
        self.tools, self.stop_before, self.mounted = set(tools), stop_before, list[Mount]()
        self.user_id, self.room = 0, 1 << 40

    def will(self, action: str, path: str) -> None:
        if len(self.events) == self.stop_before:
            raise KeyboardInterrupt
        self.events.append((action, path))

    def mounts(self) -> list[Mount]:
        return self.mounted

    def user(self) -> int:
        return self.user_id

    def space(self, path: str) -> os.statvfs_result:
        blocks = self.room // 4096
        return os.statvfs_result((4096, 4096, blocks, blocks, blocks, 1 << 20, 1 << 20, 1 << 20, 0, 255))

    def find(self, tool: str) -> str | None:
        return f"/usr/bin/{tool}" if tool in self.tools else None

    def run(self, argv: Sequence[str], timeout: float = 60, stdin: bytes = b"") -> Completed:
        words = " ".join(argv)
        self.will("run", words)
        for beginning, answer in self.answers.items():
            if words.startswith(beginning):
                return Completed(tuple(argv), answer.code, answer.stdout, answer.stderr)
        return Completed(tuple(argv), 0)
