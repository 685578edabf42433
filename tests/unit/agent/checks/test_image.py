"""Image-managed or not: by identity, by evidence, and honest where neither can be seen."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from pyhelpers.agent.checks import image
from pyhelpers.host import Mount
from pyhelpers.rooted import RecordingHost

ROOT = Mount("/", "ext4", "/dev/sda1", ("rw",))


@pytest.mark.parametrize(
    ("release", "identity"),
    [
        ("ID=azurelinux\nVARIANT_ID=azurecontainerlinux\n", "Azure Container Linux"),
        ('ID=azurelinux\nID_LIKE="rhel flatcar"\n', "Azure Container Linux"),
        ("ID=azurelinux\nVERSION_ID=3.0\n", ""),
        ("ID=azurelinux\nVARIANT_ID=osguard\n", "Azure Linux OS Guard"),
        ("ID=flatcar\nID_LIKE=coreos\n", "Flatcar"),
        ("ID=fedora\nVARIANT_ID=coreos\n", "Fedora CoreOS"),
        ("ID=fedora\nVARIANT_ID=server\n", ""),
        ('ID="opensuse-microos"\r\n', "openSUSE MicroOS"),
        ("# ID=flatcar\n  ID=Ubuntu  \n", ""),
        ("ID=flatcar\nID='debian'\n", ""),
        ('ID=flatcar\nID="ubuntu\n', "Flatcar"),
        ("ID =flatcar\n", ""),
        ("ID=$(reboot)\n\x00\xff=1\n=\n", ""),
        ("", ""),
    ],
)
def test_os_release_names_the_image_managed_hosts(release: str, identity: str, host: RecordingHost) -> None:
    Path(host.prefix, "etc/os-release").write_text(release, newline="")
    assert image.facts(host) == image.ImageFacts(bool(identity), identity, "")


def test_usr_lib_os_release_serves_where_etc_has_none(host: RecordingHost) -> None:
    Path(host.prefix, "etc/os-release").unlink()
    Path(host.prefix, "usr/lib").mkdir(parents=True)
    Path(host.prefix, "usr/lib/os-release").write_text("ID=nixos\n")
    assert image.facts(host).identity == "NixOS"


def test_ostree_is_evidence(host: RecordingHost) -> None:
    Path(host.prefix, "run/ostree-booted").touch()
    assert image.facts(host) == image.ImageFacts(True, "", "/run/ostree-booted is there")


def test_an_erofs_under_usr_is_evidence(host: RecordingHost) -> None:
    host.mounted = [ROOT, Mount("/usr", "erofs", "/dev/sda3", ("ro",))]
    assert image.facts(host).reason() == "/usr is erofs"


def test_a_dm_verity_device_under_usr_is_evidence(host: RecordingHost) -> None:
    host.mounted = [ROOT, Mount("/usr", "ext4", "/dev/mapper/usr", ("ro",))]
    (Path(host.prefix) / "dev/mapper").mkdir(parents=True)
    (Path(host.prefix) / "dev/mapper/usr").symlink_to("../dm-0")
    uuid = Path(host.prefix, "sys/class/block/dm-0/dm/uuid")
    uuid.parent.mkdir(parents=True)
    uuid.write_text("LVM-abc\n")
    assert image.facts(host).managed is False
    uuid.write_text("CRYPT-VERITY-abc-usr\n")
    assert image.facts(host).evidence == "/usr is on the dm-verity device /dev/mapper/usr"


def test_a_read_only_usr_alone_is_no_evidence(host: RecordingHost) -> None:
    host.mounted = [ROOT, Mount("/usr", "ext4", "/dev/sda3", ("ro",))]
    assert image.facts(host).managed is False


def test_what_cannot_be_read_is_neither_yes_nor_no(host: RecordingHost, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(path: str) -> bytes:
        raise PermissionError(errno.EACCES, "Permission denied", path)

    monkeypatch.setattr(host, "read", denied)
    assert image.facts(host).managed is None
