"""install.sh with bad agents, bad archives and bad targets: one line with id and exit code, nothing live changed."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest

from tests.scripts.install import ARCH, ROOT_BINARY, SCRIPT, Install, archive, binary

# Runs install.sh's own phases with smaller limits than a host gives.
SMALL_LIMITS = f""". {SCRIPT}; flexnode_begin install flexnode_close_staging; flexnode_parse_install "$@"
FLEXNODE_CANDIDATE_TIMEOUT_S=1 FLEXNODE_ARCHIVE_LIMIT_MIB=1
flexnode_open_log && flexnode_install_wants && flexnode_find_arch && flexnode_locked flexnode_install_locked"""


def fake_agent(install: Install, version: str = "echo Version: v1.0.0", host_root: str = "echo /opt/unbounded") -> str:
    """A stand-in for an agent that no release variant is: a script with these answers; its path."""
    script = f"#!/bin/sh\ncase $1 in version) {version} ;; host-root) {host_root} ;; esac\n"
    install.box.write("/tmp/fake-agent", script.encode(), 0o755)
    return "/tmp/fake-agent"


def fake_archive(install: Install, *members: tarfile.TarInfo, agent: str = "aks-flex-node") -> str:
    """An archive with MEMBERS (which may be unsafe) and an agent by the name AGENT; its path."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as tar:
        content = Path(binary("current")).read_bytes()
        for member in members:
            tar.addfile(member)
        if agent:
            info = tarfile.TarInfo(agent)
            info.size, info.uid, info.mode = len(content), 1234, 0o4600
            tar.addfile(info, io.BytesIO(content))
    install.box.write("/tmp/fake.tar.gz", data.getvalue())
    return "/tmp/fake.tar.gz"


