"""Whether a host is image-managed: its image is the unit of delivery, and packages are not installed on it.

Decided by a known identity (os-release) or by evidence on the host; the two are reported apart. A read-only /usr
alone is no evidence: a hardened host with a working package manager stays what it is.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from pyhelpers.agent.checks import mounts
from pyhelpers.host import Host, Mount

# (ID, VARIANT_ID or "" for any) -> what it is
IDENTITIES = {
    ("azurelinux", "azurecontainerlinux"): "Azure Container Linux",
    ("azurelinux", "osguard"): "Azure Linux OS Guard",
    ("fedora", "coreos"): "Fedora CoreOS",
    ("flatcar", ""): "Flatcar",
    ("rhcos", ""): "Red Hat CoreOS",
    ("opensuse-microos", ""): "openSUSE MicroOS",
    ("bottlerocket", ""): "Bottlerocket",
    ("talos", ""): "Talos",
    ("nixos", ""): "NixOS",
}
IMAGE_KINDS = ("squashfs", "erofs")


@dataclass(frozen=True)
class ImageFacts:
    """managed None: neither identity nor evidence could be looked at."""

    managed: bool | None
    identity: str = ""
    evidence: str = ""

    def reason(self) -> str:
        """Why it counts as image-managed, in words."""
        return self.identity or self.evidence


def facts(host: Host) -> ImageFacts:
    """Look at os-release, then at what is mounted under /usr."""
    try:
        name = identity(os_release(host))
        proof = evidence(host)
    except OSError:
        return ImageFacts(None)
    return ImageFacts(bool(name or proof), name, proof)


def os_release(host: Host) -> dict[str, str]:
    """The assignments of os-release; lines that are none are ignored, later ones win. Nothing is executed."""
    content = host.read("/etc/os-release") or host.read("/usr/lib/os-release") or b""
    found = {}
    for line in content.decode("utf-8", "replace").split("\n"):
        key, equals, value = line.strip().partition("=")
        if not equals or not key.replace("_", "").isalnum():
            continue
        try:
            words = shlex.split(value)
        except ValueError:  # a quote that is not closed
            continue
        found[key] = words[0] if words else ""
    return found


def identity(release: dict[str, str]) -> str:
    """The image-managed distribution that os-release names, or ""."""
    name, variant = release.get("ID", "").lower(), release.get("VARIANT_ID", "").lower()
    if name == "azurelinux" and "flatcar" in release.get("ID_LIKE", "").lower().split():
        return IDENTITIES["azurelinux", "azurecontainerlinux"]
    return IDENTITIES.get((name, variant)) or IDENTITIES.get((name, ""), "")


def evidence(host: Host) -> str:
    """What on the host shows that its /usr is an image, or ""."""
    if host.present("/run/ostree-booted"):
        return "/run/ostree-booted is there"
    mount = mounts.of(host, "/usr") or Mount("", "")
    if mount.kind in IMAGE_KINDS:
        return f"{mount.path} is {mount.kind}"
    device = host.realpath(mount.source).rpartition("/")[2] if mount.source.startswith("/dev/") else ""
    uuid = host.read(f"/sys/class/block/{device}/dm/uuid") if device else None
    if uuid and uuid.startswith(b"CRYPT-VERITY-"):
        return f"{mount.path} is on the dm-verity device {mount.source}"
    return ""
