"""Drives bootstrap.sh in a sandbox: the config alone (by the sourced script), or the script itself."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pyhelpers.netserve import ReleaseServer
from pyhelpers.sandbox import Box, Result, Server

PROJECT = Path(__file__).resolve().parents[2]
SCRIPT = str(PROJECT / "scripts/bootstrap.sh")
CORPUS = PROJECT / "tests/corpus/bootstrap"
WORK = "/tmp/bootstrap"
BASE, OUT, SECRET = f"{WORK}/base.json", f"{WORK}/config.json", f"{WORK}/secret"
TOOLS = ("bash", "busybox", "cat", "chmod", "dash", "rm", "sh", "stat", "tr")
SHELLS = (("dash",), ("bash",), ("bash", "--posix"), ("busybox", "ash"))
JSON_TOOLS = ("jq", "python3")
CLUSTER = (
    "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/g"
    "/providers/Microsoft.ContainerService/managedClusters/c"
)
RENDER = f'. {SCRIPT}\nflexnode_render_config {OUT} "$@"'
CLEAN = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "FLEXNODE_SOURCE_ONLY": "1"}
Json = dict[str, Any]


class Bootstrap:
    """bootstrap.sh in one box; each render starts from what it is given and leaves only files below WORK."""

    def __init__(self, box: Box) -> None:
        self.box = box
        self.shell(f"mkdir {WORK} {WORK}/home")
        box.write(SECRET, b"hush\n", 0o600)
        for tool in (*JSON_TOOLS, ""):
            self._make_path(tool)

    def _make_path(self, json_tool: str) -> None:
        """A PATH with the tools that rendering needs and one JSON tool, or none."""
        folder = f"{WORK}/path-{json_tool or 'none'}"
        names = " ".join((*TOOLS, json_tool))
        self.shell(f"mkdir {folder} && for t in {names}; do ln -s $(command -v $t) {folder}; done")

    def shell(self, command: str) -> str:
        """What a shell command in the box prints; it must succeed."""
        result = self.box.run(["sh", "-c", command], env=CLEAN)
        assert result.code == 0, result
        return result.stdout

    def render(
        self,
        *options: str,
        base: Json | str | bytes | None = None,
        env: Mapping[str, str] | None = None,
        tool: str = "",
        shell: Sequence[str] = ("sh",),
    ) -> Result:
        """Render with OPTIONS; base: the base config (None: the embedded one). tool: the only JSON tool there is."""
        call = list(options)
        if base is not None:
            text = base if isinstance(base, (str, bytes)) else json.dumps(base)
            self.box.write(BASE, text.encode() if isinstance(text, str) else text, 0o600)
            call = ["--base-config", BASE, *call]
        variables = CLEAN | ({"PATH": f"{WORK}/path-{tool}"} if tool else {}) | dict(env or {})
        return self.box.run([*shell, "-c", RENDER, "render", *call], env=variables, timeout=20)

    def config(self, *options: str, **more: Any) -> Json:
        """The config that OPTIONS give; the render must succeed and say nothing."""
        result = self.render(*options, **more)
        assert (result.code, result.stderr) == (0, "")
        found: Json = json.loads(self.box.read(OUT))
        return found

    def error(self, *options: str, **more: Any) -> str:
        """The one line of a render that must fail, with its exit code in front."""
        result = self.render(*options, **more)
        assert result.stderr.count("\n") == 1, result.stderr
        return f"{result.code} {result.stderr.strip()}"

    def run(self, *options: str, env: Mapping[str, str] | None = None, shell: Sequence[str] = ("sh",)) -> Result:
        """Run the script from its file."""
        return self.box.run([*shell, SCRIPT, *options], env=env, timeout=60)


class HeldServer(ReleaseServer):
    """Answers the first request for an archive only when `go` is set; `asked` is set when it has come."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.asked, self.go = threading.Event(), threading.Event()

    def __enter__(self) -> HeldServer:
        super().__enter__()
        return self

    def find(self, path: str) -> Path | None:
        if path.endswith(".tar.gz"):
            self.asked.set()
            assert self.go.wait(60)
        return super().find(path)


@contextmanager
def in_a_box(server: Server) -> Iterator[Bootstrap]:
    """bootstrap.sh in a sandbox for all tests of a file, which do not mind each other."""
    with server.box(binds=[PROJECT]) as box:
        yield Bootstrap(box)
