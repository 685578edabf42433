"""The fence of uninstall.sh: what it refuses, mounts, links, read-only and network file systems."""

from __future__ import annotations

import pytest

from pyhelpers.sandbox import Box
from tests.scripts.uninstall import CONFIG, LEGACY, LOGS, ROOT, STATE, UNINSTALL, Uninstall

REFUSED = {
    "an empty path, rke2 4152": "",
    "the root of the host": "/",
    "a relative path": "opt/unbounded",
    "a path with ..": f"{CONFIG}/../passwd",
    "a path that ends in ..": f"{CONFIG}/..",
    "a path with //": "/etc//aks-flex-node",
    "a path with a trailing slash": f"{CONFIG}/",
    "a foreign file": "/etc/passwd",
    "a parent of ours": "/etc",
    "a path that only begins like ours": f"{CONFIG}-other",
    "a foreign file in our root": f"{ROOT}/bin/tool",
    "the legacy root": LEGACY,
    "a slot nobody knows": f"{ROOT}/lib/aks-flex-node/aks-flex-node-violet",
    "a path with a newline": f"{CONFIG}/a\\nb",
}
TOUCH = "mkdir -p /etc/aks-flex-node /etc/aks-flex-node-other /opt/unbounded/bin; touch /opt/unbounded/bin/tool"


@pytest.fixture
def host(box: Box) -> Uninstall:
    return Uninstall(box)


def test_the_fence_refuses_every_path_that_is_not_the_agents(host: Uninstall) -> None:
    host.sh(TOUCH)
    before = host.diff()
    for name, path in REFUSED.items():
        result = host.call(f'p=$(printf "{path}x"); flexnode_remove_path "${{p%x}}"')
        assert result.code == 2, (name, result)
        assert "[E_USAGE]" in result.stderr, name
    assert host.diff() == before


@pytest.mark.parametrize("root", ["", "/", "/srv", "/usr", "relative", "/opt/unbounded/.."])
def test_a_layout_is_only_removed_below_a_root_of_the_agent_rke2_4152(host: Uninstall, root: str) -> None:
    host.put_layout("/srv")
    result = host.call(f"flexnode_remove_layout '{root}'")
    assert result.code == 2
    assert host.exists("/srv/bin/aks-flex-node")


def test_remove_path_removes_a_file_a_link_and_a_tree_of_ours(host: Uninstall) -> None:
    host.put_layout()
    host.put(f"{CONFIG}/credentials/a")
    for path in (f"{ROOT}/bin/aks-flex-node", f"{ROOT}/lib/aks-flex-node/aks-flex-node-blue", f"{CONFIG}/credentials"):
        assert host.call(f"flexnode_remove_path {path}").code == 0
        assert not host.exists(path)
    assert host.exists(CONFIG)


@pytest.mark.parametrize("name", ["data", "a b", "tab\tin", "back\\slash", "ünï", "#", "\\040"])
def test_a_mount_below_is_listed_kept_and_not_entered_k3s_3264(host: Uninstall, name: str) -> None:
    host.put_agent(reset="exit 0")
    host.put(f"{LOGS}/agent.log")
    host.put("/tmp/volume/users-data", b"precious")
    host.sh(f"mkdir -p '{LOGS}/sub/{name}'; touch {LOGS}/sub/file; mount --bind /tmp/volume '{LOGS}/sub/{name}'")
    result = host.run("--yes", code=13)
    assert f"left {LOGS}/sub/{name}: a mount point" in result.stderr
    assert "[E_LEFT]" in result.stderr
    assert host.sh("cat /tmp/volume/users-data") == "precious"
    assert not host.exists(f"{LOGS}/agent.log")
    assert not host.exists(f"{LOGS}/sub/file")
    assert not host.exists(ROOT)


def test_after_unmounting_the_next_run_finishes(host: Uninstall) -> None:
    host.install()
    host.put_agent(reset="exit 0")
    host.sh(f"mkdir {LOGS}/m; mount -t tmpfs t {LOGS}/m")
    host.run("--yes", code=13)
    host.sh(f"umount {LOGS}/m")
    host.run("--yes")
    assert host.diff() == []


@pytest.mark.parametrize("directory", [CONFIG, LOGS, STATE])
def test_a_directory_that_is_a_mount_point_is_emptied_rke2_4475(host: Uninstall, directory: str) -> None:
    host.put_agent(reset="exit 0")
    host.sh(f"mkdir -p {directory}; mount -t tmpfs t {directory}")
    host.sh(f"cd {directory}; mkdir sub; touch sub/a .b")
    result = host.run("--yes")
    assert f"kept {directory}: " in result.stderr
    assert "a mount point" in result.stderr
    assert host.sh(f"ls -A {directory}") == ""
    assert not host.exists(ROOT)


def test_a_root_that_is_a_mount_point_is_emptied(host: Uninstall) -> None:
    host.sh(f"mkdir {ROOT}; mount -t tmpfs t {ROOT}")
    host.put_layout()
    result = host.run("--yes")
    assert f"kept {ROOT}: a mount point" in result.stderr
    assert host.sh(f"ls -A {ROOT}") == ""


def test_links_inside_our_directories_are_not_followed(host: Uninstall) -> None:
    host.put("/srv/data/file")
    host.put(f"{CONFIG}/config.json")
    host.sh(f"ln -s /srv/data {CONFIG}/link; ln -s /srv/data/file {CONFIG}/file")
    host.run("--yes")
    assert not host.exists(CONFIG)
    assert host.exists("/srv/data/file")


