"""Stamping: blocks of scripts hold their library files, generated files hold the tables, --check tells what differs."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from pyhelpers import contract, errors
from pyhelpers.stamp.blocks import StampError, body, stamp
from pyhelpers.stamp.command import CHECKOUT, main
from pyhelpers.stamp.generate import constants, documents, libraries

SCRIPT = "#!/bin/sh\n# >>> lib/a.sh\nold\n# <<< lib/a.sh\nmain\n"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A small checkout with one stamped script, in step."""
    (tmp_path / "scripts/lib").mkdir(parents=True)
    (tmp_path / "scripts/lib/a.sh").write_text("# shellcheck shell=sh\n# a.sh: one.\na() { :; }\n")
    (tmp_path / "scripts/x.sh").write_text(SCRIPT)
    assert main([], tmp_path) == 0
    return tmp_path


def test_a_block_is_replaced_by_its_library_and_the_rest_stays() -> None:
    text = stamp("x.sh", SCRIPT, {"a.sh": "a() { :; }\n"})
    assert text == "#!/bin/sh\n# >>> lib/a.sh\na() { :; }\n# <<< lib/a.sh\nmain\n"


def test_every_script_can_be_run_as_it_is() -> None:
    scripts = sorted((CHECKOUT / "scripts").glob("*.sh"))
    assert [(path.name, path.stat().st_mode & 0o777) for path in scripts] == [
        (name, 0o755) for name in ("bootstrap.sh", "install.sh", "uninstall.sh")
    ]


def test_stamping_twice_changes_nothing() -> None:
    once = stamp("x.sh", SCRIPT, {"a.sh": "a() { :; }\n"})
    assert stamp("x.sh", once, {"a.sh": "a() { :; }\n"}) == once


def test_the_library_s_own_header_lines_stay_out_and_its_other_directives_stay_in() -> None:
    library = (
        "#!/bin/sh\n# shellcheck shell=sh\n# a.sh: what it is.\n\n# shellcheck disable=SC2034 # reason\na() { b=1; }\n"
    )
    assert body(library) == "# a.sh: what it is.\n\n# shellcheck disable=SC2034 # reason\na() { b=1; }\n"


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("# >>> lib/none.sh\n# <<< lib/none.sh\n", "x.sh:1: there is no lib/none.sh"),
        ("# >>> lib/a.sh\nmain\n", "x.sh: lib/a.sh is begun and never ends"),
        ("main\n# <<< lib/a.sh\n", "x.sh:2: end of lib/a.sh, but lib/nothing was begun"),
        ("# >>> lib/a.sh\n# <<< lib/b.sh\n", "x.sh:2: end of lib/b.sh, but lib/a.sh was begun"),
        ("# >>> lib/a.sh\n# >>> lib/b.sh\n", "x.sh:2: lib/b.sh begins inside lib/a.sh"),
        ("# >>> lib/a.sh\n# <<< lib/a.sh\n# >>> lib/a.sh\n# <<< lib/a.sh\n", "x.sh:3: lib/a.sh is there twice"),
    ],
)
def test_wrong_markers_are_an_error_that_says_where(script: str, message: str) -> None:
    with pytest.raises(StampError) as error:
        stamp("x.sh", script, {"a.sh": "a\n", "b.sh": "b\n"})
    assert str(error.value) == message


def test_check_is_silent_when_all_is_in_step(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main(["--check"], checkout) == 0
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("name", ["scripts/x.sh", "scripts/lib/contract.sh", "docs/options.md"])
def test_check_names_what_is_out_of_step_and_changes_nothing(
    checkout: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    edited = (checkout / name).read_text().replace("a() { :; }", "a() { false; }").replace("/opt/", "/usr/")
    edited = edited.replace("| option |", "| Option |")
    (checkout / name).write_text(edited)
    capsys.readouterr()
    assert main(["--check"], checkout) == 1
    assert capsys.readouterr().err == f"stamp: {name} is out of step; run make scripts\n"
    assert (checkout / name).read_text() == edited


def test_check_names_a_generated_file_that_is_missing(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (checkout / "scripts/lib/errors.sh").unlink()
    assert main(["--check"], checkout) == 1
    assert "scripts/lib/errors.sh is out of step" in capsys.readouterr().err


def test_wrong_markers_in_a_checkout_write_nothing(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.rmtree(checkout / "docs")
    (checkout / "scripts/x.sh").write_text("# >>> lib/a.sh\n")
    assert main([], checkout) == 1
    assert capsys.readouterr().err == "stamp: error: scripts/x.sh: lib/a.sh is begun and never ends\n"
    assert not (checkout / "docs").exists()


def test_this_checkout_is_in_step(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--check"], CHECKOUT) == 0, capsys.readouterr().err


def test_every_text_number_and_word_list_of_the_contract_is_a_constant() -> None:
    made = constants(contract)
    assert made["FLEXNODE_HOST_ROOT"] == contract.HOST_ROOT
    assert made["FLEXNODE_ARCHIVE_LIMIT_MIB"] == str(contract.ARCHIVE_LIMIT_MIB)
    assert made["FLEXNODE_SLOTS"] == "blue green"
    assert "FLEXNODE_INSTALL_OPTIONS" not in made


def test_every_error_stands_in_the_shell_table_and_in_both_documents() -> None:
    pages = documents()
    for error in errors.ERRORS:
        assert f"{error.id}) printf" in libraries()["errors.sh"]
        assert f"| `{error.id}` | {error.exit_code} | {error.meaning} |" in pages["errors.md"]
        assert f"`{error.id}`" in pages["exit-codes.md"]


def test_every_option_and_its_variable_stand_in_the_document() -> None:
    page = documents()["options.md"]
    for options in contract.OPTIONS.values():
        for option in options:
            row = next(line for line in page.splitlines() if f"`{option.name}`" in line and option.help in line)
            assert not option.env or f"`{option.env}`" in row
