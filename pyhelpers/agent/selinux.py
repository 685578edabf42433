"""Labels of what we make, where SELinux is on. A label that cannot be set is a warning, not a failure."""

from __future__ import annotations

from collections.abc import Sequence

from pyhelpers.agent import log
from pyhelpers.host import Host

ENFORCE = "/sys/fs/selinux/enforce"  # there exactly while SELinux is enabled, enforcing or not


def relabel(host: Host, paths: Sequence[str]) -> None:
    """Give exactly these paths the label that the policy has for them."""
    if not paths or not host.present(ENFORCE):
        return
    done = host.run(["restorecon", *paths])
    if done.code:
        log.warning(f"cannot set the SELinux label of {', '.join(paths)}: {done.stderr.strip() or done.code}")
