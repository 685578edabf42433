"""Drives the downloads of install.sh: with each tool that can download, from servers that misbehave."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from pyhelpers.netserve import Answer, HostileServer
from pyhelpers.netserve.authority import BUNDLE, Authority
from pyhelpers.sandbox import Box, Result
from tests.scripts.install import NAME, SCRIPT, Install, archive

ARCHIVE = Path(archive("current"))
SUM = hashlib.sha256(ARCHIVE.read_bytes()).hexdigest()
LIST = f"{SUM}  {NAME}\n".encode()
GOOD = Answer(body=ARCHIVE)
RELEASE = "/releases/download/v0.1.0"
PAGE = b"\xef\xbb\xbf\r\n  <!doctype html>\n<title>Sign in to the network</title>\n"
TOOLS = ("curl", "wget", "busybox")
VERIFYING = ("curl", "wget")  # those that check certificates, so that they may be used without --sha256
ONLY = {  # PATH with one of them
    "curl": "mkdir /tmp/few; ln -s $(ls -d /usr/bin/* | grep -v /wget$) /tmp/few",
    "wget": "mkdir /tmp/few; ln -s $(ls -d /usr/bin/* | grep -v /curl$) /tmp/few",
    "busybox": "mkdir /tmp/few; ln -s $(ls -d /usr/bin/* | grep -vE '/(curl|wget)$') /tmp/few;"
    " ln -s /bin/busybox /tmp/few/wget",
    "none": "mkdir /tmp/few; ln -s $(ls -d /usr/bin/* | grep -vE '/(curl|wget)$') /tmp/few",
}
LIMITS = {"ARCHIVE_LIMIT_MIB": 1, "DOWNLOAD_TIMEOUT_S": 2, "STALL_TIMEOUT_S": 1}


class Fetch(Install):
    """install.sh in a sandbox where TOOL is the only one that can download."""

    def __init__(self, box: Box, tool: str, limits: Mapping[str, int] | None = None) -> None:
        """limits: constants of the script that are smaller than a host gives."""
        super().__init__(box)
        self.tool = tool
        self.sh(ONLY[tool])
        if limits:
            text = Path(SCRIPT).read_text()
            for name, value in limits.items():
                text, count = re.subn(rf"(?m)^  FLEXNODE_{name}='\d+'$", f"  FLEXNODE_{name}='{value}'", text)
                assert count == 1, name
            box.write("/tmp/install.sh", text.encode(), 0o755)
            self.script = "/tmp/install.sh"

    def __call__(
        self, *options: str, shell: Sequence[str] = ("/bin/dash",), env: Mapping[str, str] | None = None
    ) -> Result:
        """Run it with OPTIONS; ENV is added to the PATH."""
        return super().__call__(*options, shell=shell, env={"PATH": "/tmp/few", **(env or {})})

    def release(self, server: HostileServer, env: Mapping[str, str] | None = None) -> Result:
        """Install v0.1.0 from SERVER, its sum known."""
        return self("--base-url", f"{server.url}/releases", "--version", "v0.1.0", "--sha256", SUM, env=env)

    def trust(self, authority: Authority) -> None:
        """Make the sandbox trust a CA, as an administrator does."""
        self.box.write(BUNDLE, self.box.read(BUNDLE) + authority.pem)


def serving(box: Box, *answers: Answer, **more: Answer | Sequence[Answer]) -> HostileServer:
    """A server whose archive of v0.1.0 comes with ANSWERS; more: checksums=…, latest=…."""
    paths: dict[str, Answer | Sequence[Answer]] = {f"{RELEASE}/{NAME}": answers}
    if "checksums" in more:
        paths[f"{RELEASE}/checksums.txt"] = more["checksums"]
    if "latest" in more:
        paths["/releases/latest"] = more["latest"]
    return HostileServer(box.netns, paths)


def to(location: str, status: int = 302) -> Answer:
    """A redirect."""
    return Answer(status, headers={"Location": location})
