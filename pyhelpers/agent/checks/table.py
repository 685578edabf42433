"""The requirements that preflight checks, in the order of the report. Each is a module beside this one.

The ids are those of the official agent where it has the check, so that lists of ignored checks work with either.
"""

from __future__ import annotations

from pyhelpers.agent.checks import (
    agent_config,
    agent_install_dir,
    disk_space,
    existing_deployment,
    host_os_configuration,
    host_packages,
    privileged_user,
    service_manager,
)

CHECKS = (
    privileged_user.CHECK,  # runs as root
    service_manager.CHECK,  # systemd is process 1 and well
    agent_config.CHECK,  # config.json is right
    existing_deployment.CHECK,  # nothing is deployed that is not ours to continue
    host_packages.CHECK,  # the tools are there
    agent_install_dir.CHECK,  # the agent's directories can be made, written and executed from
    host_os_configuration.CHECK,  # so can those of its units, config, state and logs
    disk_space.CHECK,  # there is room for it
)

# Checks of the official agent that this one does not make: naming one in an ignore list is no mistake.
OTHER_IDS = (
    "nspawn-runtime",
    "docker-active",
    "containerd-active",
    "kubelet-active",
    "swap-active",
    "cgroups",
    "nvidia-driver",
    "localdns-conntrack",
    "api-server-reachable",
    "kubelet-bind-address",
    "containerd-metrics-bind-address",
    "nspawn-machine-provisioning",
    "goal-state",
    "oci-image-reachable",
    "npd-artifact",
)
