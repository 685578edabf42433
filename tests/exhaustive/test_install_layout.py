"""install.sh on hosts that had an agent: legacy root, linked root, blue/green layout, things in the way."""

from __future__ import annotations

import pytest

from tests.scripts.install import FRESH, JOURNAL, LEGACY_BINARY, ROOT_BINARY, SHELLS, Install, archive, binary

LIB = "/opt/unbounded/lib/aks-flex-node"
UNIT = "/etc/systemd/system/aks-flex-node-agent.service"
READ_ONLY = "mount --bind /usr/local /usr/local && mount -o remount,ro,bind /usr/local"
LAYOUT = (  # what a start leaves; the agent in it is the current one
    f"mkdir -p /opt/unbounded/bin {LIB} && cp {binary('current')} {LIB}/aks-flex-node-blue && "
    f"cd {LIB} && ln -s {LIB}/aks-flex-node-blue aks-flex-node-current && "
    f"ln -s {LIB}/aks-flex-node-blue aks-flex-node-last-good && ln -s {LIB}/aks-flex-node-current {ROOT_BINARY}"
)


def root_link(install: Install) -> str:
    """Where /opt/unbounded leads, empty when it is no link."""
    return install.sh("readlink /opt/unbounded || :").strip()


def test_a_release_that_predates_the_host_root_goes_to_the_legacy_root(install: Install) -> None:
    result = install.done("--archive", archive("legacy"))
    assert f"installed v0.0.9 as {LEGACY_BINARY}" in result.stderr
    assert LEGACY_BINARY in install.paths() and "/opt/unbounded" not in install.paths()
    assert install.box.read(JOURNAL).startswith(b"flexnode-journal 1 /usr/local\n")


@pytest.mark.parametrize("shell", ["dash", "bash"])
def test_a_current_release_over_a_legacy_one_links_the_host_root(install: Install, shell: str) -> None:
    for name in ("legacy", "current"):
        install.done("--archive", archive(name), shell=SHELLS[shell])
    assert root_link(install) == "/usr/local"
    assert install.version() == install.version(LEGACY_BINARY) == "v0.1.0"
    assert "before|absent|-|/opt/unbounded|-\n" in install.box.read(JOURNAL).decode()


def test_an_upgrade_on_a_linked_host_goes_through_the_link(install: Install) -> None:
    install.sh(f"cp {binary('current')} {LEGACY_BINARY} && ln -s /usr/local /opt/unbounded")
    install.done("--archive", archive("next"))
    assert root_link(install) == "/usr/local"
    assert install.version(LEGACY_BINARY) == "v0.2.0"


def test_a_link_without_an_agent_behind_it_becomes_a_directory(install: Install) -> None:
    install.sh("ln -s /usr/local /opt/unbounded")
    install.done("--archive", archive("current"))
    assert root_link(install) == ""
    assert install.version() == "v0.1.0"
    assert not any(path.startswith("/usr/local") for path in install.paths())


def test_a_link_to_elsewhere_is_followed_and_left_alone(install: Install) -> None:
    install.sh("mkdir /srv/flex && ln -s /srv/flex /opt/unbounded")
    install.done("--archive", archive("current"))
    assert root_link(install) == "/srv/flex"
    assert install.version("/srv/flex/bin/aks-flex-node") == "v0.1.0"
    assert install.box.read(JOURNAL).startswith(b"flexnode-journal 1 /srv/flex\n")
    assert b"before|absent|-|/srv/flex/bin|-\n" in install.box.read(JOURNAL)


def test_a_legacy_release_on_a_read_only_usr_local_is_refused(install: Install) -> None:
    install.sh(READ_ONLY)
    line = install.refused(install("--archive", archive("legacy")), "E_TARGET", 7)
    assert "read-only" in line and "/usr/local" in line
    assert "this release predates /opt/unbounded and needs a writable /usr/local; use a newer release" in line


def test_a_current_release_needs_no_writable_usr_local(install: Install) -> None:
    install.sh(READ_ONLY)
    install.done("--archive", archive("current"))
    assert install.paths() == FRESH


def test_a_legacy_release_beside_a_current_one_is_refused(install: Install) -> None:
    install.done("--archive", archive("current"))
    line = install.failed(install("--archive", archive("legacy")), "E_LAYOUT", 7)
    assert "both /opt/unbounded and /usr/local" in line
    assert install.paths() == FRESH


def test_agents_under_both_roots_are_refused(install: Install) -> None:
    install.sh(
        f"mkdir -p /opt/unbounded/bin && cp {binary('current')} {ROOT_BINARY} && cp {binary('legacy')} {LEGACY_BINARY}"
    )
    assert "reset" in install.failed(install("--archive", archive("next")), "E_LAYOUT", 7)
    assert install.version() == "v0.1.0"


def test_a_directory_beside_a_legacy_agent_is_refused_naming_both_remedies(install: Install) -> None:
    install.sh(f"mkdir /opt/unbounded && cp {binary('legacy')} {LEGACY_BINARY}")
    line = install.failed(install("--archive", archive("current")), "E_LAYOUT", 7)
    assert "remove /opt/unbounded if it is not needed, or uninstall the agent under /usr/local" in line
    assert install.version(LEGACY_BINARY) == "v0.0.9"


def test_a_file_in_the_place_of_the_host_root_is_refused(install: Install) -> None:
    install.sh("touch /opt/unbounded")
    install.failed(install("--archive", archive("current")), "E_LAYOUT", 7)
    assert install.paths() == ["/opt/unbounded"]


def test_a_managed_link_is_refused_while_the_unit_is_there(install: Install) -> None:
    install.sh(f"{LAYOUT} && touch {UNIT}")
    before = install.paths()
    line = install.failed(install("--archive", archive("next")), "E_LAYOUT", 7)
    assert "agent-upgrade" in line and f"'{ROOT_BINARY} reset'" in line
    assert install.paths() == before


def test_the_running_version_behind_a_managed_link_is_nothing_to_do(install: Install) -> None:
    install.sh(f"{LAYOUT} && touch {UNIT}")
    assert "nothing to do" in install.done("--archive", archive("current")).stderr
    assert install.sh(f"readlink {ROOT_BINARY}").strip() == f"{LIB}/aks-flex-node-current"


def test_after_a_reset_the_layout_gives_way_to_the_new_agent(install: Install) -> None:
    install.sh(f"{LAYOUT} && touch {LIB}/foreign")
    install.done("--archive", archive("next"))
    assert install.sh(f"test ! -L {ROOT_BINARY} && ls {LIB}").split() == ["foreign"]
    assert install.version() == "v0.2.0"


def test_an_unexpected_link_in_the_place_of_the_agent_is_refused(install: Install) -> None:
    install.sh(f"mkdir -p /opt/unbounded/bin && ln -s /bin/true {ROOT_BINARY}")
    assert "unexpected link to /bin/true" in install.failed(install("--archive", archive("current")), "E_LAYOUT", 7)
    assert install.sh(f"readlink {ROOT_BINARY}").strip() == "/bin/true"


def test_a_directory_in_the_place_of_the_agent_is_refused(install: Install) -> None:
    install.sh(f"mkdir -p {ROOT_BINARY}")
    assert "is not a file" in install.failed(install("--archive", archive("current")), "E_LAYOUT", 7)
    assert install.sh(f"ls -A {ROOT_BINARY} /opt | grep -c flexnode || :").strip() == "0"
