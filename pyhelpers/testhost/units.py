"""What a clone starts: an allow-list. All else that the machine would start is taken out of the clone's own layer.

A clone must not run the machine's database, timers or cron jobs, and must reach `running`, not `degraded`.
"""

from __future__ import annotations

import fnmatch
from pathlib import Path

UNIT_DIRS = ("etc/systemd/system", "usr/local/lib/systemd/system", "usr/lib/systemd/system", "lib/systemd/system")
GENERATOR_DIRS = tuple(f"{top}/systemd/system-generators" for top in ("etc", "usr/local/lib", "usr/lib", "lib"))
# Links that stay in *.wants, *.requires and *.upholds, and why.
ALLOWED_UNITS = (
    "dbus.service",  # systemd-run --wait talks to it
    "dbus.socket",
    "dbus-broker.service",
    "systemd-journald*",  # journalctl
    "systemd-logind.service",
    "systemd-user-sessions.service",
    "systemd-tmpfiles-setup*.service",  # /run and /var as the packages want them
    "systemd-tmpfiles-clean.timer",
    "systemd-sysctl.service",  # what an installer puts in sysctl.d
    "systemd-sysusers.service",
    "machines.target",  # systemd-nspawn@.service is wanted by it
)
ALLOWED_GENERATORS = ("systemd-fstab-generator", "systemd-sysv-generator")
CRON = ("etc/cron.d", "etc/cron.hourly", "etc/cron.daily", "etc/cron.weekly", "etc/cron.monthly", "var/spool/cron")


def is_allowed(unit: str) -> bool:
    """Whether a link to UNIT stays."""
    return any(fnmatch.fnmatchcase(unit, pattern) for pattern in ALLOWED_UNITS)


def restrict(root: Path) -> None:
    """Take out of ROOT everything that would be started and is not allowed."""
    for unit_dir in _real(root, UNIT_DIRS):
        for kind in ("wants", "requires", "upholds"):
            for link in unit_dir.glob(f"*.{kind}/*"):
                if not is_allowed(link.name):
                    link.unlink()
    for generator_dir in _real(root, GENERATOR_DIRS):
        for generator in generator_dir.iterdir():
            if generator.name not in ALLOWED_GENERATORS:
                generator.unlink()
    for link in root.glob("etc/rc?.d/*"):
        link.unlink()
    for directory in CRON:
        for job in (root / directory).rglob("*"):
            if not job.is_dir() or job.is_symlink():
                job.unlink()
    for name in ("etc/crontab", "etc/fstab"):
        if (root / name).is_file():
            (root / name).write_text("")


def start_multi_user(root: Path) -> None:
    """Boot to multi-user.target, whatever the machine's default is, so that WantedBy= of it holds."""
    default = root / "etc/systemd/system/default.target"
    default.parent.mkdir(parents=True, exist_ok=True)
    default.unlink(missing_ok=True)
    default.symlink_to("/usr/lib/systemd/system/multi-user.target")


def _real(root: Path, names: tuple[str, ...]) -> list[Path]:
    """The directories NAMES below ROOT that are there and not reached through a link (/lib is one to /usr/lib)."""
    found = []
    for name in names:
        directory = root / name
        ways = [directory, *directory.parents[: len(Path(name).parts) - 1]]
        if directory.is_dir() and not any(way.is_symlink() for way in ways):
            found.append(directory)
    return found
