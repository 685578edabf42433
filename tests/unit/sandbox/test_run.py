"""Server.run: one command in a sandbox of its own."""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pyhelpers.sandbox import SandboxError, Server, StoreFull

pytestmark = pytest.mark.needs("sandbox")


def test_the_result_holds_code_output_and_what_was_written(server: Server) -> None:
    result = server.run(["sh", "-c", "echo out; echo err >&2; echo new >/etc/new; exit 3"])
    assert (result.code, result.stdout, result.stderr) == (3, "out\n", "err\n")
    assert result.read("/etc/new") == b"new\n"
    assert not Path("/etc/new").exists()


@pytest.mark.parametrize(
    ("argv", "code"),
    [
        (["true"], 0),
        (["false"], 1),
        (["sh", "-c", "kill -9 $$"], 137),
        (["sh", "-c", "kill -TERM $$"], 143),
        (["no-such-command"], 127),
        (["/no/such/command"], 127),
        (["/etc/passwd"], 126),
        (["/etc"], 126),
    ],
)
def test_the_exit_code_is_a_shells(server: Server, argv: list[str], code: int) -> None:
    assert server.run(argv).code == code


def test_the_environment_is_clean_unless_given(server: Server) -> None:
    assert sorted(server.run(["env"]).stdout.split()) == [
        "LC_ALL=C",
        "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    ]
    assert server.run(["/usr/bin/env"], env={"A": "b ü"}).stdout == "A=b ü\n"


def test_a_command_is_found_on_the_path_of_its_own_environment(server: Server) -> None:
    assert server.run(["true"], env={"PATH": "/nowhere:/usr/bin"}).code == 0
    assert server.run(["true"], env={"PATH": "/nowhere"}).code == 127


def test_the_directory_is_the_one_given(server: Server) -> None:
    assert server.run(["pwd"], cwd="/usr/share").stdout == "/usr/share\n"
    assert server.run(["pwd"], cwd="/nowhere").code == 127


@pytest.mark.parametrize("size", [1, 70_000, 3_000_000])
def test_stdin_arrives_whole(server: Server, size: int) -> None:
    assert server.run(["cat"], stdin=b"x" * size).stdout == "x" * size


def test_without_stdin_there_is_nothing_to_read_and_no_terminal(server: Server) -> None:
    result = server.run(["sh", "-c", "cat; tty; (: </dev/tty) 2>/dev/null || echo no terminal"])
    assert result.stdout == "not a tty\nno terminal\n"


def test_a_command_that_reads_no_stdin_ends_all_the_same(server: Server) -> None:
    assert server.run(["true"], stdin=b"x" * 1_000_000).code == 0


def test_output_that_is_no_text_survives(server: Server) -> None:
    result = server.run(["printf", r"\377\0a"])
    assert result.stdout.encode(errors="surrogateescape") == b"\xff\0a"


def test_writing_to_dev_stdout_and_dev_stderr_works(server: Server) -> None:
    result = server.run(["sh", "-c", "echo a >/dev/stdout; echo b >/dev/stdout; echo c >/dev/stderr"])
    assert (result.stdout, result.stderr) == ("a\nb\n", "c\n")


def test_endless_output_is_a_fault_of_the_sandboxs_user(server: Server) -> None:
    with pytest.raises(SandboxError, match="yes printed more than 64 MiB"):
        server.run(["yes"])


def test_a_command_that_takes_too_long_is_killed_with_all_its_children(server: Server) -> None:
    start = time.monotonic()
    result = server.run(["sh", "-c", "echo before; sleep 1000 & sleep 1000"], timeout=0.2)
    assert (result.timed_out, result.code, result.stdout) == (True, 137, "before\n")
    assert time.monotonic() - start < 10


def test_a_daemon_does_not_outlive_the_run(server: Server) -> None:
    result = server.run(["sh", "-c", "setsid sh -c 'while :; do date >/opt/alive; done' >/dev/null 2>&1 & sleep 0.1"])
    first = result.read("/opt/alive")
    time.sleep(1.1)  # the daemon would have written another second
    assert result.read("/opt/alive") == first


def test_pipes_broken_inside_kill_as_usual(server: Server) -> None:
    assert server.run(["bash", "-c", "yes | head -1; echo ${PIPESTATUS[0]}"]).stdout == "y\n141\n"


def test_each_run_starts_from_the_machine_as_it_is(server: Server) -> None:
    server.run(["sh", "-c", "rm -r /etc /usr/share/doc; touch /tmp/left /run/left"])
    assert server.run(["sh", "-c", "ls -d /etc/passwd /usr/share/doc; ls /tmp; ls /run"]).stdout == (
        "/etc/passwd\n/usr/share/doc\nlock\n"
    )


def test_binds_show_the_project_read_only(server: Server, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("content")
    script = f"cat {tmp_path}/file; cat /opt/elsewhere/file; touch {tmp_path}/new"
    result = server.run(["sh", "-c", script], binds=[tmp_path, (tmp_path, "/opt/elsewhere")])
    assert result.stdout == "contentcontent"
    assert "Read-only file system" in result.stderr
    assert result.diff(ignore=["/tmp/**"]) == []  # a directory made to mount on is not the command's doing
    (tmp_path / "file").write_text("changed")
    assert server.run(["cat", f"{tmp_path}/file"], binds=[tmp_path]).stdout == "changed"


def test_a_file_can_be_bound(server: Server, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("content")
    result = server.run(["cat", "/opt/a/file"], binds=[(tmp_path / "file", "/opt/a/file")])
    assert (result.stdout, result.diff()) == ("content", [])


def test_a_bind_that_does_not_exist_is_an_error(server: Server) -> None:
    with pytest.raises(SandboxError, match="nothing to bind at /no/where"):
        server.run(["true"], binds=["/no/where"])


def test_a_full_store_is_not_taken_for_a_failing_command(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pyhelpers.sandbox.server.DEFAULT_SIZE", "2m")
    with pytest.raises(StoreFull, match="store of 2m full"):
        server.run(["dd", "if=/dev/zero", "of=/opt/big", "bs=1M", "count=3"])


@pytest.mark.parametrize("place", ["/opt", "/tmp", "/run", "/dev/shm"])
def test_a_store_that_was_meant_to_be_small_says_that_it_was_full(server: Server, place: str) -> None:
    result = server.run(["dd", "if=/dev/zero", f"of={place}/big", "bs=1M", "count=3"], size="2m")
    assert (result.code, result.store_full) == (1, True)
    assert "No space left on device" in result.stderr
    assert not server.run(["true"], size="2m").store_full


def test_a_large_environment_and_command_line_arrive(server: Server) -> None:
    result = server.run(["sh", "-c", 'printf %s "$BIG$1"', "sh", "y" * 100_000], env={"BIG": "x" * 100_000})
    assert result.stdout == "x" * 100_000 + "y" * 100_000


def test_many_threads_get_each_its_own_answer(server: Server) -> None:
    with ThreadPoolExecutor(8) as threads:
        results = list(threads.map(lambda n: server.run(["sh", "-c", f"echo {n} >/etc/n; exit {n}"]), range(24)))
    assert [result.code for result in results] == list(range(24))
    assert [result.read("/etc/n") for result in results] == [b"%d\n" % n for n in range(24)]


def test_no_descriptor_of_ours_reaches_the_command(server: Server) -> None:
    ours = os.open("/etc", os.O_RDONLY)
    os.set_inheritable(ours, True)
    assert server.run(["sh", "-c", "ls /proc/$$/fd"]).stdout.split() == ["0", "1", "2"]
    os.close(ours)


def test_links_are_followed_as_inside(server: Server) -> None:
    result = server.run(["sh", "-ec", "ln -s /etc/inside /opt/link; echo inside >/etc/inside"])
    assert result.read("/opt/link") == b"inside\n"
    with pytest.raises(FileNotFoundError):
        result.read("/opt/nothing")


def test_a_closed_server_says_so() -> None:
    with Server(jobs=1) as closed:
        kept = closed.run(["sh", "-c", "echo x >/etc/x"])
    with pytest.raises(SandboxError, match="closed"):
        closed.run(["true"])
    assert kept.read("/etc/x") == b"x\n"
