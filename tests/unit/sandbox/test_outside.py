"""What the walk of the outside reports of a file that grows: a leak, unless it is the log of somebody else."""

from __future__ import annotations

import subprocess
from pathlib import Path

from pyhelpers.sandbox.outside import Fingerprint, Walk


def changed_files(before: Walk) -> list[str]:
    return [line for line in before.changes_since(skip=()) if line.startswith("files: ")]


def walk(place: Path) -> Walk:
    return Walk.take(skip=(), roots=[str(place)])


def test_a_file_that_grew_is_reported(tmp_path: Path) -> None:
    file = tmp_path / "passwd"
    file.write_text("one\n")
    before = walk(tmp_path)
    file.write_text("one\ntwo\n")
    (line,) = changed_files(before)
    assert line.startswith(f"files: changed: {file} ")


def test_a_log_that_only_grew_is_not_reported(tmp_path: Path) -> None:
    file = tmp_path / "ci.log"
    file.write_text("one\n")
    before = walk(tmp_path)
    file.write_text("one\ntwo\n")
    assert changed_files(before) == []


def test_a_log_that_shrank_or_is_new_is_reported(tmp_path: Path) -> None:
    file = tmp_path / "ci.log"
    file.write_text("one\n")
    before = walk(tmp_path)
    file.write_text("")
    (tmp_path / "new.log").write_text("one\n")
    assert sorted(line.split()[1] for line in changed_files(before) if ".log" in line) == ["changed:", "new:"]


def test_a_log_whose_mode_changed_is_reported(tmp_path: Path) -> None:
    file = tmp_path / "ci.log"
    file.write_text("one\n")
    before = walk(tmp_path)
    file.write_text("one\ntwo\n")
    file.chmod(0o777)
    assert len(changed_files(before)) == 1


def test_the_file_that_this_run_prints_to_is_not_reported(tmp_path: Path) -> None:
    with (tmp_path / "out.txt").open("w") as file:
        print("one", file=file, flush=True)
        before = walk(tmp_path)
        print("two", file=file, flush=True)
        assert changed_files(before) == []


def test_a_file_that_a_child_of_this_run_writes_is_reported(tmp_path: Path) -> None:
    with (tmp_path / "out.txt").open("w") as file:
        argv = ["sh", "-c", "echo one; read line; echo two; echo ready >&2; read line"]
        child = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=file, stderr=subprocess.PIPE, text=True)
    assert child.stdin and child.stderr
    while not (tmp_path / "out.txt").stat().st_size:
        pass
    before = walk(tmp_path)
    print(file=child.stdin, flush=True)
    child.stderr.readline()
    assert len(changed_files(before)) == 1
    child.communicate("\n")


def cgroups(*names: str) -> Fingerprint:
    empty: frozenset[str] = frozenset()
    return Fingerprint(empty, empty, frozenset(f"/sys/fs/cgroup/{name}" for name in names), empty)


def test_cgroups_of_the_machines_services_come_and_go() -> None:
    assert cgroups("system.slice/a.service").changes_to(cgroups("system.slice/b.service")) == []


def test_a_host_s_cgroup_that_stays_without_a_process_is_reported() -> None:
    assert cgroups().changes_to(cgroups("flexkit-host-0/host")) == ["cgroups: new: /sys/fs/cgroup/flexkit-host-0/host"]
