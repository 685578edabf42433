"""Files and commands of a host: what each change leaves, durable, inside its root, whoever else is at work."""

from __future__ import annotations

import errno
import os
import stat
import threading
from pathlib import Path

import pytest
from pytest_subprocess import FakeProcess

from pyhelpers.host import CommandError, Completed, Host, _mount
from pyhelpers.rooted import RecordingHost, RootedHost


@pytest.fixture
def host(tmp_path: Path) -> RootedHost:
    return RootedHost(tmp_path)


def test_a_written_file_has_exactly_the_mode_whatever_the_umask(host: RootedHost, tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        host.make_directory("/a/b", 0o755)
        host.write("/a/b/file", b"text", 0o644)
    finally:
        os.umask(before)
    assert (tmp_path / "a/b/file").read_bytes() == b"text"
    assert stat.S_IMODE((tmp_path / "a/b/file").stat().st_mode) == 0o644
    assert [stat.S_IMODE(p.stat().st_mode) for p in (tmp_path / "a", tmp_path / "a/b")] == [0o755, 0o755]


def test_make_directory_names_what_it_made_and_keeps_the_mode_of_what_was_there(
    host: RootedHost, tmp_path: Path
) -> None:
    (tmp_path / "a").mkdir(mode=0o700)
    assert host.make_directory("/a/b/c") == ["/a/b", "/a/b/c"]
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o700
    assert host.make_directory("/a/b/c") == []


def test_a_failing_write_leaves_the_old_file_and_no_temporary_one(host: RootedHost, tmp_path: Path) -> None:
    host.write("/f", b"old")
    with pytest.raises(RuntimeError), host._replacing("/f", 0o644) as new:
        new.write(b"ne")
        raise RuntimeError
    assert (tmp_path / "f").read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["f"]


def test_a_temporary_file_that_a_kill_left_is_taken_over(host: RootedHost, tmp_path: Path) -> None:
    (tmp_path / ".flexnode-new.f").write_bytes(b"much longer than what is written now")
    host.write("/f", b"new")
    assert (tmp_path / "f").read_bytes() == b"new"
    assert [p.name for p in tmp_path.iterdir()] == ["f"]


def test_a_temporary_link_that_a_kill_left_is_taken_over(host: RootedHost, tmp_path: Path) -> None:
    (tmp_path / ".flexnode-new.l").symlink_to("elsewhere")
    host.link("/l", "target")
    assert (tmp_path / "l").readlink() == Path("target")
    assert [p.name for p in tmp_path.iterdir()] == ["l"]


def test_a_temporary_name_that_is_a_link_is_never_written_through(host: RootedHost, tmp_path: Path) -> None:
    (tmp_path / "victim").write_text("precious")
    (tmp_path / ".flexnode-new.f").symlink_to("victim")
    with pytest.raises(OSError) as caught:
        host.write("/f", b"new")
    assert caught.value.errno == errno.ELOOP
    assert (tmp_path / "victim").read_text() == "precious"


def test_many_writers_of_one_file_leave_one_whole_content(host: RootedHost, tmp_path: Path) -> None:
    contents = [bytes([65 + n]) * 100_000 for n in range(8)]
    threads = [threading.Thread(target=host.write, args=("/f", c)) for c in contents]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (tmp_path / "f").read_bytes() in contents
    assert [p.name for p in tmp_path.iterdir()] == ["f"]


def test_many_makers_of_one_link_leave_it_and_no_temporary_name(host: RootedHost, tmp_path: Path) -> None:
    threads = [threading.Thread(target=host.link, args=("/l", "target")) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (tmp_path / "l").readlink() == Path("target")
    assert [p.name for p in tmp_path.iterdir()] == ["l"]


def test_a_link_replaces_a_file_by_rename(host: RootedHost, tmp_path: Path) -> None:
    host.write("/f", b"old")
    host.link("/f", "other")
    assert host.link_target("/f") == "other"


def test_a_link_cannot_replace_a_directory(host: RootedHost) -> None:
    host.make_directory("/d")
    with pytest.raises(IsADirectoryError):
        host.link("/d", "/elsewhere")
    assert host.is_directory("/d")


def test_absolute_links_resolve_inside_another_root(host: RootedHost, tmp_path: Path) -> None:
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/name").write_text("inside")
    (tmp_path / "link").symlink_to("/etc")
    (tmp_path / "up").symlink_to("../../../../etc/name")
    assert host.read("/link/name") == b"inside"
    assert host.read("/up") == b"inside"
    assert host.realpath("/link/../link/./name") == "/etc/name"


def test_writing_through_a_link_in_the_middle_stays_inside_the_root(host: RootedHost, tmp_path: Path) -> None:
    (tmp_path / "opt").symlink_to("/var/opt")
    host.make_directory("/var/opt")
    host.write("/opt/file", b"x")
    assert (tmp_path / "var/opt/file").read_bytes() == b"x"


def test_a_circle_of_links_is_an_error_and_not_a_hang(host: RootedHost, tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OSError) as caught:
        host.realpath("/a/x")
    assert caught.value.errno == errno.ELOOP


def test_a_dangling_link_is_present_but_leads_to_nothing(host: RootedHost, tmp_path: Path) -> None:
    (tmp_path / "l").symlink_to("nowhere")
    assert host.present("/l")
    assert host.stat("/l") is None
    assert host.read("/l") is None


def test_unlink_of_nothing_makes_no_system_call(tmp_path: Path) -> None:
    host = RecordingHost(tmp_path)
    assert host.unlink("/nothing") is False
    assert host.events == []


def test_is_executable_wants_a_regular_file_with_an_execute_bit(host: RootedHost, tmp_path: Path) -> None:
    host.write("/x", b"", 0o755)
    host.write("/y", b"", 0o644)
    host.make_directory("/d")
    host.link("/l", "x")
    assert [host.is_executable(p) for p in ("/x", "/l", "/y", "/d", "/none")] == [True, True, False, False, False]


def test_no_command_is_run_below_another_root(host: RootedHost) -> None:
    assert host.run(["rm", "-rf", "/"]).code == 127


def test_a_recording_host_notes_changes_in_order_and_answers_commands(tmp_path: Path) -> None:
    host = RecordingHost(tmp_path)
    host.answers["systemctl is-active"] = Completed((), 3, "inactive\n")
    host.write("/f", b"")
    host.link("/l", "f")
    assert host.run(["systemctl", "is-active", "x"]).code == 3
    assert host.run(["systemctl", "start", "x"]).code == 0
    assert host.events == [
        ("write", "/f"),
        ("rename", "/f"),
        ("link", "/l"),
        ("run", "systemctl is-active x"),
        ("run", "systemctl start x"),
    ]


def test_a_recording_host_stops_before_a_change_as_a_kill_would(tmp_path: Path) -> None:
    host = RecordingHost(tmp_path, stop_before=1)
    host.link("/a", "x")
    with pytest.raises(KeyboardInterrupt):
        host.link("/b", "x")
    assert [p.name for p in tmp_path.iterdir()] == ["a"]


def test_a_command_s_words_come_back_as_text(fp: FakeProcess) -> None:
    fp.register(["tool", "word"], stdout=b"out \xff\n", stderr=b"err\n", returncode=4)
    assert Host().run(["tool", "word"]) == Completed(("tool", "word"), 4, "out \ufffd\n", "err\n")


def test_a_secret_of_ours_does_not_reach_a_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "hidden")
    assert "hidden" not in Host().run(["env"]).stdout


def test_a_missing_command_is_127_and_a_slow_one_124() -> None:
    assert Host().run(["/no/such/tool"]).code == 127
    assert Host().run(["sleep", "60"], timeout=0.05).code == 124


def test_a_command_that_must_succeed_says_its_last_line() -> None:
    with pytest.raises(CommandError, match=r"systemctl start x: Unit x not found\."):
        Completed(("systemctl", "start", "x"), 5, "", "words\nUnit x not found.\n").check()


def test_mount_points_are_decoded_from_mountinfo() -> None:
    line = rb"36 35 98:0 / /mnt/a\040b\134c rw,noatime master:1 - bpf none rw"
    mount = _mount(line)
    assert (mount.path, mount.kind) == ("/mnt/a b\\c", "bpf")


def test_the_real_host_sees_its_own_root_as_a_mount() -> None:
    assert "/" in {mount.path for mount in Host().mounts()}
