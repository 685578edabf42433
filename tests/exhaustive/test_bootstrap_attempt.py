"""bootstrap.sh as far as it gets without systemd: download, check, render, preflight; and that nothing is left.

The directory that says "systemd booted this" is faked, so that the script goes on; preflight, which is the real
agent's, sees through it and refuses the host. What comes after preflight is tested on throwaway hosts.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor

import pytest

from pyhelpers.netserve import ReleaseServer
from pyhelpers.release import variant
from pyhelpers.sandbox import Result, Server
from tests.scripts.bootstrap import BASE, CLEAN, CLUSTER, SCRIPT, WORK, Bootstrap, HeldServer, in_a_box

GOOD = {"azure": {"targetCluster": {"resourceId": CLUSTER}, "managedIdentity": {}}}
WRONG = {"azure": {"targetCluster": {"resourceId": "x"}, "managedIdentity": {}}, "node": {"maxPods": -1, "labels": 7}}
RELEASES = ("current", "broken", "bad-host-root")
ARCHIVE = "{{ARCHIVE_NAME}}"
MARK = "hunter2"
RUN = CLEAN | {"FLEXNODE_SOURCE_ONLY": ""}


@pytest.fixture(scope="module")
def bootstrap(server: Server) -> Iterator[Bootstrap]:
    with in_a_box(server) as made:
        made.shell("mkdir -p /run/systemd/system")
        made.box.write(BASE, json.dumps(GOOD).encode())
        yield made


@pytest.fixture(scope="module")
def url(bootstrap: Bootstrap, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where the releases are, by the name of their variant; /files holds what is wrong in itself."""
    files = tmp_path_factory.mktemp("files")
    (files / "short.tar.gz").write_bytes(next(variant("current").glob("*amd64.tar.gz")).read_bytes()[:50000])
    (files / "portal.html").write_text("<!DOCTYPE html><html>Sign in</html>\n")
    served = {f"/files/{path.name}": path for path in files.iterdir()}
    with ReleaseServer(bootstrap.box.netns, {name: variant(name) for name in RELEASES}, "current", served) as started:
        yield started.url


@pytest.fixture
def attempt(bootstrap: Bootstrap, url: str) -> Iterator[Callable[..., Result]]:
    """Run the script with `{}` in --agent-url standing for the server; afterwards the box must be as it was."""

    def run(agent: str, *options: str, env: Mapping[str, str] | None = None) -> Result:
        call = ["sh", SCRIPT, "--agent-url", agent.replace("{}", url), "--base-config", BASE, *options]
        return bootstrap.box.run(call, env=RUN | dict(env or {}), timeout=60)

    yield run
    assert bootstrap.box.diff(ignore=[f"{WORK}/**", "/run/**"]) == []


def last_line(result: Result) -> str:
    """The error, which is one line and the last."""
    assert result.stderr.count(" error: ") == 1, result.stderr
    return f"{result.code} {result.stderr.splitlines()[-1]}"


def released(name: str) -> str:
    return f"{{}}/releases/download/{name}/{ARCHIVE}"


def test_no_network_is_a_download_error(attempt: Callable[..., Result]) -> None:
    line = last_line(attempt("http://127.0.0.1:1/a.tar.gz"))
    assert line.startswith("5 bootstrap: error: download: http://127.0.0.1:1/a.tar.gz: ")
    assert line.endswith("[E_DOWNLOAD]")


def test_a_missing_archive_is_named_with_its_status(attempt: Callable[..., Result]) -> None:
    assert "HTTP status 404" in last_line(attempt("{}/files/none.tar.gz"))


def test_plain_http_to_another_host_is_refused(attempt: Callable[..., Result]) -> None:
    assert last_line(attempt("http://example.invalid/a.tar.gz")).endswith("[E_URL]")


def test_a_wrong_sum_is_refused(attempt: Callable[..., Result]) -> None:
    line = last_line(attempt(released("current"), "--agent-sha256", "0" * 64))
    assert line.startswith("6 bootstrap: error: checksum: ")


def test_a_truncated_archive_is_refused(attempt: Callable[..., Result]) -> None:
    assert last_line(attempt("{}/files/short.tar.gz")).endswith("[E_ARCHIVE]")


def test_a_portals_page_is_refused(attempt: Callable[..., Result]) -> None:
    assert "HTML page" in last_line(attempt("{}/files/portal.html"))


def test_an_agent_that_does_not_run_is_refused(attempt: Callable[..., Result]) -> None:
    assert last_line(attempt(released("broken"))).startswith("6 bootstrap: error: candidate: ")


def test_a_host_root_that_lies_is_refused(attempt: Callable[..., Result]) -> None:
    assert last_line(attempt(released("bad-host-root"))).endswith("[E_HOST_ROOT]")