def test_a_link_in_the_place_of_our_directory_is_kept_and_named(host: Uninstall) -> None:
    host.put("/srv/conf/config.json")
    host.sh(f"ln -s /srv/conf {CONFIG}")
    host.put_agent(reset="exit 0")
    assert f"kept {CONFIG}: a link where the agent has a directory" in host.run("--yes").stderr
    assert host.call(f"flexnode_remove_path {CONFIG}").code == 0
    assert host.exists("/srv/conf/config.json")
    assert host.exists(CONFIG)


def test_nothing_behind_somebody_elses_link_is_removed(host: Uninstall) -> None:
    host.put("/srv/lib/aks-flex-node-blue")
    host.sh(f"ln -s /srv/lib {LEGACY}/lib/aks-flex-node")
    assert "behind a link that is not ours" in host.run("--yes").stderr
    assert host.exists("/srv/lib/aks-flex-node-blue")
    assert host.call(f"flexnode_remove_path {LEGACY}/lib/aks-flex-node/aks-flex-node-blue").code == 0
    assert host.exists("/srv/lib/aks-flex-node-blue")


def test_the_hosts_own_links_to_opt_and_usr_local_are_followed(host: Uninstall) -> None:
    host.sh("mkdir -p /var/usrlocal/bin /var/usrlocal/lib; mv /usr/local /tmp/was; ln -s /var/usrlocal /usr/local")
    host.sh("mkdir /var/opt/o; mv /opt /opt.was; ln -s /var/opt/o /opt")
    host.put_layout(ROOT)
    host.put_layout(LEGACY)
    host.run("--yes")
    assert not host.exists("/var/opt/o/unbounded")
    assert not host.exists("/var/usrlocal/lib/aks-flex-node")
    assert not host.exists("/var/usrlocal/bin/aks-flex-node")


def test_what_is_not_there_on_a_read_only_file_system_is_no_error(host: Uninstall) -> None:
    host.put(f"{CONFIG}/config.json")
    host.sh("mount -t tmpfs -o ro t /opt; mount --bind /usr/local /usr/local; mount -o remount,bind,ro /usr/local")
    host.run("--yes")
    assert not host.exists(CONFIG)


def test_what_cannot_be_removed_is_reported_and_the_rest_goes(host: Uninstall) -> None:
    host.put_layout(LEGACY)
    host.put(f"{CONFIG}/config.json")
    host.sh("mount --bind /usr/local /usr/local; mount -o remount,bind,ro /usr/local")
    result = host.run("--yes", code=13)
    assert f"left {LEGACY}/bin/aks-flex-node: " in result.stderr
    assert f"left {LEGACY}/lib/aks-flex-node/aks-flex-node-green: " in result.stderr
    assert "Read-only file system" in result.stderr
    assert not host.exists(CONFIG)


def on_network(path: str, kind: str) -> str:
    """After sourcing: a mount table that says that PATH is on a network."""
    line = f"99 1 0:99 / {path} rw shared:9 - {kind} server:/x rw"
    return (
        f"{{ cat /proc/self/mountinfo; echo '{line}'; }} >/tmp/mountinfo\n"
        "flexnode_mount_table() { printf '%s\\n' /tmp/mountinfo; }\n"
    )


@pytest.mark.parametrize("kind", ["nfs4", "cifs", "fuse.sshfs", "autofs"])
def test_nothing_on_a_network_mount_is_looked_at_k3s_8520(host: Uninstall, kind: str) -> None:
    host.put(f"{LOGS}/sub/agent.log")
    host.put_agent(reset="exit 0")
    result = host.call(on_network(LOGS, kind) + "flexnode_uninstall --yes")
    assert result.code == 13, result
    assert f"left {LOGS}: on a network mount, not touched" in result.stderr
    assert host.exists(f"{LOGS}/sub/agent.log")
    assert not host.exists(ROOT)


def test_no_system_call_names_a_path_below_a_network_mount(host: Uninstall) -> None:
    host.put_agent(reset="exit 0")
    host.put(f"{LOGS}/agent.log")
    script = f". {UNINSTALL}\n{on_network(LOGS, 'nfs')}flexnode_uninstall --yes"
    host.box.write("/tmp/run.sh", script.encode(), 0o644)
    host.box.run(["strace", "-f", "-e", "trace=file", "-o", "/tmp/trace", "sh", "/tmp/run.sh"])
    trace = host.box.read("/tmp/trace").decode()
    assert f'"{CONFIG}' in trace
    assert f'"{LOGS}' not in trace


def test_an_agent_on_a_network_mount_is_neither_run_nor_removed(host: Uninstall) -> None:
    host.put_agent(LEGACY)
    host.put(f"{CONFIG}/config.json")
    result = host.call(on_network(f"{LEGACY}/bin", "nfs") + "flexnode_uninstall --yes --keep-config")
    assert result.code == 13, result
    assert f"left {LEGACY}/bin/aks-flex-node: on a network mount" in result.stderr
    assert host.resets() == []


def test_a_root_that_leads_to_a_network_mount_is_not_followed(host: Uninstall) -> None:
    host.put_layout("/mnt/share/agent")
    host.sh(f"ln -s /mnt/share/agent {ROOT}")
    host.put(f"{CONFIG}/config.json")
    result = host.call(on_network("/mnt/share", "nfs") + "flexnode_uninstall --yes")
    assert result.code == 13, result
    assert f"left {ROOT}: a link to a network mount" in result.stderr
    assert host.exists("/mnt/share/agent/bin/aks-flex-node")
    assert not host.exists(CONFIG)


def test_without_a_mount_table_nothing_is_removed(host: Uninstall) -> None:
    host.put(f"{CONFIG}/config.json")
    result = host.call("flexnode_mount_table() { printf '/nowhere\\n'; }\nflexnode_uninstall --yes")
    assert result.code == 1
    assert host.exists(f"{CONFIG}/config.json")
