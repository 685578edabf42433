"""Which two states have the same future, and which two ends are the same."""

from __future__ import annotations

from pyhelpers import contract
from pyhelpers.sweep import image
from pyhelpers.sweep.hosts import OWN
from tests.unit.sweep.trees import HOST_AGENT, agent, file, journal

STAGED = f"{contract.STAGING_DIR}/archive.tar"


def test_how_much_of_a_temporary_file_is_written_does_not_count_but_whether_is() -> None:
    assert image.key({STAGED: file(b"a")}) == image.key({STAGED: file(b"ab")})
    assert image.key({STAGED: file(b"a")}) != image.key({STAGED: file()})
    assert image.key({STAGED: file()}) != image.key({})


def test_every_byte_of_any_other_file_counts() -> None:
    assert image.key({HOST_AGENT: agent(b"a")}) != image.key({HOST_AGENT: agent(b"b")})
    assert image.key({contract.JOURNAL: journal(b"")}) != image.key({contract.JOURNAL: journal()})


def test_modes_and_owners_count() -> None:
    assert image.key({HOST_AGENT: agent()}) != image.key({HOST_AGENT: agent()._replace(mode=0o700)})
    assert image.key({HOST_AGENT: agent()}) != image.key({HOST_AGENT: agent()._replace(owner=(1, 0))})


def test_the_random_part_of_a_name_and_the_number_of_a_process_do_not_count() -> None:
    first, second = f"/opt/{contract.TEMP_PREFIX}probe.0123456789ab", f"/opt/{contract.TEMP_PREFIX}probe.ba9876543210"
    assert image.key({first: file()}) == image.key({second: file()})
    assert image.key({contract.LOCK: file(b"1")}) == image.key({contract.LOCK: file(b"2")})
    assert image.key({HOST_AGENT: agent(number=1)}) == image.key({HOST_AGENT: agent(number=2)})


def test_a_file_of_the_machine_that_is_gone_counts() -> None:
    assert image.key({"/etc/hosts": None}) != image.key({})


def test_the_end_of_a_run_is_the_same_however_the_journal_says_it_came_about() -> None:
    one, other = {contract.JOURNAL: journal()}, {contract.JOURNAL: journal(b"step|mkdir|0755|/opt|-\ndone\n")}
    assert image.outcome(one) == image.outcome(other)
    assert image.outcome(one) != image.outcome({})
    assert image.outcome({f"{OWN}/x": file()}) == image.outcome({}), "what is ours does not count"
