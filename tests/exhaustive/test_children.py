"""The programs that the scripts start: they get neither a lock nor the script's stdin, and are not believed blindly."""

from __future__ import annotations

import json

import pytest

from pyhelpers.sandbox import Box
from tests.scripts.bootstrap import BASE, CLUSTER
from tests.scripts.install import PATH, PROJECT, ROOT_BINARY, STAGING, Install, archive
from tests.scripts.uninstall import Uninstall

TOOLS = "cat chmod cp gzip id jq mkdir mv od readlink rm rmdir sha256sum stat sync systemctl tar timeout tr uname"
WITNESS = """#!/bin/dash
echo {name} >>/tmp/started
for fd in 8 9; do [ ! -e /proc/$$/fd/$fd ] || echo "{name} holds descriptor $fd" >>/tmp/faults; done
[ ! /proc/$$/fd/0 -ef /tmp/stdin ] || echo "{name} can read the stdin of the script" >>/tmp/faults
exec {real} "$@"
"""
SCRIPTS = {
    "install.sh": f"--archive {archive('current')}",
    "bootstrap.sh": f"--base-config {BASE} --agent-url {archive('current')}",
    "uninstall.sh": "--yes",
}
LIAR = '#!/bin/sh\ncase $* in *{path}*) {does} ;; esac\nexec {real} "$@"\n'


@pytest.mark.parametrize("script", SCRIPTS)
def test_no_program_gets_a_lock_or_the_stdin_of_the_script(box: Box, script: str) -> None:
    host = Uninstall(box)
    if script == "uninstall.sh":
        host.install()
    host.put(BASE, json.dumps({"azure": {"targetCluster": {"resourceId": CLUSTER}, "managedIdentity": {}}}).encode())
    host.sh("mkdir -p /run/systemd/system")
    for name in TOOLS.split():
        real = host.sh(f"command -v {name}").strip()
        host.put(f"/tmp/{name}", WITNESS.format(name=name, real=real).encode(), 0o755)
    host.put("/tmp/stdin", b"not for any tool\n")
    command = f"sh {PROJECT}/scripts/{script} {SCRIPTS[script]} </tmp/stdin"
    box.run(["sh", "-c", command], env={"PATH": f"/tmp:{PATH}"})
    assert len(set(host.sh("cat /tmp/started").split())) > 5  # else nothing was looked at
    assert host.sh("cat /tmp/faults 2>/dev/null || :") == ""


def test_staging_is_for_root_alone(install: Install) -> None:
    install.box.write("/tmp/agent", b"#!/bin/sh\nstat -c %a $(dirname $0) >/root/mode\nexit 3\n", 0o755)
    for prepare in (":", "mkdir /var/lib/aks-flex-node"):  # made with the state directory, made in it
        install.sh(prepare)
        install("--binary", "/tmp/agent")
        assert install.box.read("/root/mode") == b"700\n"


def lying(install: Install, tool: str, path: str, does: str) -> dict[str, str]:
    """The environment in which TOOL, called with a PATH in its arguments, does what the shell command DOES."""
    real = install.sh(f"command -v {tool}").strip()
    install.sh("mkdir /tmp/liar")
    install.box.write(f"/tmp/liar/{tool}", LIAR.format(path=path, does=does, real=real).encode(), 0o755)
    return {"PATH": f"/tmp/liar:{PATH}"}


FAILING = {
    "mkdir of the root": ("mkdir", "/opt/unbounded", "E_TARGET", 7),
    "mv of the agent": ("mv", ROOT_BINARY, "E_TARGET", 7),
    "mv of the journal": ("mv", "/journal", "E_STATE", 7),
    "cp to the target": ("cp", "/opt/.flexnode-new", "E_TARGET", 7),
    "chmod at the target": ("chmod", "/opt/.flexnode-new", "E_TARGET", 7),
    "chmod in staging": ("chmod", STAGING, "E_STATE", 7),
    "sha256sum": ("sha256sum", "", "E_CHECKSUM", 6),
}


@pytest.mark.parametrize("case", FAILING)
def test_a_tool_that_fails_is_an_error_and_no_success_is_said(install: Install, case: str) -> None:
    tool, path, error_id, code = FAILING[case]
    environment = lying(install, tool, path, "echo no >&2; exit 1")
    result = install("--archive", archive("current"), "--sha256", "0" * 64, env=environment)
    if tool != "sha256sum":
        digest = install.sh(f"sha256sum <{archive('current')}").split()[0]
        result = install("--archive", archive("current"), "--sha256", digest, env=environment)
    install.failed(result, error_id, code)
    assert "installed" not in result.stderr


def test_a_rename_that_only_claims_success_is_not_believed(install: Install) -> None:
    result = install("--archive", archive("current"), env=lying(install, "mv", ROOT_BINARY, "exit 0"))
    install.failed(result, "E_INTERNAL", 1)
    assert "installed" not in result.stderr
