"""The model of a power cut: what each kind of sync makes certain, and what stays open without it."""

from __future__ import annotations

from collections.abc import Sequence

from pyhelpers.sweep.image import Image, Node
from pyhelpers.sweep.powercut import Disk, Step, Trace, judge
from tests.unit.sweep.trees import file, folder

OLD, NEW = file(b"old", number=10), file(b"new", number=12)
EMPTY = file(b"", number=12)


def path_states(disk: Disk, path: str) -> set[bytes | None]:
    """What PATH can hold after a power cut; None: nothing."""
    found = set()
    for state in disk.states():
        node = state.get(path)
        found.add(node.data if node is not None else None)
    return found


def replayed(*images: Image, syncs: Sequence[str] = ()) -> Disk:
    """A disk that went through IMAGES, then was told to sync."""
    disk = Disk.of(images[0])
    for before, after in zip(images, images[1:], strict=False):
        disk.change(before, after)
    for path in syncs:
        disk.sync(path, images[-1])
    return disk


def test_a_new_file_may_be_there_whole_or_empty_or_not_at_all() -> None:
    assert path_states(replayed({}, {"/a": EMPTY}, {"/a": NEW}), "/a") == {None, b"", b"new"}


def test_a_synced_file_is_whole_but_its_name_may_be_missing() -> None:
    assert path_states(replayed({}, {"/a": NEW}, syncs=["/a"]), "/a") == {None, b"new"}


def test_a_synced_directory_has_the_name_but_the_file_may_be_empty() -> None:
    assert path_states(replayed({}, {"/a": NEW}, syncs=["/"]), "/a") == {b"", b"new"}


def test_both_syncs_leave_nothing_open() -> None:
    assert path_states(replayed({}, {"/a": NEW}, syncs=["/a", "/"]), "/a") == {b"new"}


def test_a_sync_of_everything_leaves_nothing_open() -> None:
    assert path_states(replayed({}, {"/a": NEW}, syncs=[""]), "/a") == {b"new"}


def test_a_rename_over_a_file_without_a_sync_may_leave_an_empty_one() -> None:
    images: list[dict[str, Node | None]] = [{"/a": OLD}, {"/a": OLD, "/b": NEW}, {"/a": NEW}]
    assert path_states(replayed(*images), "/a") == {b"old", b"", b"new"}
    disk = replayed(*images[:2], syncs=["/b"])
    disk.change(images[1], images[2])
    assert path_states(disk, "/a") == {b"old", b"new"}


def test_a_file_that_was_synced_once_has_its_old_content_not_none() -> None:
    grown = OLD._replace(data=b"older")
    assert path_states(replayed({"/a": OLD}, {"/a": grown}), "/a") == {b"old", b"older"}


def test_two_removals_may_come_in_either_order() -> None:
    disk = replayed({"/a": OLD, "/b": NEW}, {"/b": NEW}, {})
    found = {tuple(sorted(state)) for state in disk.states()}
    assert found == {(), ("/a",), ("/b",), ("/a", "/b")}


def test_what_is_in_a_directory_that_is_lost_is_lost_too() -> None:
    disk = replayed({}, {"/d": folder(3)}, {"/d": folder(3), "/d/a": NEW})
    disk.sync("/d/a", {"/d": folder(3), "/d/a": NEW})
    disk.sync("/d", {"/d": folder(3), "/d/a": NEW})
    assert path_states(disk, "/d/a") == {None, b"new"}
    disk.sync("/", {"/d": folder(3), "/d/a": NEW})
    assert path_states(disk, "/d/a") == {b"new"}


def test_a_renamed_directory_takes_what_is_in_it_along() -> None:
    before: dict[str, Node | None] = {"/d": folder(3), "/d/a": NEW}
    disk = replayed(before, {"/e": folder(3), "/e/a": NEW})
    assert path_states(disk, "/e/a") == {None, b"new"}
    assert all(("/d/a" in state) != ("/e/a" in state) for state in disk.states())


def test_what_lies_in_memory_is_never_on_the_disk() -> None:
    assert all(state == {} for state in replayed({}, {"/run/lock": NEW}, {"/run/lock": NEW, "/tmp/x": OLD}).states())


def written(*, sync: bool) -> Trace:
    """A file that is written beside the old one, synced or not, and renamed over it; then the directory is synced."""
    start: dict[str, Node | None] = {"/a": OLD}
    beside = {"/a": OLD, "/b": NEW}
    steps = [Step("write /b", start, None), Step("rename /a", beside, None), Step("fsync /", {"/a": NEW}, "/")]
    if sync:
        steps.insert(1, Step("fsync /b", beside, "/b"))
    return Trace(steps, {"/a": NEW})


def never_empty(state: Image) -> list[str]:
    node = state.get("/a")
    return [] if node is not None and node.data else ["/a is empty"]


def is_new(state: Image) -> list[str]:
    return [] if state["/a"] == NEW else ["/a is old"]


def test_a_run_with_its_syncs_is_sound() -> None:
    verdict = judge(written(sync=True), never_empty, is_new)
    assert verdict.faults == []
    assert verdict.states > 5


def test_a_missing_sync_is_found_with_the_first_call_after_which_it_shows() -> None:
    assert "before fsync /: /a is empty" in judge(written(sync=False), never_empty, is_new).faults


def test_without_any_sync_nothing_lasts() -> None:
    faults = judge(written(sync=True).without_syncs(), never_empty, is_new).faults
    assert set(faults) == {"at the end: /a is empty", "at the end: /a is old"}
