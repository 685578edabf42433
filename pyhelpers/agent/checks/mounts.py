"""Which mount holds a path, and what it says in a message: the evidence beside "cannot be written"."""

from __future__ import annotations

from pyhelpers.host import Host, Mount


def of(host: Host, path: str) -> Mount | None:
    """The mount that holds `path` (a real path, without links); of several on one place the last covers the others."""
    holding = [m for m in host.mounts() if path == m.path or path.startswith(m.path.rstrip("/") + "/")]
    longest = max((len(m.path) for m in holding), default=0)
    return next((m for m in reversed(holding) if len(m.path) == longest), None)


def evidence(mount: Mount | None) -> str:
    """`/usr is mounted from /dev/sda1 (ext4, ro, noexec)`; "" when the mount is not known."""
    if mount is None:
        return ""
    traits = [mount.kind, *(o for o in ("ro", "noexec") if o in mount.options)]
    return f"{mount.path} is mounted from {mount.source or 'none'} ({', '.join(traits)})"
