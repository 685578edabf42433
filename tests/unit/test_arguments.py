"""What a subcommand refuses before anything runs: exit code 2, one line that says what is wrong."""

from __future__ import annotations

import re

import pytest

from pyhelpers import cli


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("try --size bogus /bin/true", "'bogus' is no size; sizes look like 512m or 1g"),
        ("host up --size bogus", "'bogus' is no size; sizes look like 512m or 1g"),
        ("sandbox --size abc -- true", "'abc' is no size; sizes look like 512m or 1g"),
        ("host up --bind /nosuch", "there is no /nosuch to show"),
        ("host up --bind /etc:etc", "TARGET is no absolute path: etc"),
        ("host up --base /nosuch", "/nosuch is no directory"),
        ("try --tar /nosuch/x.tar /bin/true", "/nosuch/x.tar cannot be written"),
        ("try", "arguments are required: INSTALLER\n"),
        ("try --timeout 0 /bin/true", "'0' is no number of seconds above 0"),
        ("test --jobs 0", "'0' is no number above 0"),
        ("mutants --jobs x", "'x' is no number above 0"),
    ],
)
def test_a_wrong_argument_is_a_usage_error_of_one_line(
    call: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        cli.main(call.split())
    error = capsys.readouterr().err
    assert end.value.code == 2
    assert said in error.splitlines(keepends=True)[-1]
    assert "Traceback" not in error


@pytest.mark.parametrize("command", ["up", "exec", "reboot", "cut", "diff", "down"])
def test_each_host_command_says_what_it_does_and_what_its_name_is(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        cli.main(["host", command, "--help"])
    usage, description, *rest = capsys.readouterr().out.split("\n\n")
    assert "CMD [-- CMD" not in usage
    assert description.endswith(".")
    assert re.search(r"^  NAME +\S", "\n".join(rest), re.MULTILINE)
