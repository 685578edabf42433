"""Paths that a boot of any clone changes, so that a difference says nothing about what was run. At most ten.

Each is seen in a control boot without an install too (tests/hosts/test_host.py shows it).
"""

from __future__ import annotations

# pattern (see pyhelpers.tree) -> why a mere boot changes it
REASONS: dict[str, str] = {
    "/var/tmp/systemd-private-*/**": "PrivateTmp= of the host's own units while they run",
}
IGNORED = tuple(REASONS)
