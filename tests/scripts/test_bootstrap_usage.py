"""Calls of bootstrap.sh that end before anything is done: help, wrong options, not root, no systemd, the plan."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from pyhelpers import contract
from pyhelpers.sandbox import Server
from tests.scripts.bootstrap import BASE, SCRIPT, SHELLS, WORK, Bootstrap, in_a_box


@pytest.fixture(scope="module")
def bootstrap(server: Server) -> Iterator[Bootstrap]:
    with in_a_box(server) as made:
        made.box.write(BASE, b"{}")
        yield made
        assert made.box.diff(ignore=[f"{WORK}/**"]) == []  # none of these calls has an effect


def refused(bootstrap: Bootstrap, *options: str, env: dict[str, str] | None = None) -> str:
    """The one line of a usage error."""
    result = bootstrap.run(*options, env=env)
    assert (result.code, result.stdout, result.stderr.count("\n")) == (2, "", 1), result
    assert result.stderr.startswith("bootstrap: error: options: ")
    assert result.stderr.endswith(" [E_USAGE]\n")
    return result.stderr


def with_variable(**variables: str) -> dict[str, str]:
    return {"PATH": "/usr/bin:/bin"} | variables


@pytest.mark.parametrize("word", ["-h", "--help"])
def test_help_prints_every_option_with_its_variable(bootstrap: Bootstrap, word: str) -> None:
    result = bootstrap.run(word)
    assert (result.code, result.stderr) == (0, "")
    for option in contract.BOOTSTRAP_OPTIONS:
        assert option.name in result.stdout
        assert option.env in result.stdout


def test_version_prints_the_toolkits_version(bootstrap: Bootstrap) -> None:
    result = bootstrap.run("--version")
    assert (result.code, result.stdout) == (0, f"bootstrap.sh {contract.TOOLKIT_VERSION}\n")


def test_an_unknown_option_is_refused(bootstrap: Bootstrap) -> None:
    assert "unexpected option '--frob'" in refused(bootstrap, "--auth", "msi", "--frob")


def test_an_option_without_its_value_is_refused(bootstrap: Bootstrap) -> None:
    assert "--agent-version needs a value" in refused(bootstrap, "--agent-version")


def test_an_option_is_no_value_of_another_option(bootstrap: Bootstrap) -> None:
    assert "--agent-version needs a value" in refused(bootstrap, "--agent-version", "--plan")


def test_a_flag_with_a_value_is_refused(bootstrap: Bootstrap) -> None:
    assert "--plan takes no value" in refused(bootstrap, "--plan=yes")


def test_a_stray_operand_is_refused(bootstrap: Bootstrap) -> None:
    assert "unexpected operand 'now'" in refused(bootstrap, "--auth", "msi", "now")


def test_an_operand_after_two_dashes_is_refused(bootstrap: Bootstrap) -> None:
    assert "unexpected operand '--plan'" in refused(bootstrap, "--", "--plan")


def test_two_dashes_alone_end_the_options(bootstrap: Bootstrap) -> None:
    assert bootstrap.run("--help", "--").code == 0


def test_an_unknown_method_of_authentication_is_refused(bootstrap: Bootstrap) -> None:
    assert "--auth knows no such method; give msi, arc or sp" in refused(bootstrap, "--auth", "kerberos")


def test_an_unknown_method_in_the_environment_is_refused(bootstrap: Bootstrap) -> None:
    assert "--auth knows no such method" in refused(bootstrap, env=with_variable(AKS_FLEX_NODE_AUTH="kerberos"))


def test_a_boolean_variable_that_is_no_boolean_is_refused(bootstrap: Bootstrap) -> None:
    variables = with_variable(AKS_FLEX_NODE_USE_INSTALLED_AGENT="maybe")
    assert "AKS_FLEX_NODE_USE_INSTALLED_AGENT is not a boolean" in refused(bootstrap, env=variables)


@pytest.mark.parametrize("path", ["etc/config.json", "/", "/etc/", "/etc/../etc/x", "/etc/./x", "//x", "/a b", "/a\nb"])
def test_a_config_path_that_is_not_clean_is_refused(bootstrap: Bootstrap, path: str) -> None:
    assert "--config-path is not a clean absolute path" in refused(bootstrap, "--config-path", path)


@pytest.mark.parametrize("seconds", ["soon", "-1", "1.5", "1s"])
def test_a_wait_that_is_no_number_of_seconds_is_refused(bootstrap: Bootstrap, seconds: str) -> None:
    assert "--wait takes a number of seconds" in refused(bootstrap, f"--wait={seconds}")


def test_a_list_of_checks_with_other_characters_is_refused(bootstrap: Bootstrap) -> None:
    assert "--ignore-preflight-errors takes ids" in refused(bootstrap, "--ignore-preflight-errors", "swap active")


@pytest.mark.parametrize("sum_", ["abc", "g" * 64, "a" * 63, "a" * 65])
def test_a_sum_that_is_none_is_refused(bootstrap: Bootstrap, sum_: str) -> None:
    assert "a SHA-256 sum has 64 hexadecimal digits" in refused(bootstrap, "--agent-sha256", sum_)


@pytest.mark.parametrize("version", ["../v1.0.0", "v1 0", "v1/x", "$(id)"])
def test_a_version_that_could_be_a_path_is_refused(bootstrap: Bootstrap, version: str) -> None:
    assert "is not a version" in refused(bootstrap, "--agent-version", version)


@pytest.mark.parametrize("option", ["--cluster-resource-id", "--sp-client-id", "--bootstrap-oci-image"])
def test_a_value_over_several_lines_is_refused(bootstrap: Bootstrap, option: str) -> None:
    assert "control character" in refused(bootstrap, option, "a\nb")


def test_fetching_is_named_as_not_available(bootstrap: Bootstrap) -> None:
    assert "--fetch-bootstrap-data is not available in this version" in refused(bootstrap, "--fetch-bootstrap-data")


def test_secret_file_and_certificate_exclude_each_other(bootstrap: Bootstrap) -> None:
    line = refused(bootstrap, "--sp-client-secret-file", "/a", "--sp-client-certificate-file", "/b")
    assert "exclude each other" in line


def test_a_log_that_cannot_be_written_is_refused(bootstrap: Bootstrap) -> None:
    assert "cannot write the log /nowhere/log" in refused(bootstrap, "--log", "/nowhere/log")


def test_the_value_of_a_misspelt_option_is_not_shown(bootstrap: Bootstrap) -> None:
    assert "hunter2" not in refused(bootstrap, "--sp-client-secret=hunter2!")


@pytest.mark.parametrize("shell", SHELLS, ids=" ".join)
def test_a_usage_error_is_the_same_in_every_shell(bootstrap: Bootstrap, shell: Sequence[str]) -> None:
    result = bootstrap.run("--frob", shell=shell)
    words = "bootstrap: error: options: unexpected option '--frob'; see --help [E_USAGE]\n"
    assert (result.code, result.stderr) == (2, words)


@pytest.mark.parametrize("shell", SHELLS, ids=" ".join)
def test_a_piped_script_runs(bootstrap: Bootstrap, shell: Sequence[str]) -> None:
    result = bootstrap.box.run(["sh", "-c", 'cat "$0" | "$@" -s -- --version', SCRIPT, *shell])
    assert (result.code, result.stdout) == (0, f"bootstrap.sh {contract.TOOLKIT_VERSION}\n")


@pytest.mark.parametrize("shell", SHELLS, ids=" ".join)
def test_a_sourced_script_does_nothing(bootstrap: Bootstrap, shell: Sequence[str]) -> None:
    result = bootstrap.box.run([*shell, "-c", f"set -eu; . {SCRIPT}; printf '%s\\n' there"])
    assert (result.code, result.stdout, result.stderr) == (0, "there\n", "")


@pytest.mark.parametrize("shell", SHELLS, ids=" ".join)
def test_without_systemd_it_stops_before_anything_else(bootstrap: Bootstrap, shell: Sequence[str]) -> None:
    result = bootstrap.run("--base-config", BASE, "--auth", "msi", shell=shell)
    assert result.code == 4
    assert result.stderr.startswith("bootstrap: error: platform: systemd is not running here")
    assert result.stderr.endswith("[E_NO_SYSTEMD]\n")


def test_it_works_with_an_empty_environment(bootstrap: Bootstrap) -> None:
    result = bootstrap.box.run(["env", "-i", "/bin/sh", SCRIPT, "--base-config", BASE])
    assert (result.code, result.stderr.count("\n")) == (4, 1)


def test_it_is_refused_for_anybody_but_root(bootstrap: Bootstrap) -> None:
    call = ["setpriv", "--reuid=65534", "--clear-groups", "sh", "-s", "--", "--base-config", BASE]
    result = bootstrap.box.run(call, stdin=Path(SCRIPT).read_bytes())  # a checkout may be closed to others
    assert result.code == 3
    assert result.stderr == (
        "bootstrap: error: start: this changes the host and must run as root; run it with sudo [E_NOT_ROOT]\n"
    )


def test_a_missing_tool_is_named_with_its_package(bootstrap: Bootstrap) -> None:
    bootstrap.shell(f"mkdir -p {WORK}/few && ln -sf $(command -v id) $(command -v uname) {WORK}/few")
    result = bootstrap.run(env={"PATH": f"{WORK}/few"}, shell=["/bin/sh"])
    assert result.code == 4
    assert result.stderr.startswith("bootstrap: error: tools: cat is missing; install coreutils")


def test_an_architecture_without_an_agent_is_named(bootstrap: Bootstrap) -> None:
    result = bootstrap.box.run(["setarch", "i686", "sh", SCRIPT, "--base-config", BASE])
    assert result.code == 4
    assert "there is no agent for the architecture i686" in result.stderr


def test_the_plan_names_what_would_be_done_in_order(bootstrap: Bootstrap) -> None:
    result = bootstrap.run(
        "--plan", "--base-config", BASE, "--agent-version", "v1.2.3", "--config-path", "/srv/a/c.json"
    )
    assert (result.code, result.stderr) == (0, "")
    assert result.stdout.splitlines() == [
        f"would take the agent from {contract.BASE_URL}/download/v1.2.3/aks-flex-node-linux-amd64.tar.gz",
        "would install under /opt/unbounded, to be confirmed by the agent",
        "would run its preflight on this host and the config",
        "would make directory /opt/unbounded (0755)",
        "would make directory /opt/unbounded/bin (0755)",
        "would put /opt/unbounded/bin/aks-flex-node in place (0755)",
        "would make directory /etc/aks-flex-node (0755)",
        "would make directory /var/lib/aks-flex-node (0755)",
        "would make directory /var/log/aks-flex-node (0755)",
        "would make directory /srv/a (0755)",
        "would write /srv/a/c.json (0600)",
        "would run /opt/unbounded/bin/aks-flex-node start --config /srv/a/c.json",
    ]


def test_the_plan_shows_no_query_of_the_url(bootstrap: Bootstrap) -> None:
    url = "https://user:word@example.invalid/{{VERSION}}/{{OS}}/a.tar.gz?sig=hunter2"
    result = bootstrap.run("--plan", "--base-config", BASE, "--agent-url", url, "--agent-version", "v1.2.3")
    assert result.stdout.splitlines()[0] == "would take the agent from https://example.invalid/v1.2.3/linux/a.tar.gz"


@pytest.mark.parametrize("shell", [["dash"], ["bash"], ["busybox", "ash"]])
@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        ([], 9, "embedded base config is not populated"),
        (["--base-config", "/nowhere"], 9, "/nowhere cannot be read"),
        (["--base-config", "/etc/passwd"], 9, "base config /etc/passwd: not JSON"),
        (["--base-config", BASE, "--config-overrides", "[]"], 9, "--config-overrides number 1: not a JSON object"),
        (["--base-config", BASE, "--auth", "sp"], 9, "needs --sp-tenant-id"),
        (["--base-config", BASE, "--agent-url", "http://example.invalid/a"], 5, "[E_URL]"),
        (["--base-config", BASE, "--agent-url", "/nowhere"], 2, "/nowhere is not a file"),
    ],
)
def test_the_plan_refuses_inputs_that_the_run_would_refuse(
    bootstrap: Bootstrap, options: list[str], code: int, words: str, shell: list[str]
) -> None:
    before = bootstrap.box.diff()
    result = bootstrap.run("--plan", *options, shell=shell)
    assert (result.code, result.stdout, words in result.stderr) == (code, "", True), result
    assert bootstrap.box.diff() == before


def test_the_plan_shows_a_local_path_as_it_is(bootstrap: Bootstrap) -> None:
    result = bootstrap.run("--plan", "--base-config", BASE, "--agent-url", BASE)
    assert result.stdout.splitlines()[0] == f"would take the agent from {BASE}"


def test_the_plan_without_an_installed_agent_says_so(bootstrap: Bootstrap) -> None:
    result = bootstrap.run("--plan", "--use-installed-agent")
    assert result.code == 6
    assert "there is no agent at /opt/unbounded/bin/aks-flex-node" in result.stderr


def test_an_install_dir_that_is_not_the_agents_is_refused_by_the_plan_too(bootstrap: Bootstrap) -> None:
    result = bootstrap.run("--plan", "--install-dir", "/srv/bin")
    assert (result.code, result.stdout) == (2, "")
    assert "--install-dir is /srv/bin, but this agent goes to /opt/unbounded/bin" in result.stderr


@pytest.mark.parametrize("folder", ["/opt/unbounded/bin", "/opt/unbounded/bin/", "/usr/local/bin"])
def test_an_install_dir_that_agrees_is_accepted(bootstrap: Bootstrap, folder: str) -> None:
    bootstrap.box.write(BASE, b"{}")
    assert bootstrap.run("--plan", "--base-config", BASE, "--install-dir", folder).code == 0
