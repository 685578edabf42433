"""install.sh: options, environment twins, help, plan; wrong calls have no effect."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyhelpers.sandbox import Result
from tests.scripts.install import JOURNAL, LEGACY_BINARY, NAME, ROOT_BINARY, SCRIPT, SHELLS, Install, archive, binary

WRONG = {
    "an unknown option": ["--archiv", "x"],
    "a missing value": ["--archive"],
    "an option where a value should be": ["--archive", "--plan"],
    "a value for a flag": ["--plan=1"],
    "a stray operand": ["install"],
    "a sum that is too short": ["--binary", "/bin/true", "--sha256", "abc"],
    "a version with a slash": ["--version", "../v1.2.3"],
    "two sources": ["--binary", "/bin/true", "--archive", "/x"],
    "a file that is not there": ["--binary", "/none"],
    "a directory as archive": ["--archive", "/etc"],
    "a wait that is no number": ["--binary", "/bin/true", "--wait", "long"],
    "a log that cannot be written": ["--binary", "/bin/true", "--log", "/none/log"],
}


@pytest.mark.parametrize("options", WRONG.values(), ids=WRONG.keys())
def test_a_wrong_call_is_a_usage_error_without_effect(install: Install, options: list[str]) -> None:
    install.refused(install(*options), "E_USAGE", 2)


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("option", ["-h", "--help"])
def test_help_prints_every_option_and_nothing_happens(install: Install, shell: str, option: str) -> None:
    result = install.done(option, shell=SHELLS[shell])
    for name in (
        "--version V",
        "--archive FILE_OR_URL",
        "--require-checksum",
        "--wait SECONDS",
        "--log FILE",
        "-y, --yes",
    ):
        assert name in result.stdout
    assert (result.stderr, install.paths()) == ("", [])


def test_version_alone_prints_the_version_of_the_script(install: Install) -> None:
    result = install.done("--version")
    assert (result.stdout, result.stderr) == ("install.sh 0.1.0\n", "")


def as_nobody(install: Install, *options: str) -> Result:
    """install.sh for another user than root, from a pipe: a checkout may be closed to others."""
    call = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "dash", "-s", "--", *options]
    return install.box.run(call, stdin=Path(SCRIPT).read_bytes())


def test_a_user_who_is_not_root_is_refused(install: Install) -> None:
    install.refused(as_nobody(install, "--binary", "/bin/true"), "E_NOT_ROOT", 3)


def test_the_local_binary_can_come_from_the_environment(install: Install) -> None:
    install.done(env={"PATH": "/usr/bin:/bin", "AKS_FLEX_NODE_LOCAL_BINARY": binary("current")})
    assert install.version() == "v0.1.0"


def test_an_option_beats_the_environment(install: Install) -> None:
    environment = {
        "PATH": "/usr/bin:/bin",
        "AKS_FLEX_NODE_LOCAL_BINARY": "/none",
        "AKS_FLEX_NODE_DOWNLOAD_URL": "/none",
    }
    install.done("--binary", binary("current"), env=environment)
    install.done("--archive", archive("next"), env=environment)
    assert install.version() == "v0.2.0"


def test_an_empty_variable_is_unset(install: Install) -> None:
    empty = dict.fromkeys(("AKS_FLEX_NODE_VERSION", "AKS_FLEX_NODE_LOCAL_BINARY", "AKS_FLEX_NODE_BASE_URL"), "")
    install.done("--archive", archive("current"), env={"PATH": "/usr/bin:/bin", **empty})


def test_a_missing_tool_is_named_with_its_package(install: Install) -> None:
    install.sh(
        "mkdir /tmp/few; cd /usr/bin; "
        "for t in dash uname id cat chmod cp mkdir mv od readlink rm rmdir stat sync timeout tar gzip; do "
        "ln -s $(command -v $t) /tmp/few; done"
    )
    line = install.refused(install("--binary", binary("current"), env={"PATH": "/tmp/few"}), "E_TOOL", 4)
    assert "flock is missing; install util-linux" in line


def test_an_unknown_architecture_is_refused(install: Install) -> None:
    install.sh("mkdir /tmp/odd; printf '#!/bin/sh\\necho riscv64\\n' >/tmp/odd/uname; chmod 755 /tmp/odd/uname")
    line = install.refused(install("--binary", "/bin/true", env={"PATH": "/tmp/odd:/usr/bin:/bin"}), "E_PLATFORM", 4)
    assert "riscv64" in line


@pytest.mark.parametrize("shell", SHELLS)
def test_plan_says_what_would_be_done_and_changes_nothing(install: Install, shell: str) -> None:
    result = install.done("--plan", "--version", "v1.2.3", shell=SHELLS[shell])
    assert result.stdout.splitlines() == [
        f"would take the agent from https://github.com/Azure/AKSFlexNode/releases/download/v1.2.3/{NAME}",
        "would install it under /opt/unbounded, to be confirmed by the agent",
        "would make directory /opt/unbounded (0755)",
        "would make directory /opt/unbounded/bin (0755)",
        f"would put {ROOT_BINARY} in place (0755)",
        "would make directory /etc/aks-flex-node (0755)",
        "would make directory /var/lib/aks-flex-node (0755)",
        "would make directory /var/log/aks-flex-node (0755)",
    ]
    assert install.box.diff(ignore=["/tmp/**"]) == []


def test_plan_runs_no_agent_and_no_download(install: Install) -> None:
    install.sh(
        "mkdir /tmp/no; for t in curl wget timeout cp mv mkdir rm sync; do "
        "printf '#!/bin/sh\\necho $0 >>/root/ran\\n' >/tmp/no/$t; chmod 755 /tmp/no/$t; done"
    )
    install.done("--plan", env={"PATH": "/tmp/no:/usr/bin:/bin"})
    assert install.sh("cat /root/ran 2>/dev/null || :") == ""


def test_plan_does_what_the_run_then_does(install: Install) -> None:
    planned = install.done("--plan", "--archive", archive("current")).stdout.splitlines()[2:]
    install.done("--archive", archive("current"))
    steps = [s for s in install.box.read(JOURNAL).decode().splitlines() if s.startswith("step|")]
    assert [s.split("|")[3] for s in steps] == [p.split(" in place")[0].split(" (")[0].split(" ")[-1] for p in planned]


def test_plan_knows_the_legacy_root(install: Install) -> None:
    install.sh(f"cp {binary('legacy')} {LEGACY_BINARY}")
    lines = install.done("--plan").stdout.splitlines()
    assert f"would put {LEGACY_BINARY} in place (0755)" in lines
    assert "would link /opt/unbounded -> /usr/local" in lines


def test_plan_refuses_what_the_run_refuses(install: Install) -> None:
    install.sh("touch /opt/unbounded")
    assert "E_LAYOUT" in install("--plan").stderr


def test_plan_refuses_a_source_that_the_run_refuses(install: Install) -> None:
    install.refused(install("--plan", "--base-url", "http://example.invalid"), "E_URL", 5)
    install.refused(install("--plan", "--binary", "/nowhere"), "E_USAGE", 2)
    assert install.done("--plan", "--archive", archive("current")).stdout.startswith(
        f"would take the agent from {archive('current')}\n"
    )


def test_plan_works_for_a_user_who_is_not_root(install: Install) -> None:
    result = as_nobody(install, "--plan")
    assert result.code == 0 and "would" in result.stdout


def test_plan_shows_no_secret_of_a_url(install: Install) -> None:
    result = install.done("--plan", "--archive", "https://user:pass@example.com/a.tar.gz?sig=secret")
    assert "https://example.com/a.tar.gz\n" in result.stdout
    assert "secret" not in result.stdout and "pass" not in result.stdout
    assert install.paths() == []
