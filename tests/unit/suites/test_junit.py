"""JUnit in and out: what was read can be written and read again."""

from pathlib import Path

from pyhelpers.suites import junit
from pyhelpers.suites.case import Case, FileReport

CASES = [
    Case("f", "good", "passed", 0.5),
    Case("f", "bad", "failed", 0.25, "assert 1 == 2\x1b[0m"),
    Case("f", "not here", "skipped", 0.0, "needs a kernel"),
]


def test_a_written_report_reads_back_the_same(tmp_path: Path) -> None:
    junit.write(tmp_path / "sub" / "j.xml", [FileReport("f", 0.75, CASES)])
    back = junit.parse((tmp_path / "sub" / "j.xml").read_bytes(), "f")
    assert [(c.name, c.outcome, c.seconds) for c in back] == [(c.name, c.outcome, c.seconds) for c in CASES]


def test_control_characters_do_not_break_the_file(tmp_path: Path) -> None:
    junit.write(tmp_path / "j.xml", [FileReport("f", 0.75, CASES)])
    assert junit.parse((tmp_path / "j.xml").read_bytes(), "f")[1].message == "assert 1 == 2[0m"


def test_an_error_while_collecting_counts_as_a_failure() -> None:
    xml = b'<testsuite><testcase name="x"><error message="ImportError"/></testcase></testsuite>'
    assert junit.parse(xml, "f")[0].outcome == "failed"
