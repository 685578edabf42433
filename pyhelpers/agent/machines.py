"""The agent's systemd-nspawn machines (kube1, kube2): what they leave on a host, and how reset takes it off."""

from __future__ import annotations

from pyhelpers import contract
from pyhelpers.agent import remove
from pyhelpers.agent.steps import Step
from pyhelpers.host import Host

STOP_SECONDS, TERMINATE_SECONDS = 30, 15
BPF_DIR = "/run/bpffs"  # a machine's BPF file system is mounted below it, by the machine's name
LIBRARY_AGENT_DIR = f"{contract.LIBRARY_CONFIG_DIR}/agent"


def artifacts(machine: str) -> list[tuple[str, str]]:
    """What a machine leaves on a host's disk, in words, and where. Source: Azure/unbounded, pkg/agent/goalstates."""
    return [
        ("the root file system of a machine", _rootfs(machine)),
        ("the settings of a machine", f"/etc/systemd/nspawn/{machine}.nspawn"),
        ("the drop-ins of a machine's unit", f"{contract.UNIT_DIR}/{_unit(machine)}.d"),
        ("the BPF file system of a machine", f"{BPF_DIR}/{machine}"),
        ("the applied config of a machine", _applied_config(machine)),
    ]


def steps() -> list[Step]:
    """Stop, then remove; a machine without any trace on this host costs no command."""
    return [("machines", _stop), ("bpf mounts", _unmount), ("machine files", _remove)]


def _unit(machine: str) -> str:
    return f"systemd-nspawn@{machine}.service"


def _rootfs(machine: str) -> str:
    return f"/var/lib/machines/{machine}"


def _applied_config(machine: str) -> str:
    return f"{LIBRARY_AGENT_DIR}/{machine}-applied-config.json"


def _files(machine: str) -> list[str]:
    """What belongs to one machine and is removed with it."""
    wants = f"{contract.UNIT_DIR}/machines.target.wants/{_unit(machine)}"
    return [wants, *(path for _, path in artifacts(machine)), f"{_applied_config(machine)}.sha256"]


def _present(host: Host) -> list[str]:
    return [m for m in contract.MACHINES if any(host.present(path) for path in _files(m))]


def _stop(host: Host) -> list[str]:
    """Ask for a stop, then terminate. A machine that is not running needs neither."""
    left = []
    for machine in _present(host):
        if host.find("systemctl") is None or not _active(host, machine):
            continue
        host.run(["systemctl", "stop", "--", _unit(machine)], timeout=STOP_SECONDS)
        if _active(host, machine):
            host.run(["machinectl", "terminate", machine], timeout=TERMINATE_SECONDS)
            host.run(["systemctl", "kill", "--signal=KILL", "--", _unit(machine)], timeout=TERMINATE_SECONDS)
            host.run(["systemctl", "stop", "--", _unit(machine)], timeout=TERMINATE_SECONDS)
        if _active(host, machine):
            left.append(f"{_unit(machine)} does not stop")
    return left


def _active(host: Host, machine: str) -> bool:
    done = host.run(["systemctl", "is-active", "--", _unit(machine)], timeout=10)
    return done.stdout.strip() in ("active", "activating", "deactivating", "reloading")


def _unmount(host: Host) -> list[str]:
    """BPF file systems that were mounted for a machine: one part of their path is the machine's name."""
    left = []
    for mount in reversed(host.mounts()):
        if mount.kind == "bpf" and set(mount.path.split("/")) & set(contract.MACHINES):
            done = host.run(["umount", "--", mount.path])
            if done.code:
                left.append(f"{mount.path}: {done.stderr.strip()}")
    return left


def _remove(host: Host) -> list[str]:
    left: list[str] = []
    for machine in _present(host):
        if host.present(_rootfs(machine)) and host.find("machinectl"):
            host.run(["machinectl", "remove", machine])  # knows subvolumes; what it refuses is removed by hand
        for path in _files(machine):
            left += remove.tree(host, path)
        _remove_if_empty(host, LIBRARY_AGENT_DIR, contract.LIBRARY_CONFIG_DIR, BPF_DIR)
    return left


def _remove_if_empty(host: Host, *directories: str) -> None:
    for directory in directories:
        if host.is_directory(directory) and not host.names(directory):
            host.remove_directory(directory)
