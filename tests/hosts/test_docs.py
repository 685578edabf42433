"""The example of docs/hosts.md, run as it stands there."""

from __future__ import annotations

import subprocess
from pathlib import Path

from pyhelpers.testhost import names

PROJECT = Path(__file__).resolve().parents[2]
HOST = "mynode"  # the name that the example uses


def test_the_example_of_a_bootstrap_in_a_host_works_as_it_stands() -> None:
    block = (PROJECT / "docs/hosts.md").read_text().partition("```sh\n")[2].partition("```")[0]
    assert HOST not in names.all_names(), f"the example needs this name: flexkit host down {HOST}"
    try:
        done = subprocess.run(
            ["bash", "-e", "-c", block], cwd=PROJECT, capture_output=True, text=True, timeout=180, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert "aks-flex-node-agent.service: active (running), enabled" in done.stdout
        assert HOST not in names.all_names()
    finally:
        if HOST in names.all_names():
            subprocess.run([PROJECT / ".venv/bin/flexkit", "host", "down", HOST], check=True)
