"""Reading TAP: nothing that bats prints, or does not print, is taken for a pass."""

from pyhelpers.suites import tap

OUTPUT = """1..3
ok 1 one is fine in 10ms
not ok 2 two # fails in 8ms
# (in test file x.bats, line 2)
# hi
ok 3 three in 11ms # skip no reason
"""


def test_names_times_and_outcomes_are_read() -> None:
    cases = tap.parse(OUTPUT, "x.bats")
    assert [(c.name, c.outcome, c.seconds) for c in cases] == [
        ("one is fine", "passed", 0.010),
        ("two # fails", "failed", 0.008),
        ("three", "skipped", 0.011),
    ]


def test_diagnostics_belong_to_the_failed_test_above_them() -> None:
    assert "hi" in tap.parse(OUTPUT, "x.bats")[1].message


def test_the_reason_of_a_skip_is_kept() -> None:
    assert tap.parse(OUTPUT, "x.bats")[2].message == "no reason"


def test_a_file_that_stops_early_is_a_failure() -> None:
    cases = tap.parse(OUTPUT.rsplit("ok 3", 1)[0], "x.bats")
    assert cases[-1].outcome == "failed" and "2 of 3" in cases[-1].message


def test_output_without_a_plan_is_a_failure() -> None:
    assert tap.parse("bats: not found\n", "x.bats")[-1].outcome == "failed"