def test_another_install_dir_is_refused_before_the_download(attempt: Callable[..., Result]) -> None:
    line = last_line(attempt("http://127.0.0.1:1/a.tar.gz", "--install-dir", "/srv/bin"))
    assert line.startswith("2 bootstrap: error: options: --install-dir is /srv/bin")


def test_a_config_that_is_not_json_is_refused(bootstrap: Bootstrap, attempt: Callable[..., Result]) -> None:
    bootstrap.box.write(f"{WORK}/text.json", b"azure: {}\n")
    line = last_line(attempt(released("current"), "--base-config", f"{WORK}/text.json"))
    assert line.startswith(f"9 bootstrap: error: render the config: base config {WORK}/text.json: not JSON")


def test_a_config_that_is_wrong_in_three_places_is_refused_with_all_three(
    bootstrap: Bootstrap, attempt: Callable[..., Result]
) -> None:
    bootstrap.box.write(f"{WORK}/wrong.json", json.dumps(WRONG).encode())
    result = attempt(released("current"), "--base-config", f"{WORK}/wrong.json", "--quiet")
    assert last_line(result).startswith(
        "10 bootstrap: error: preflight: the agent refuses the config, see agent-config"
    )
    assert f"where they come from: {WORK}/wrong.json, --config-overrides" in last_line(result)
    assert "/staging/" not in result.stderr
    assert "--ignore-preflight-errors" not in result.stderr
    for key in ("azure.targetCluster.resourceId", "node.maxPods", "node.labels"):
        assert key in result.stderr


def test_a_host_without_systemd_is_refused_by_preflight(attempt: Callable[..., Result]) -> None:
    result = attempt(released("current"))
    assert last_line(result).endswith("[E_PREFLIGHT]")
    assert "[preflight]" in result.stderr
    assert result.stdout == ""


def test_an_existing_deployment_is_refused_before_the_download(
    bootstrap: Bootstrap, attempt: Callable[..., Result]
) -> None:
    unit = "/etc/systemd/system/aks-flex-node-agent.service"
    bootstrap.box.write(unit, b"[Service]\nExecStart=/bin/true\n")
    line = last_line(attempt("http://127.0.0.1:1/a.tar.gz"))
    bootstrap.shell(f"rm {unit}")
    assert line.startswith(f"12 bootstrap: error: existing deployment: {unit} is there")


def test_a_machine_that_is_there_is_an_existing_deployment(
    bootstrap: Bootstrap, attempt: Callable[..., Result]
) -> None:
    bootstrap.shell("mkdir -p /var/lib/machines/kube2")
    line = last_line(attempt("http://127.0.0.1:1/a.tar.gz"))
    bootstrap.shell("rmdir /var/lib/machines/kube2")
    assert line.startswith("12 bootstrap: error: existing deployment: /var/lib/machines/kube2 is there")


@pytest.mark.parametrize("lock", ["/run/aks-flex-node-agent-upgrade.lock", "/run/aks-flex-node-bootstrap.lock"])
def test_a_lock_that_another_run_holds_is_named(bootstrap: Bootstrap, url: str, lock: str) -> None:
    call = f"flock {lock} sh {SCRIPT} --agent-url {url}/a.tar.gz --base-config {BASE}"
    result = bootstrap.box.run(["sh", "-c", call])
    assert (result.code, last_line(result).endswith("[E_LOCKED]")) == (8, True)
    assert lock in result.stderr


def test_the_installed_agent_must_be_there(attempt: Callable[..., Result]) -> None:
    line = last_line(attempt("", "--use-installed-agent", "--install-dir", "/srv/agent/"))
    assert line.startswith("6 bootstrap: error: installed agent: there is no agent at /srv/agent/aks-flex-node")


def test_the_installed_agent_is_asked_and_nothing_is_requested(
    bootstrap: Bootstrap, attempt: Callable[..., Result]
) -> None:
    bootstrap.shell(f"mkdir -p {WORK}/agent && cp {variant('current')}/aks-flex-node {WORK}/agent")
    result = attempt("", "--use-installed-agent", "--install-dir", f"{WORK}/agent")
    assert last_line(result).startswith("10 bootstrap: error: preflight: ")
    assert "downloading" not in result.stderr


