"""The config that bootstrap.sh renders: what beats what, in which order, and what authentication makes of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from pyhelpers.sandbox import Server
from tests.scripts.bootstrap import CLUSTER, OUT, SCRIPT, SECRET, WORK, Bootstrap, Json, in_a_box

TARGET = {"azure": {"targetCluster": {"resourceId": "base"}, "targetAgentPoolName": "base", "tenantId": "tenant"}}
SP = {"clientId": "c", "clientSecretFile": SECRET}
OFFLINE = "/media/artifacts"


@pytest.fixture(scope="module")
def bootstrap(server: Server) -> Iterator[Bootstrap]:
    with in_a_box(server) as made:
        yield made


def test_the_config_is_written_for_root_alone_under_any_umask(bootstrap: Bootstrap) -> None:
    bootstrap.config(base={}, shell=["sh", "-c", 'umask 000; exec sh "$@"', "umask"])
    assert bootstrap.shell(f"stat -c %a {OUT}") == "600\n"


def test_nothing_but_the_config_is_left_where_it_was_rendered(bootstrap: Bootstrap) -> None:
    bootstrap.shell(f"mkdir {WORK}/alone")
    assert bootstrap.shell(f". {SCRIPT}; flexnode_render_config {WORK}/alone/c --base-config {OUT}") == ""
    assert bootstrap.shell(f"ls -A {WORK}/alone") == "c\n"


def test_the_target_options_go_over_the_base_config(bootstrap: Bootstrap) -> None:
    options = (
        "--cluster-resource-id",
        CLUSTER,
        "--agent-pool-name",
        "pool",
        "--resource-manager-endpoint",
        "https://m",
    )
    azure = bootstrap.config(*options, base=TARGET)["azure"]
    assert azure["targetCluster"]["resourceId"] == CLUSTER
    assert (azure["targetAgentPoolName"], azure["resourceManagerEndpoint"]) == ("pool", "https://m")


def test_overrides_cannot_retarget_the_node(bootstrap: Bootstrap) -> None:
    override = json.dumps({"azure": {"targetCluster": {"resourceId": "other", "location": "l"}}})
    azure = bootstrap.config("--cluster-resource-id", CLUSTER, "--config-overrides", override, base=TARGET)["azure"]
    assert azure["targetCluster"] == {"resourceId": CLUSTER, "location": "l"}


def test_overrides_retarget_the_node_when_no_option_names_a_target(bootstrap: Bootstrap) -> None:
    override = '{"azure":{"targetAgentPoolName":"other"}}'
    assert bootstrap.config("--config-overrides", override, base=TARGET)["azure"]["targetAgentPoolName"] == "other"


def test_the_environment_stands_in_for_an_option(bootstrap: Bootstrap) -> None:
    env = {"AKS_FLEX_NODE_AGENT_POOL_NAME": "environment"}
    assert bootstrap.config(base=TARGET, env=env)["azure"]["targetAgentPoolName"] == "environment"


def test_an_option_beats_the_environment(bootstrap: Bootstrap) -> None:
    env = {"AKS_FLEX_NODE_AGENT_POOL_NAME": "environment"}
    azure = bootstrap.config("--agent-pool-name", "option", base=TARGET, env=env)["azure"]
    assert azure["targetAgentPoolName"] == "option"


def test_an_empty_variable_counts_as_unset(bootstrap: Bootstrap) -> None:
    env = {"AKS_FLEX_NODE_AGENT_POOL_NAME": "", "AKS_FLEX_NODE_AUTH": "", "AKS_FLEX_NODE_CONFIG_OVERRIDES": ""}
    assert bootstrap.config(base=TARGET, env=env)["azure"] == TARGET["azure"]


def test_the_overrides_of_the_environment_come_before_those_of_options(bootstrap: Bootstrap) -> None:
    env = {"AKS_FLEX_NODE_CONFIG_OVERRIDES": '{"a":"environment","b":"environment"}'}
    config = bootstrap.config(
        "--config-overrides", '{"a":"first","c":1}', "--config-overrides", '{"c":2}', base={}, env=env
    )
    assert {key: config[key] for key in "abc"} == {"a": "first", "b": "environment", "c": 2}


def test_an_override_over_several_lines_is_one_document(bootstrap: Bootstrap) -> None:
    assert bootstrap.config("--config-overrides", '{\n "a":\n 1\n}\n', base={})["a"] == 1


def test_the_bootstrap_image_beats_overrides(bootstrap: Bootstrap) -> None:
    override = '{"bootstrap":{"ociImage":"override","additionalHostDevices":[]}}'
    config = bootstrap.config("--bootstrap-oci-image", "option", "--config-overrides", override, base={})
    assert config["bootstrap"] == {"ociImage": "option", "additionalHostDevices": []}


def test_offline_artifacts_beat_overrides_and_drop_the_versions_that_they_bring(bootstrap: Bootstrap) -> None:
    override = {
        "components": {"containerd": "1", "runc": "2", "kubernetes": "1.33.0"},
        "networking": {"cniVersion": "3", "dnsServiceIP": "10.0.0.10"},
        "bootstrap": {"offlineArtifacts": {"source": "/override"}},
    }
    options = ("--bootstrap-offline-artifacts-source", OFFLINE, "--config-overrides", json.dumps(override))
    config = bootstrap.config(*options, base={})
    assert config["components"] == {"kubernetes": "1.33.0"}
    assert config["networking"] == {"dnsServiceIP": "10.0.0.10"}
    assert config["bootstrap"] == {"offlineArtifacts": {"source": OFFLINE}}


def test_without_offline_artifacts_the_versions_stay(bootstrap: Bootstrap) -> None:
    base = {"components": {"containerd": "1", "runc": "2"}, "networking": {"cniVersion": "3"}}
    config = bootstrap.config(base=base)
    assert (config["components"], config["networking"]) == (base["components"], base["networking"])


def test_the_node_is_named_by_the_host_in_lower_case(bootstrap: Bootstrap) -> None:
    bootstrap.shell("hostname Node-7.Example")
    assert bootstrap.config(base={"agent": {"nodeName": ""}})["agent"] == {"nodeName": "node-7.example"}


def test_a_node_name_that_is_given_stays(bootstrap: Bootstrap) -> None:
    assert bootstrap.config(base={"agent": {"nodeName": "given"}})["agent"] == {"nodeName": "given"}


def test_without_auth_the_base_config_decides(bootstrap: Bootstrap) -> None:
    azure = {"servicePrincipal": {"tenantId": "t", "clientSecret": "s"}, "arc": {"enabled": False}}
    assert bootstrap.config(base={"azure": azure})["azure"] == azure


@pytest.mark.parametrize("word", ["msi", "MSI", "managed-identity", "Managed-Identity"])
def test_msi_deletes_the_service_principal_and_switches_arc_off(bootstrap: Bootstrap, word: str) -> None:
    base = {"azure": {"servicePrincipal": SP, "arc": {"enabled": True, "machineName": "m"}}}
    azure = bootstrap.config("--auth", word, base=base)["azure"]
    assert azure == {"arc": {"enabled": False, "machineName": "m"}, "managedIdentity": {}}


def test_msi_takes_the_client_id_of_the_option(bootstrap: Bootstrap) -> None:
    base = {"azure": {"managedIdentity": {"clientId": "base"}}}
    azure = bootstrap.config("--auth", "msi", "--msi-client-id", "option", base=base)["azure"]
    assert azure["managedIdentity"] == {"clientId": "option"}


def test_msi_keeps_the_client_id_of_the_base_config(bootstrap: Bootstrap) -> None:
    base = {"azure": {"managedIdentity": {"clientId": "base"}}}
    assert bootstrap.config("--auth", "msi", base=base)["azure"]["managedIdentity"] == {"clientId": "base"}


def test_msi_replaces_a_managed_identity_that_is_no_object(bootstrap: Bootstrap) -> None:
    assert (
        bootstrap.config("--auth", "msi", base={"azure": {"managedIdentity": None}})["azure"]["managedIdentity"] == {}
    )


def test_arc_deletes_the_other_methods(bootstrap: Bootstrap) -> None:
    base = {"azure": {"servicePrincipal": SP, "managedIdentity": {}, "tenantId": "t"}}
    assert bootstrap.config("--auth", "Arc", base=base)["azure"] == {"arc": {"enabled": True}, "tenantId": "t"}


def test_a_service_principal_replaces_the_managed_identity(bootstrap: Bootstrap) -> None:
    options = ("--auth", "sp", "--sp-client-id", "c", "--sp-client-secret-file", SECRET)
    azure = bootstrap.config(*options, base={"azure": {"tenantId": "t", "managedIdentity": {}}})["azure"]
    expected = {"tenantId": "t", "clientId": "c", "clientSecretFile": SECRET}
    assert azure == {"tenantId": "t", "arc": {"enabled": False}, "servicePrincipal": expected}


def test_the_tenant_of_the_option_beats_that_of_the_base_config(bootstrap: Bootstrap) -> None:
    options = ("--auth", "service-principal", "--sp-tenant-id", "option")
    base = {"azure": {"tenantId": "t", "servicePrincipal": SP}}
    azure = bootstrap.config(*options, base=base)["azure"]
    assert (azure["servicePrincipal"]["tenantId"], azure["tenantId"]) == ("option", "t")


def test_a_secret_goes_in_without_its_last_newline(bootstrap: Bootstrap) -> None:
    env = {"AKS_FLEX_NODE_SP_CLIENT_SECRET": "back\\slash '\"$x`\n é\n\n"}
    config = bootstrap.config("--auth", "sp", "--sp-client-id", "c", base=TARGET, env=env)
    assert config["azure"]["servicePrincipal"]["clientSecret"] == "back\\slash '\"$x`\n é\n"


def test_a_secret_of_the_environment_replaces_the_secret_file_of_the_base_config(bootstrap: Bootstrap) -> None:
    base = {"azure": {"tenantId": "t", "servicePrincipal": SP}}
    config = bootstrap.config("--auth", "sp", base=base, env={"AKS_FLEX_NODE_SP_CLIENT_SECRET": "s"})
    expected = {"tenantId": "t", "clientId": "c", "clientSecret": "s"}
    assert config["azure"]["servicePrincipal"] == expected


def test_a_secret_file_replaces_the_secret_of_the_base_config(bootstrap: Bootstrap) -> None:
    base = {"azure": {"tenantId": "t", "servicePrincipal": {"clientId": "c", "clientSecret": "s"}}}
    config = bootstrap.config("--auth", "sp", "--sp-client-secret-file", SECRET, base=base)
    assert config["azure"]["servicePrincipal"] == {"tenantId": "t", **SP}


@pytest.mark.parametrize(
    ("missing", "words"),
    [
        ("tenantId", "needs --sp-tenant-id"),
        ("clientId", "needs --sp-client-id"),
        ("clientSecretFile", "needs a secret"),
    ],
)
def test_an_incomplete_service_principal_is_refused(bootstrap: Bootstrap, missing: str, words: str) -> None:
    principal = {key: value for key, value in {"tenantId": "t", **SP}.items() if key != missing}
    line = bootstrap.error("--auth", "sp", base={"azure": {"servicePrincipal": principal}})
    assert line.startswith("9 bootstrap: error: render the config: ")
    assert words in line


def test_unknown_keys_are_kept(bootstrap: Bootstrap) -> None:
    base: Json = {"future": {"x": [1]}, "azure": {"servicePrincipal": {"future": 1, "tenantId": "t", **SP}}}
    config = bootstrap.config("--auth", "sp", base=base)
    assert config["future"] == {"x": [1]}
    assert config["azure"]["servicePrincipal"]["future"] == 1


def test_the_embedded_config_is_used_when_the_placeholder_was_replaced(bootstrap: Bootstrap) -> None:
    placeholder = "__AKS_FLEX_NODE_BASE_CONFIG_JSON__"
    text = Path(SCRIPT).read_text()
    assert text.count(placeholder) == 1
    embedded = '{\n  "a": "$HOME `id` \\\\ \'q\'",\n  "b": "AKS_FLEX_NODE_EMBEDDED_CONFIG"\n}'
    bootstrap.box.write(f"{WORK}/published.sh", text.replace(placeholder, embedded).encode())
    bootstrap.shell(f". {WORK}/published.sh; flexnode_render_config {OUT}")
    config = json.loads(bootstrap.box.read(OUT))
    assert (config["a"], config["b"]) == ("$HOME `id` \\ 'q'", "AKS_FLEX_NODE_EMBEDDED_CONFIG")


def test_the_placeholder_that_nobody_replaced_is_refused(bootstrap: Bootstrap) -> None:
    words = "read the base config: embedded base config is not populated; give --base-config FILE [E_CONFIG]"
    assert bootstrap.error() == f"9 bootstrap: error: {words}"


def test_a_base_config_that_is_not_there_is_refused(bootstrap: Bootstrap) -> None:
    line = bootstrap.error("--base-config", "/nowhere/base.json")
    assert line.startswith("9 bootstrap: error: read the base config: /nowhere/base.json cannot be read")


def test_a_directory_is_no_base_config(bootstrap: Bootstrap) -> None:
    assert "/etc cannot be read" in bootstrap.error("--base-config", "/etc")


def test_the_base_config_of_the_environment_is_read(bootstrap: Bootstrap) -> None:
    bootstrap.box.write(f"{WORK}/other.json", b'{"a":1}')
    assert bootstrap.config(env={"AKS_FLEX_NODE_BASE_CONFIG_FILE": f"{WORK}/other.json"})["a"] == 1


def test_a_full_disk_is_not_taken_for_a_wrong_config(bootstrap: Bootstrap) -> None:
    bootstrap.box.write(f"{WORK}/big.json", json.dumps({"a": "x" * 20000}).encode())
    command = (
        f"mkdir {WORK}/small && mount -t tmpfs -o size=8k none {WORK}/small && . {SCRIPT}"
        f" && flexnode_render_config {WORK}/small/c --base-config {WORK}/big.json 2>&1"
        f"; echo $?; umount {WORK}/small"
    )
    words = bootstrap.shell(command)
    assert "[E_STATE]" in words
    assert words.endswith("\n7\n")
