"""The credential of a service principal: which file is accepted, and that there is at most one credential."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pyhelpers.sandbox import Server
from tests.scripts.bootstrap import SECRET, WORK, Bootstrap, in_a_box

BASE = {"azure": {"tenantId": "t"}}
AUTH = ("--auth", "sp", "--sp-client-id", "c")
SECRET_FILE, CERTIFICATE_FILE = "--sp-client-secret-file", "--sp-client-certificate-file"
PEM = b"Bag Attributes\n-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"
TWINS = {
    "AKS_FLEX_NODE_SP_CLIENT_SECRET": "s",
    "AKS_FLEX_NODE_SP_CLIENT_SECRET_FILE": SECRET,
    "AKS_FLEX_NODE_SP_CLIENT_CERTIFICATE_FILE": f"{WORK}/c.pem",
}


@pytest.fixture(scope="module")
def bootstrap(server: Server) -> Iterator[Bootstrap]:
    with in_a_box(server) as made:
        made.box.write(f"{WORK}/c.pem", PEM, 0o600)
        yield made


def principal(bootstrap: Bootstrap, *options: str, env: dict[str, str] | None = None) -> dict[str, str]:
    """servicePrincipal as rendered, without tenant and client."""
    found: dict[str, str] = bootstrap.config(*AUTH, *options, base=BASE, env=env)["azure"]["servicePrincipal"]
    return {key: value for key, value in found.items() if key not in ("tenantId", "clientId")}


def refused(bootstrap: Bootstrap, path: str, option: str = SECRET_FILE) -> str:
    line = bootstrap.error(*AUTH, option, path, base=BASE)
    assert line.startswith(f"9 bootstrap: error: check the credential: {path} ")
    assert line.endswith("[E_CREDENTIALS]")
    return line


@pytest.mark.parametrize("mode", [0o600, 0o400, 0o700])
def test_a_secret_file_of_its_owner_alone_is_accepted(bootstrap: Bootstrap, mode: int) -> None:
    bootstrap.shell(f"chmod {mode:o} {SECRET}")
    assert principal(bootstrap, SECRET_FILE, SECRET) == {"clientSecretFile": SECRET}


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o644, 0o610, 0o4640])
def test_a_secret_file_with_group_or_other_bits_is_refused(bootstrap: Bootstrap, mode: int) -> None:
    bootstrap.shell(f"cp {SECRET} {WORK}/open; chmod {mode:o} {WORK}/open")
    assert "can be read by others than its owner; chmod 0600 it" in refused(bootstrap, f"{WORK}/open")


def test_a_relative_secret_file_is_refused(bootstrap: Bootstrap) -> None:
    assert "is not an absolute path" in refused(bootstrap, "tmp/bootstrap/secret")


def test_a_link_to_a_secret_file_is_refused(bootstrap: Bootstrap) -> None:
    bootstrap.shell(f"ln -sf {SECRET} {WORK}/link")
    assert "is a symbolic link" in refused(bootstrap, f"{WORK}/link")


def test_a_secret_file_that_is_not_there_is_refused(bootstrap: Bootstrap) -> None:
    assert "is not a regular file" in refused(bootstrap, "/nowhere/secret")


def test_a_fifo_is_refused_without_being_read(bootstrap: Bootstrap) -> None:
    bootstrap.shell(f"mkfifo -m 600 {WORK}/fifo")
    assert "is not a regular file" in refused(bootstrap, f"{WORK}/fifo")


def test_an_empty_secret_file_is_refused(bootstrap: Bootstrap) -> None:
    bootstrap.box.write(f"{WORK}/empty", b"", 0o600)
    assert "is empty" in refused(bootstrap, f"{WORK}/empty")


def test_a_certificate_in_pem_goes_in_as_the_secret_file(bootstrap: Bootstrap) -> None:
    assert principal(bootstrap, CERTIFICATE_FILE, f"{WORK}/c.pem") == {"clientSecretFile": f"{WORK}/c.pem"}


@pytest.mark.parametrize("name", ["c.pfx", "c.PFX", "c.p12"])
def test_a_certificate_in_pfx_is_known_by_its_name(bootstrap: Bootstrap, name: str) -> None:
    bootstrap.box.write(f"{WORK}/{name}", b"\x30\x82\x00\n", 0o600)
    assert principal(bootstrap, CERTIFICATE_FILE, f"{WORK}/{name}") == {"clientSecretFile": f"{WORK}/{name}"}


def test_a_certificate_that_is_neither_is_refused(bootstrap: Bootstrap) -> None:
    assert "is neither PEM nor named .pfx or .p12" in refused(bootstrap, SECRET, CERTIFICATE_FILE)


def test_a_certificate_keeps_the_rules_of_a_secret_file(bootstrap: Bootstrap) -> None:
    bootstrap.box.write(f"{WORK}/open.pem", PEM, 0o644)
    assert "can be read by others" in refused(bootstrap, f"{WORK}/open.pem", CERTIFICATE_FILE)


def test_a_secret_file_that_only_the_base_config_names_is_checked_too(bootstrap: Bootstrap) -> None:
    bootstrap.box.write(f"{WORK}/theirs", b"s", 0o644)
    base = {"azure": {"servicePrincipal": {"clientSecretFile": f"{WORK}/theirs"}}}
    assert "can be read by others" in bootstrap.error(base=base)


@pytest.mark.parametrize("missing", sorted(TWINS))
def test_two_credentials_in_the_environment_are_refused(bootstrap: Bootstrap, missing: str) -> None:
    env = {name: value for name, value in TWINS.items() if name != missing}
    line = bootstrap.error(*AUTH, base=BASE, env=env)
    assert line.startswith("9 bootstrap: error: options: the environment has more than one of secret, secret file")


def test_a_secret_file_option_clears_the_credentials_of_the_environment(bootstrap: Bootstrap) -> None:
    assert principal(bootstrap, SECRET_FILE, SECRET, env=TWINS) == {"clientSecretFile": SECRET}


def test_a_certificate_option_clears_the_credentials_of_the_environment(bootstrap: Bootstrap) -> None:
    found = principal(bootstrap, CERTIFICATE_FILE, f"{WORK}/c.pem", env=TWINS)
    assert found == {"clientSecretFile": f"{WORK}/c.pem"}


@pytest.mark.parametrize(("name", "key"), [*zip(TWINS, ["clientSecret", "clientSecretFile", "clientSecretFile"])])
def test_one_credential_of_the_environment_is_used(bootstrap: Bootstrap, name: str, key: str) -> None:
    assert principal(bootstrap, env={name: TWINS[name]}) == {key: TWINS[name]}


def test_a_credential_without_auth_sp_is_said_to_be_unused(bootstrap: Bootstrap) -> None:
    result = bootstrap.render("--auth", "msi", SECRET_FILE, SECRET, base=BASE)
    assert result.code == 0
    assert result.stderr == "bootstrap: warning: the service principal that was given is not used without --auth sp\n"


def test_a_managed_identitys_client_id_without_auth_msi_is_said_to_be_unused(bootstrap: Bootstrap) -> None:
    result = bootstrap.render("--auth", "arc", "--msi-client-id", "c", base=BASE)
    assert "the client id of a managed identity is not used without --auth msi" in result.stderr
