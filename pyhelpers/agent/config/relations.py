"""The rules of config.json that look at more than one key. Each is a small function with the rule as its docstring.

A relation gets the data with legacy keys mapped and the table's defaults filled in; it gives `(key, what is wrong)`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pyhelpers.agent.config import kinds
from pyhelpers.agent.config.keys import Json, get

Problems = Iterator[tuple[str, str]]
AZURE_IDENTITIES = ("arc", "servicePrincipal", "managedIdentity")


def given(data: Json, key: str) -> bool:
    """Whether a key has a value that counts."""
    return get(data, key) not in (None, "")


def identities(data: Json) -> list[str]:
    """The Azure identities that the config selects: arc when enabled, the others by being there."""
    selected = {"arc": get(data, "azure.arc.enabled") is True}
    for name in AZURE_IDENTITIES[1:]:
        selected[name] = get(data, f"azure.{name}") is not None
    return [name for name in AZURE_IDENTITIES if selected[name]]


def one_authentication(data: Json) -> Problems:
    """At least one of azure.bootstrapToken, arc, servicePrincipal, managedIdentity, or both kubeconfigData keys."""
    kubeconfigs = given(data, "agent.kubeconfigData") or given(data, "node.kubelet.kubeconfigData")
    if not (identities(data) or kubeconfigs or get(data, "azure.bootstrapToken") is not None):
        yield (
            "azure",
            "needs an authentication: one of bootstrapToken, arc.enabled, servicePrincipal, managedIdentity "
            "(or agent.kubeconfigData with node.kubelet.kubeconfigData)",
        )


def one_azure_identity(data: Json) -> Problems:
    """At most one of azure.arc (enabled), servicePrincipal, managedIdentity; bootstrapToken may join one of them."""
    selected = identities(data)
    if len(selected) > 1:
        yield "azure", f"must have at most one of arc, servicePrincipal, managedIdentity, not {' and '.join(selected)}"


def bootstrap_token_needs_cluster(data: Json) -> Problems:
    """azure.bootstrapToken needs its token, node.kubelet.clusterFQDN and node.kubelet.caCertData."""
    if get(data, "azure.bootstrapToken") is not None:
        for key in ("azure.bootstrapToken.token", "node.kubelet.clusterFQDN", "node.kubelet.caCertData"):
            if not given(data, key):
                yield key, "is required with azure.bootstrapToken"


def arc_needs_tenant(data: Json) -> Problems:
    """azure.tenantId is required with azure.arc.enabled."""
    if "arc" in identities(data) and not given(data, "azure.tenantId"):
        yield "azure.tenantId", "is required with azure.arc.enabled"


def service_principal_is_complete(data: Json) -> Problems:
    """azure.servicePrincipal needs tenantId (or azure.tenantId), clientId, and clientSecret or clientSecretFile."""
    sp = "azure.servicePrincipal"
    if not isinstance(get(data, sp), dict):
        return
    if not (given(data, f"{sp}.tenantId") or given(data, "azure.tenantId")):
        yield f"{sp}.tenantId", f"or azure.tenantId is required with {sp}"
    if not given(data, f"{sp}.clientId"):
        yield f"{sp}.clientId", f"is required with {sp}"
    secrets = [name for name in ("clientSecret", "clientSecretFile") if given(data, f"{sp}.{name}")]
    if len(secrets) != 1:
        yield f"{sp}.clientSecret", "or clientSecretFile is required, and only one of them"


def kubeconfigs_are_paired(data: Json) -> Problems:
    """agent.kubeconfigData and node.kubelet.kubeconfigData: both or neither."""
    yield from _paired(data, "agent.kubeconfigData", "node.kubelet.kubeconfigData")


def credential_provider_is_complete(data: Json) -> Problems:
    """node.kubelet.imageCredentialProvider.configPath and binDir: both or neither."""
    base = "node.kubelet.imageCredentialProvider"
    yield from _paired(data, f"{base}.configPath", f"{base}.binDir")


def _paired(data: Json, one: str, other: str) -> Problems:
    if given(data, one) != given(data, other):
        missing, there = (other, one) if given(data, one) else (one, other)
        yield missing, f"is required with {there}"


def cloud_without_endpoint(data: Json) -> Problems:
    """azure.cloud must be AzurePublicCloud where azure.resourceManagerEndpoint is not given."""
    if not given(data, "azure.resourceManagerEndpoint") and get(data, "azure.cloud") != "AzurePublicCloud":
        yield "azure.cloud", "must be AzurePublicCloud, or azure.resourceManagerEndpoint must be given"


def machine_endpoint_fits_mode(data: Json) -> Problems:
    """agent.machineClient.endpointUrl: an absolute API path with mode in-cluster, an absolute URL with mode arm."""
    key = "agent.machineClient.endpointUrl"
    endpoint: Any = get(data, key)
    if not isinstance(endpoint, str) or not endpoint:
        return
    mode = get(data, "agent.machineClient.mode")
    if mode == "in-cluster" and not kinds.is_api_path(endpoint):
        yield key, "must be an absolute API path without scheme and host with mode in-cluster"
    if mode in (None, "", "arm") and not kinds.is_url(endpoint):
        yield key, "must be an absolute URL with mode arm"


def routes_need_enabled(data: Json) -> Problems:
    """hostRouting.staticRoutes.enabled must be true when hostRouting.staticRoutes.routes is not empty."""
    if get(data, "hostRouting.staticRoutes.routes") and get(data, "hostRouting.staticRoutes.enabled") is not True:
        yield "hostRouting.staticRoutes.enabled", "must be true when hostRouting.staticRoutes.routes is not empty"


def image_gc_thresholds_are_ordered(data: Json) -> Problems:
    """node.kubelet.imageGCLowThreshold must be below node.kubelet.imageGCHighThreshold."""
    low, high = (get(data, f"node.kubelet.imageGC{name}Threshold") for name in ("Low", "High"))
    if kinds.is_integer(low) and kinds.is_integer(high) and low >= high:
        yield "node.kubelet.imageGCLowThreshold", f"must be below imageGCHighThreshold ({high})"


def local_dns_mode_is_given(data: Json) -> Problems:
    """networking.localDNS needs its mode."""
    if isinstance(get(data, "networking.localDNS"), dict) and not given(data, "networking.localDNS.mode"):
        yield "networking.localDNS.mode", "is required with networking.localDNS"


RELATIONS = (
    one_authentication,
    one_azure_identity,
    bootstrap_token_needs_cluster,
    arc_needs_tenant,
    service_principal_is_complete,
    kubeconfigs_are_paired,
    cloud_without_endpoint,
    machine_endpoint_fits_mode,
    routes_need_enabled,
    local_dns_mode_is_given,
    image_gc_thresholds_are_ordered,
    credential_provider_is_complete,
)
