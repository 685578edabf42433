"""install.sh where all is well: fresh, again, upgrade, plan, every shell, environment and umask."""

from __future__ import annotations

import pytest

from tests.scripts.install import FRESH, JOURNAL, PATH, ROOT_BINARY, SCRIPT, SHELLS, STAGING, Install, archive, binary


@pytest.mark.parametrize("shell", SHELLS)
def test_a_fresh_install_needs_no_more_environment_than_a_path(install: Install, shell: str) -> None:
    result = install.done("--archive", archive("current"), shell=("env", "-i", f"PATH={PATH}", *SHELLS[shell]))
    assert f"install: installed v0.1.0 as {ROOT_BINARY}" in result.stderr
    assert f"  {ROOT_BINARY} start --config /etc/aks-flex-node/config.json" in result.stderr
    assert result.stdout == ""
    assert install.paths() == FRESH
    assert {c.kind for c in install.changes()} == {"added"}
    assert install.version() == "v0.1.0"
    assert install.box.read(JOURNAL).endswith(b"\ndone\n")


def test_the_same_agent_again_is_nothing_to_do(install: Install) -> None:
    install.done("--archive", archive("current"))
    before = install.box.read(JOURNAL), install.sh(f"stat -c '%i %z' {ROOT_BINARY}")
    result = install.done("--archive", archive("current"))
    assert result.stderr == f"install: {ROOT_BINARY} is v0.1.0 already: nothing to do\n"
    assert (install.box.read(JOURNAL), install.sh(f"stat -c '%i %z' {ROOT_BINARY}")) == before
    assert install.paths() == FRESH


def test_a_newer_agent_replaces_an_older_one_and_the_journal_keeps_what_was_there_before(install: Install) -> None:
    install.done("--archive", archive("current"))
    result = install.done("--archive", archive("next"))
    assert f"installed v0.2.0 as {ROOT_BINARY}" in result.stderr
    assert install.version() == "v0.2.0"
    assert install.paths() == FRESH
    journal = install.box.read(JOURNAL).decode()
    assert f"before|absent|-|{ROOT_BINARY}|-\n" in journal
    assert "before|absent|-|/var/lib/aks-flex-node|-\n" in journal


def test_an_older_agent_replaces_a_newer_one_and_says_so_unless_forbidden(install: Install) -> None:
    install.done("--archive", archive("next"))
    line = install.failed(install("--archive", archive("current"), "--no-downgrade"), "E_DOWNGRADE", 7)
    assert "v0.2.0 is installed, v0.1.0 is older" in line
    assert install.version() == "v0.2.0"
    assert "replacing v0.2.0 by the older v0.1.0" in install.done("--archive", archive("current")).stderr
    assert install.version() == "v0.1.0"


def test_a_local_binary_is_installed_and_its_sum_verified(install: Install) -> None:
    digest = install.sh(f"sha256sum <{binary('current')}").split()[0]
    install.done("--binary", binary("current"), "--sha256", digest.upper(), "-y", "--yes")
    assert install.paths() == FRESH


def test_a_running_binary_is_replaced(install: Install) -> None:
    install.sh(f"mkdir -p /opt/unbounded/bin && cp /bin/sleep {ROOT_BINARY}")
    install.sh(f"{ROOT_BINARY} 60 >/dev/null 2>&1 &")
    install.done("--archive", archive("current"))
    assert install.version() == "v0.1.0"


def test_existing_directories_keep_their_modes(install: Install) -> None:
    install.sh("mkdir -m 0700 /etc/aks-flex-node && mkdir -m 0711 /opt/unbounded /opt/unbounded/bin")
    install.done("--archive", archive("current"))
    modes = install.sh("stat -c %a /etc/aks-flex-node /opt/unbounded /opt/unbounded/bin /var/log/aks-flex-node")
    assert modes.split() == ["700", "711", "711", "755"]


@pytest.mark.parametrize("umask", ["000", "027", "077"])
def test_modes_are_right_under_any_umask(install: Install, umask: str) -> None:
    install.sh(f"umask {umask}; dash {SCRIPT} --archive {archive('current')}")
    modes = {c.path: c.detail for c in install.changes()}
    assert {detail for path, detail in modes.items() if path != JOURNAL} == {"dir 0755 0:0", "file 0755 0:0"}
    assert modes[JOURNAL] == "file 0600 0:0"


@pytest.mark.parametrize("shell", SHELLS)
def test_no_variable_of_the_environment_and_no_option_of_the_shell_disturbs_it(install: Install, shell: str) -> None:
    install.sh("echo 'echo broken; exit 3' >/root/rc; echo 'fail' >/root/.curlrc; mkdir /root/opt")
    hostile = {
        "PATH": PATH,
        "HOME": "/root",
        "CDPATH": "/root",
        "IFS": "/-0",
        "ENV": "/root/rc",
        "POSIXLY_CORRECT": "1",
        "GREP_OPTIONS": "-v",
        "TAR_OPTIONS": "--one-top-level=/root/x -P",
        "GZIP": "-9",
        "FLEXNODE_OPT_PLAN": "1",
        "FLEXNODE_HOST_ROOT": "/root/elsewhere",
        "LC_ALL": "tr_TR.UTF-8",
        "SHELLOPTS": "errexit:noglob",
    }
    install.done("--archive", archive("current"), shell=(*SHELLS[shell], "-efaC"), env=hostile)
    assert install.paths() == FRESH


def test_what_a_killed_run_left_is_swept(install: Install) -> None:
    install.sh(
        f"mkdir -p {STAGING}/x /opt/unbounded/bin && touch {STAGING}/aks-flex-node /opt/.flexnode-probe "
        "/opt/.flexnode-new.aks-flex-node /opt/unbounded/bin/.flexnode-new.aks-flex-node "
        "/var/lib/.flexnode-probe.renamed"
    )
    install.done("--archive", archive("current"))
    assert install.paths() == FRESH


def test_a_journal_that_is_not_valid_is_moved_aside(install: Install) -> None:
    install.sh(f"mkdir -p /var/lib/aks-flex-node && echo nonsense >{JOURNAL}")
    result = install.done("--archive", archive("current"))
    assert f"{JOURNAL} is not used" in result.stderr
    assert install.box.read(f"{JOURNAL}.invalid") == b"nonsense\n"
    assert install.box.read(JOURNAL).endswith(b"\ndone\n")


def test_an_install_that_was_not_closed_is_closed_by_the_next(install: Install) -> None:
    install.done("--archive", archive("current"))
    install.sh(f"sed -i '$d' {JOURNAL}")
    assert "nothing to do" in install.done("--archive", archive("current")).stderr
    assert install.box.read(JOURNAL).endswith(b"\ndone\n")


def test_verbose_says_each_step(install: Install) -> None:
    assert (
        f"install: put {ROOT_BINARY} in place (0755)"
        in install.done("--verbose", "--archive", archive("current")).stderr
    )


def test_quiet_says_nothing_but_to_the_log_which_grows(install: Install) -> None:
    for _ in range(2):
        assert install.done("--archive", archive("current"), "--quiet", "--log", "/root/log").stderr == ""
    log = install.box.read("/root/log").decode()
    assert "install: make directory /opt/unbounded (0755)\n" in log
    assert log.count("v0.1.0") == 2
