"""The keys of config.json: what each must be, and what it is when it is not given. Read it as a list.

`a[].b` is b of each element of the list a, `a.*` each value of the object a. Every part of a key before a dot must
be an object. Rules that look at more than one key are in `relations.py`; docs/config.md is made from both.
Source of the facts: the agent's public configuration contract (Azure/AKSFlexNode, docs and pkg/config).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pyhelpers import contract
from pyhelpers.agent.config import kinds as k

PUBLIC_ENDPOINT = "https://management.azure.com"


@dataclass(frozen=True)
class Rule:
    """One key. `note` says in words what the table cannot; a secret value is never shown in an error."""

    key: str
    kind: k.Kind
    default: Any = None
    note: str = ""
    required: bool = False
    secret: bool = False


RULES = (
    # --- which cluster ---
    Rule("azure.subscriptionId", k.STRING, note="default: the subscription in azure.targetCluster.resourceId"),
    Rule("azure.tenantId", k.STRING, note="required with azure.arc.enabled"),
    Rule("azure.cloud", k.STRING, "AzurePublicCloud", "must be AzurePublicCloud without azure.resourceManagerEndpoint"),
    Rule("azure.resourceManagerEndpoint", k.ENDPOINT, note=f"default: {PUBLIC_ENDPOINT}"),
    Rule("azure.targetCluster.resourceId", k.CLUSTER_ID, required=True, note="upper and lower case are the same"),
    Rule("azure.targetCluster.location", k.STRING),
    Rule("azure.targetAgentPoolName", k.STRING, "aksflexnodes"),
    # --- who the node is: at least one, see relations.py ---
    Rule("azure.bootstrapToken.token", k.TOKEN, secret=True, note="needs node.kubelet.clusterFQDN and caCertData"),
    Rule("azure.managedIdentity", k.OBJECT, note="being there selects it, even as {}"),
    Rule("azure.managedIdentity.clientId", k.STRING, note="of a user-assigned identity"),
    Rule("azure.arc.enabled", k.BOOL, False),
    Rule("azure.arc.machineName", k.STRING),
    Rule("azure.arc.resourceGroup", k.STRING),
    Rule("azure.arc.location", k.STRING),
    Rule("azure.arc.tags", k.TAGS),
    Rule("azure.servicePrincipal.tenantId", k.STRING, note="default: azure.tenantId"),
    Rule("azure.servicePrincipal.clientId", k.STRING, note="required with azure.servicePrincipal"),
    Rule("azure.servicePrincipal.clientSecret", k.SECRET, secret=True, note="this or clientSecretFile"),
    Rule("azure.servicePrincipal.clientSecretFile", k.ABSOLUTE_PATH, note="this or clientSecret"),
    Rule("agent.kubeconfigData", k.SECRET, secret=True, note="together with node.kubelet.kubeconfigData"),
    Rule("node.kubelet.kubeconfigData", k.SECRET, secret=True, note="together with agent.kubeconfigData"),
    # --- the agent itself ---
    Rule("agent.logLevel", k.one_of("debug", "info", "warning", "error"), "info"),
    Rule("agent.logDir", k.DIRECTORY, contract.LOG_DIR),
    Rule("agent.nodeName", k.NODE_NAME, note="default: the host's name in lower case"),
    Rule("agent.machineClient.mode", k.one_of("arm", "in-cluster"), "arm"),
    Rule("agent.machineClient.endpointUrl", k.MACHINE_ENDPOINT, note="arm: a URL; in-cluster: a path"),
    Rule("agent.machineReconcileInterval", k.DURATION_GO, "10m"),
    Rule("agent.requireMachineRegistration", k.BOOL, note="default: true with arc, servicePrincipal, managedIdentity"),
    Rule("agent.machineOperationMode", k.one_of("auto", "disable"), "auto"),
    # --- versions ---
    Rule("components.kubernetes", k.STRING),
    Rule("components.containerd", k.STRING),
    Rule("components.runc", k.STRING),
    Rule("components.sandboxImage", k.STRING),
    Rule("components.gantry.disabled", k.BOOL),
    Rule("npd.version", k.STRING, "v1.35.1"),
    # --- the machine ---
    Rule("bootstrap.ociImage", k.IMAGE),
    Rule("bootstrap.offlineArtifacts.source", k.ARTIFACTS),
    Rule("bootstrap.additionalHostDevices[]", k.DEVICE),
    Rule("bootstrap.additionalHostMounts[].source", k.CLEAN_PATH, required=True),
    Rule("bootstrap.additionalHostMounts[].target", k.CLEAN_PATH, note="default: the source"),
    Rule("bootstrap.additionalHostMounts[].readOnly", k.BOOL, note="default: false"),
    Rule("bootstrap.additionalRequiredServices[]", k.SERVICE, note="host units that the machine requires"),
    # --- networking ---
    Rule("hostRouting.staticRoutes.enabled", k.BOOL, False, "must be true when there are routes"),
    Rule("hostRouting.staticRoutes.routes[].destination", k.IPV4_NETWORK, required=True),
    Rule("hostRouting.staticRoutes.routes[].gateway", k.IPV4),
    Rule("hostRouting.staticRoutes.routes[].dev", k.INTERFACE),
    Rule("hostRouting.staticRoutes.routes[].metric", k.integer(0, 2**32 - 1)),
    Rule("hostRouting.routeOverlap.mode", k.one_of("WARN", "STRICT"), "WARN"),
    Rule("hostRouting.routeOverlap.expectedCidrs[]", k.IPV4_NETWORK),
    Rule("networking.dnsServiceIP", k.ADDRESS, "10.0.0.10"),
    Rule("networking.cniVersion", k.STRING),
    Rule("networking.localDNS.mode", k.one_of("Required", "Preferred", "Disabled"), note="only Required enables it"),
    Rule("networking.localDNS.vnetDNSOverrides.*", k.OBJECT),
    Rule("networking.localDNS.kubeDNSOverrides.*", k.OBJECT),
    # --- the node ---
    Rule("node.maxPods", k.integer(1, 1000), 110),
    Rule("node.labels", k.LABELS, {}, "kubernetes.azure.com/managed is always false"),
    Rule("node.taints[]", k.TAINT_TEXT),
    Rule("node.kubelet.systemReserved", k.QUANTITIES),
    Rule("node.kubelet.kubeReserved", k.QUANTITIES),
    Rule("node.kubelet.imageCredentialProvider.configPath", k.ABSOLUTE_PATH, note="together with binDir"),
    Rule("node.kubelet.imageCredentialProvider.binDir", k.ABSOLUTE_PATH, note="together with configPath"),
    Rule("node.kubelet.verbosity", k.integer(0, 10), 2),
    Rule("node.kubelet.imageGCHighThreshold", k.integer(0, 100), 85),
    Rule("node.kubelet.imageGCLowThreshold", k.integer(0, 100), 80, "below imageGCHighThreshold"),
    Rule("node.kubelet.clusterFQDN", k.HOST_NAME, note="required with azure.bootstrapToken"),
    Rule("node.kubelet.caCertData", k.BASE64, note="required with azure.bootstrapToken"),
    Rule("node.kubelet.nodeIP", k.ADDRESSES),
)

# Keys of earlier releases, taken where the new key is empty: old -> new.
LEGACY_KEYS = (
    ("kubernetes.version", "components.kubernetes"),
    ("containerd.version", "components.containerd"),
    ("runc.version", "components.runc"),
    ("cni.version", "networking.cniVersion"),
    ("node.kubelet.dnsServiceIP", "networking.dnsServiceIP"),
    ("node.kubelet.serverURL", "node.kubelet.clusterFQDN"),  # the URL's host
)
