"""`python3 -m pyhelpers` is `flexkit`."""

from pyhelpers.cli import entry

entry()