@pytest.fixture(scope="module")
def traced(bootstrap: Bootstrap, url: str) -> tuple[Result, list[str]]:
    """An attempt with secrets wherever the environment may hold them -> its result, and every program that it started,
    with arguments and environment."""
    env = {
        "AKS_FLEX_NODE_AUTH": "sp",
        "AKS_FLEX_NODE_SP_CLIENT_ID": "c",
        "AKS_FLEX_NODE_SP_TENANT_ID": "t",
        "AKS_FLEX_NODE_SP_CLIENT_SECRET": f"{MARK}-secret",
        "AKS_FLEX_NODE_CONFIG_OVERRIDES": json.dumps({"azure": {"bootstrapToken": {"token": f"{MARK}-override"}}}),
        "AKS_FLEX_NODE_AGENT_URL": f"{url}/releases/download/current/{ARCHIVE}?sig={MARK}-url",
        "AKS_FLEX_NODE_CONTAINERIZED": "1",
    }
    trace = ["strace", "-f", "--seccomp-bpf", "-qq", "-v", "-s", "65536", "-e", "trace=execve", "-o", f"{WORK}/trace"]
    result = bootstrap.box.run([*trace, "sh", SCRIPT, "--base-config", BASE], env=env | RUN, timeout=60)
    assert result.code == 10, result.stderr
    programs = bootstrap.box.read(f"{WORK}/trace").decode().splitlines()[1:]  # the first is the script itself
    assert len(programs) > 20
    return result, programs


@pytest.mark.parametrize("what", ["secret", "override", "url"])
def test_no_child_sees_a_secret_of_the_environment(traced: tuple[Result, list[str]], what: str) -> None:
    assert [line for line in traced[1] if f"{MARK}-{what}" in line] == []


def test_no_secret_is_printed(traced: tuple[Result, list[str]]) -> None:
    assert MARK not in traced[0].stdout + traced[0].stderr


def test_no_child_sees_the_twins_of_options(traced: tuple[Result, list[str]]) -> None:
    assert [line for line in traced[1] if "AKS_FLEX_NODE_SP_" in line or "AKS_FLEX_NODE_AUTH" in line] == []


def test_a_variable_that_is_no_twin_reaches_the_agent(traced: tuple[Result, list[str]]) -> None:
    assert any('"preflight"' in line and "AKS_FLEX_NODE_CONTAINERIZED=1" in line for line in traced[1])


def test_the_transcript_holds_the_error_and_no_secret(bootstrap: Bootstrap, attempt: Callable[..., Result]) -> None:
    log = f"{WORK}/log"
    attempt(f"http://user:{MARK}@127.0.0.1:1/a.tar.gz?sig={MARK}", "--log", log)
    text = bootstrap.box.read(log).decode()
    assert "[E_DOWNLOAD]" in text
    assert MARK not in text


@pytest.mark.parametrize(("signal", "code"), [("TERM", 143), ("HUP", 129)])
def test_a_signal_during_the_download_leaves_nothing(bootstrap: Bootstrap, signal: str, code: int) -> None:
    call = f'sh {SCRIPT} --base-config {BASE} --agent-url "$1" & echo $! >{WORK}/pid; wait $!'
    with HeldServer(bootstrap.box.netns) as held, ThreadPoolExecutor(1) as pool:
        running = pool.submit(bootstrap.box.run, ["sh", "-c", call, "call", f"{held.url}/a.tar.gz"])
        assert held.asked.wait(30)
        bootstrap.shell(f"kill -{signal} $(cat {WORK}/pid)")
        result = running.result()
        held.go.set()
    assert (result.code, f"bootstrap: warning: stopped by SIG{signal}" in result.stderr) == (code, True)
    assert bootstrap.box.diff(ignore=[f"{WORK}/**", "/run/**"]) == []


def test_busybox_tools_are_enough(bootstrap: Bootstrap, attempt: Callable[..., Result]) -> None:
    tools = "curl flock jq python3 systemctl"  # Debian's busybox has no flock
    bootstrap.shell(
        f"mkdir {WORK}/busybox && busybox --install -s {WORK}/busybox && rm -f {WORK}/busybox/wget"
        f" && for tool in {tools}; do ln -sf $(command -v $tool) {WORK}/busybox/$tool; done"
    )
    result = attempt(released("current"), env={"PATH": f"{WORK}/busybox"})
    assert last_line(result).endswith("[E_PREFLIGHT]"), result.stderr


def test_a_state_directory_that_cannot_be_written_is_named(bootstrap: Bootstrap, url: str) -> None:
    mount = "mkdir -p /var/lib/aks-flex-node && mount -t tmpfs -o ro none /var/lib/aks-flex-node"
    bootstrap.shell(mount)
    result = bootstrap.box.run(["sh", SCRIPT, "--agent-url", f"{url}/a.tar.gz", "--base-config", BASE])
    bootstrap.shell("umount /var/lib/aks-flex-node && rmdir /var/lib/aks-flex-node")
    assert (result.code, last_line(result).endswith("[E_STATE]")) == (7, True)
    assert "read-only" in result.stderr