def member(name: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    """One entry of an archive, without content."""
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


def test_a_binary_that_does_not_run(install: Install) -> None:
    assert "when asked for 'version'" in install.refused(install("--archive", archive("broken")), "E_CANDIDATE", 6)


def test_a_binary_for_another_machine(install: Install) -> None:
    install.box.write("/tmp/mips", b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x02\x00\x08\x00\ntouch /root/ran\n", 0o755)
    assert "neither a program for" in install.refused(install("--binary", "/tmp/mips"), "E_CANDIDATE", 6)
    assert install.sh("ls -A /root | grep ran || :") == ""


def test_a_program_for_this_machine_that_is_no_agent(install: Install) -> None:
    assert "gave no usable answer" in install.refused(install("--binary", "/bin/true"), "E_CANDIDATE", 6)


def test_a_host_without_the_python_that_the_agent_needs(install: Install) -> None:
    tools = "dash uname id flock chmod cp mkdir mv od readlink rm rmdir stat sync timeout tar gzip sha256sum env cat"
    install.sh(f"mkdir /tmp/few; for t in {tools}; do ln -s $(command -v $t) /tmp/few; done")
    line = install.refused(install("--archive", archive("current"), env={"PATH": "/tmp/few"}), "E_CANDIDATE", 6)
    assert "python3" in line and "install python3 >= 3.9" in line


def test_a_binary_that_hangs_is_ended_after_its_time(install: Install) -> None:
    result = install.box.run(["dash", "-c", SMALL_LIMITS, "dash", "--archive", archive("hangs")])
    assert "did not answer within 1 s" in install.refused(result, "E_CANDIDATE", 6)
    assert result.seconds < 10


def test_a_binary_that_tells_no_version(install: Install) -> None:
    install.refused(install("--binary", fake_agent(install, version="echo hello")), "E_CANDIDATE", 6)


def test_a_host_root_that_lies(install: Install) -> None:
    install.refused(install("--archive", archive("bad-host-root")), "E_HOST_ROOT", 6)


@pytest.mark.parametrize(
    "root", ["opt", "/", "/opt/../tmp", "/opt/a b", "/tmp/x", "/opt/unbounded/", "", "/opt/x\\n/opt/y"]
)
def test_a_host_root_that_is_none(install: Install, root: str) -> None:
    install.refused(install("--binary", fake_agent(install, host_root=f"printf '{root}\\n'")), "E_HOST_ROOT", 6)


@pytest.mark.parametrize("crash", ["exit 1", "exit 3", "kill -SEGV $$", "exit 126", "exit 127"])
def test_a_crash_when_asked_for_the_host_root_is_not_taken_for_a_legacy_release(install: Install, crash: str) -> None:
    line = install.refused(install("--binary", fake_agent(install, host_root=crash)), "E_CANDIDATE", 6)
    assert "when asked for 'host-root'" in line


def test_a_wrong_sum_of_a_local_file(install: Install) -> None:
    install.refused(install("--archive", archive("current"), "--sha256", "0" * 64), "E_CHECKSUM", 6)
    install.refused(install("--binary", binary("current"), "--sha256", "0" * 64), "E_CHECKSUM", 6)


@pytest.mark.parametrize("size", [0, 1, 20, 5000])
def test_a_truncated_archive(install: Install, size: int) -> None:
    install.box.write("/tmp/cut.tar.gz", Path(archive("current")).read_bytes()[:size])
    install.refused(install("--archive", "/tmp/cut.tar.gz"), "E_ARCHIVE", 6)


def test_an_archive_that_is_no_archive(install: Install) -> None:
    install.refused(install("--archive", "/etc/passwd"), "E_ARCHIVE", 6)


def test_an_html_page_is_called_one(install: Install) -> None:
    install.box.write("/tmp/page", b"<!DOCTYPE html>\n<html>Sign in</html>\n")
    assert "HTML page" in install.refused(install("--archive", "/tmp/page"), "E_ARCHIVE", 6)


UNSAFE = {
    "an absolute name": member("/etc/evil", tarfile.REGTYPE),
    "a climbing name": member("a/../../etc/evil", tarfile.REGTYPE),
    "a symbolic link": member("link", tarfile.SYMTYPE, "/etc/passwd"),
    "a hard link": member("hard", tarfile.LNKTYPE, "/etc/passwd"),
    "a device": member("dev", tarfile.CHRTYPE),
    "a pipe": member("pipe", tarfile.FIFOTYPE),
}


@pytest.mark.parametrize("entry", UNSAFE.values(), ids=UNSAFE.keys())
def test_an_archive_with_an_unsafe_member(install: Install, entry: tarfile.TarInfo) -> None:
    install.refused(install("--archive", fake_archive(install, entry)), "E_ARCHIVE", 6)


def test_an_archive_without_an_agent(install: Install) -> None:
    assert "holds no aks-flex-node" in install.refused(
        install("--archive", fake_archive(install, agent="aks-flex-node-linux-riscv64")), "E_ARCHIVE", 6
    )


def test_an_archive_with_two_agents(install: Install) -> None:
    twin = member(f"x/aks-flex-node-linux-{ARCH}", tarfile.REGTYPE)
    assert "twice" in install.refused(install("--archive", fake_archive(install, twin)), "E_ARCHIVE", 6)


@pytest.mark.parametrize("name", ["aks-flex-node", f"dist/a b/aks-flex-node-linux-{ARCH}", "./aks-flex-node"])
def test_the_agent_may_be_at_any_depth_and_owner_and_mode_do_not_count(install: Install, name: str) -> None:
    install.done("--archive", fake_archive(install, member("LICENSE", tarfile.REGTYPE), agent=name))
    assert install.sh(f"stat -c '%a %u' {ROOT_BINARY}") == "755 0\n"


def test_a_small_archive_that_unpacks_without_end(install: Install) -> None:
    install.sh("head -c 4M /dev/zero | gzip -1 >/tmp/bomb.tar.gz")
    result = install.box.run(["dash", "-c", SMALL_LIMITS, "dash", "--archive", "/tmp/bomb.tar.gz"])
    assert "too large" in install.refused(result, "E_ARCHIVE", 6)


def test_a_read_only_target(install: Install) -> None:
    install.sh("mount --bind /opt /opt && mount -o remount,ro,bind /opt")
    line = install.refused(install("--archive", archive("current")), "E_TARGET", 7)
    assert "Read-only file system" in line and "at /opt, read-only" in line


def test_a_noexec_target(install: Install) -> None:
    install.sh("mount -t tmpfs -o noexec tmpfs /opt")
    line = install.refused(install("--archive", archive("current")), "E_TARGET", 7)
    assert "cannot execute a file" in line and "tmpfs at /opt, noexec" in line
    assert install.sh("ls -A /opt") == ""


def test_a_full_target(install: Install) -> None:
    install.sh("mount -t tmpfs -o size=64k tmpfs /opt")
    line = install.refused(install("--archive", archive("current")), "E_TARGET", 7)
    assert "No space left on device" in line and "tmpfs at /opt" in line
    assert install.sh("ls -A /opt") == ""


def test_a_target_without_room_for_a_byte(install: Install) -> None:
    install.sh("mount -t tmpfs -o size=4k tmpfs /opt; head -c 4096 /dev/zero >/opt/full")
    assert "No space left" in install.refused(install("--archive", archive("current")), "E_TARGET", 7)
    assert install.sh("ls -A /opt") == "full\n"


def test_a_target_below_a_file(install: Install) -> None:
    install.sh("mkdir /opt/unbounded && touch /opt/unbounded/bin")
    assert "not a directory" in install.failed(install("--archive", archive("current")), "E_TARGET", 7)


def test_a_read_only_var(install: Install) -> None:
    install.sh("mount --bind /var /var && mount -o remount,ro,bind /var")
    assert "read-only" in install.refused(install("--archive", archive("current")), "E_STATE", 7)


def test_a_noexec_var(install: Install) -> None:
    install.sh("mount -t tmpfs -o noexec tmpfs /var/lib")
    assert "noexec" in install.refused(install("--archive", archive("current")), "E_STATE", 7)


@pytest.mark.parametrize("size", ["16k", "128k"])
def test_a_full_var(install: Install, size: str) -> None:
    install.sh(f"mount -t tmpfs -o size={size} tmpfs /var/lib")
    line = install.refused(install("--archive", archive("current")), "E_STATE", 7)
    assert "No space left" in line and "at /var/lib" in line
    assert install.sh("ls -A /var/lib") == ""


def test_a_full_var_when_the_journal_is_written(install: Install) -> None:
    install.sh("mount -t tmpfs -o size=256k tmpfs /var/lib")
    fill = "head -c 1M /dev/zero >/var/lib/full 2>/dev/null; truncate -s -4096 /var/lib/full; echo /opt/unbounded"
    line = install.refused(install("--binary", fake_agent(install, host_root=fill)), "E_STATE", 7)
    assert "cannot write /var/lib/aks-flex-node/journal" in line
    assert install.sh("ls -A /var/lib") == "full\n"


def test_the_old_agent_stays_when_the_new_one_is_refused(install: Install) -> None:
    install.done("--archive", archive("current"))
    for name in ("broken", "bad-host-root"):
        assert install("--archive", archive(name)).code == 6
    assert install.version() == "v0.1.0"


def test_a_read_only_etc_is_found_after_the_agent_is_placed_and_said(install: Install) -> None:
    install.sh("mount --bind /etc /etc && mount -o remount,ro,bind /etc")
    line = install.failed(install("--archive", archive("current")), "E_TARGET", 7)
    assert "make directory /etc/aks-flex-node: Read-only file system" in line
