"""Where and how a run is broken: every call, the likeliest errors or all of them, samples that span the run."""

from __future__ import annotations

import errno

from pyhelpers.sandbox.mutations import CALLS, OPENS, Call
from pyhelpers.sweep import points

CALL = [Call(number, "write", 1, f"/f{number}") for number in range(1, 101)]


def test_every_call_that_is_watched_has_a_kind_with_two_errors() -> None:
    for name in (*CALLS, *OPENS):
        assert len(set(points.errors(name, full=False))) == 2


def test_a_full_sweep_gives_each_call_all_seven_errors() -> None:
    wanted = {errno.ENOSPC, errno.EIO, errno.EROFS, errno.EDQUOT, errno.EACCES, errno.ETXTBSY, errno.EINTR}
    assert {point.error for point in points.of(CALL[0], full=True)} == wanted
    assert len(points.of(CALL[0], full=True)) == 7


def test_what_names_a_file_is_told_from_what_fills_it() -> None:
    assert [points.kind(name) for name in ("openat", "symlink", "renameat2", "rmdir", "pwrite64", "fchown")] == [
        "open", "make", "rename", "remove", "write", "attributes",
    ]  # fmt: skip


def test_a_sample_spans_the_whole_run() -> None:
    assert [call.number for call in points.sample(CALL, 3)] == [1, 51, 100]


def test_without_a_size_every_call_is_taken() -> None:
    assert points.sample(CALL, None) == CALL
    assert points.sample([], 5) == []


def test_a_point_says_what_is_done_at_which_call() -> None:
    assert str(points.Point(3, "mkdir", "/opt/x")) == "killed before call 3, mkdir /opt/x"
    assert str(points.Point(3, "mkdir", "/opt/x", errno.EIO)) == "EIO at call 3, mkdir /opt/x"
