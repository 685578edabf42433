"""How `flexkit try` gets an installer and calls it."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyhelpers.testhost import trial


@pytest.mark.parametrize("content", [b"#!/usr/bin/env python3\n", b"\x7fELF\x02"])
def test_what_the_kernel_can_run_is_run_itself(content: bytes) -> None:
    assert trial.command(content, "/run/x", ["a b"]) == ["/run/x", "a b"]


@pytest.mark.parametrize("content", [b"", b"echo hi\n", b"\n#!/bin/sh\n"])
def test_anything_else_is_a_shell_script(content: bytes) -> None:
    assert trial.command(content, "/run/x", ["a"]) == ["/bin/sh", "/run/x", "a"]


def test_a_missing_file_is_one_line_and_no_host_is_started(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert trial.main([str(tmp_path / "none.sh")]) == 125
    error = capsys.readouterr().err
    assert error.startswith("flexkit try: ")
    assert error.count("\n") == 1
    assert "none.sh" in error


def test_options_of_the_installer_are_not_ours(tmp_path: Path) -> None:
    options = trial._parser().parse_args(["--network", "x.sh", "--keep", "--", "-y"])
    assert (options.network, options.keep, options.installer, options.args) == (
        True,
        False,
        "x.sh",
        ["--keep", "--", "-y"],
    )


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/x.sh", "http://[bad", "http://"])
def test_a_url_that_cannot_be_fetched_is_one_clear_line(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert trial.main([url]) == 125
    error = capsys.readouterr().err
    assert error.startswith(f"flexkit try: {url} cannot be fetched: ")
    assert error.count("\n") == 1
    assert "urlopen" not in error
