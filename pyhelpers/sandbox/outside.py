"""Whether anything outside changed while tests ran: the check that does not trust the sandbox.

`Fingerprint` is cheap and for each test: mounts, network links, cgroups, and processes that descend from this one
(orphans too, since taking one makes this process their reaper) in its own pid namespace. `Walk` adds every file of
every real file system, by what `lstat` says of it, and is for once per suite.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import ctypes
import os
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from pyhelpers.sandbox import mounts

PROJECT = Path(__file__).resolve().parents[2]
_PR_SET_CHILD_SUBREAPER = 36
# What may change at any time and says nothing about a test: the project's own products, logs, caches, scratch space.
SKIP = (
    *(str(PROJECT / name) for name in ("build", ".git", ".venv", ".mypy_cache", ".ruff_cache", ".pytest_cache")),
    *("/run", "/tmp", "/var/tmp", "/var/log", "/var/cache", "/root/.cache", "*/__pycache__"),
    tempfile.gettempdir(),
)
FORMAT = r"%p\t%y %m %U:%G %s %T@ %C@ %l\0"


class Fingerprint(NamedTuple):
    """The state of the machine but for its files; each set holds lines that a person can read."""

    mounts: frozenset[str]
    links: frozenset[str]
    cgroups: frozenset[str]
    processes: frozenset[str]

    @classmethod
    def take(cls, cgroups: bool = True) -> Fingerprint:
        """The state now, without cgroups if so asked. Makes this process the reaper of its orphaned descendants."""
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        table = mounts.parse(Path("/proc/self/mountinfo").read_text(errors="surrogateescape"))
        links = os.listdir("/sys/class/net") if os.path.isdir("/sys/class/net") else []  # noqa: PTH112, PTH208
        return cls(
            frozenset(f"{mount.kind} on {mount.point} ({','.join(sorted(mount.options))})" for mount in table),
            frozenset(links),
            frozenset(folder for folder, _, _ in os.walk("/sys/fs/cgroup")) if cgroups else frozenset(),
            frozenset(_descendants()),
        )

    def changes_since(self) -> list[str]:
        """What is different now, one line for each thing."""
        return self.changes_to(Fingerprint.take())

    def changes_to(self, now: Fingerprint) -> list[str]:
        """What is different in a later one."""
        found = []
        for kind, before, after in zip(self._fields, self, now, strict=True):
            new = sorted(after - before)
            if kind == "cgroups":  # those of the machine's services come and go
                new = [line for line in new if "/flexkit-" in line and not _is_of_another_run(line)]
            found += [f"{kind}: new: {line}" for line in new]
            if kind in ("mounts", "links"):  # a process that ended is no leak
                found += [f"{kind}: gone: {line}" for line in sorted(before - after)]
        return found


def _is_of_another_run(cgroup: str) -> bool:
    """Whether processes live in the host that this cgroup is of, and none of them descends from this one."""
    above, _, below = cgroup.partition("/flexkit-")
    pids: set[str] = set()
    for folder, _, _ in os.walk(f"{above}/flexkit-{below.partition('/')[0]}"):
        with contextlib.suppress(OSError):  # gone meanwhile
            pids.update(Path(folder, "cgroup.procs").read_text().split())
    return bool(pids) and pids.isdisjoint(line.partition(" ")[0] for line in _descendants())


def _descendants() -> list[str]:
    """Processes below this one that share its pid namespace; those within sandboxes and hosts do not."""
    own, space = os.getpid(), _pid_namespace(os.getpid())
    parents: dict[int, tuple[int, str, str]] = {}
    for name in filter(str.isdigit, os.listdir("/proc")):  # noqa: PTH208
        try:
            with open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123 - hundreds for each test
                text = file.read().decode(errors="replace")
        except (FileNotFoundError, ProcessLookupError):
            continue
        command, _, rest = text.partition("(")[2].rpartition(")")
        state, parent, *_ = rest.split()
        parents[int(name)] = (int(parent), state, command)
    below = {own}
    for pid in sorted(parents):  # a parent may have the higher number, so look upwards from each
        chain = [pid]
        while chain[-1] in parents and chain[-1] not in below:
            chain.append(parents[chain[-1]][0])
        if chain[-1] in below:
            below.update(chain)
    living = (pid for pid in below - {own} if parents[pid][1] not in "ZX")
    return [f"{pid} {parents[pid][2]}" for pid in living if _pid_namespace(pid) == space]


def _pid_namespace(pid: int) -> str:
    try:
        return os.readlink(f"/proc/{pid}/ns/pid")  # noqa: PTH115 - it is no path
    except (FileNotFoundError, ProcessLookupError):
        return "gone"


class Walk(NamedTuple):
    """A fingerprint and what `lstat` says of every file outside; access times do not count."""

    fingerprint: Fingerprint
    files: dict[str, bytes]

    @classmethod
    def take(cls, skip: Iterable[str] = SKIP, roots: Sequence[str] = ()) -> Walk:
        """Look at everything now. roots: the directories to walk; every real file system when left out."""
        places = list(roots) or [place for top in _file_systems() for place in _parts(top, skip)]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as workers:
            texts = workers.map(lambda place: _find(place, skip), places)
            return cls(Fingerprint.take(), dict(zip(places, texts, strict=True)))

    def changes_since(self, skip: Iterable[str] = SKIP) -> list[str]:
        """What is different now, one line for each thing."""
        now = Walk.take(skip, list(self.files))
        found = self.fingerprint.changes_since()
        for place, text in self.files.items():
            if text != now.files[place]:
                found += _changed(_lines(text), _lines(now.files[place]))
        return found


def _file_systems() -> list[str]:
    """Where the real file systems are mounted."""
    table = mounts.plan(mounts.parse(Path("/proc/self/mountinfo").read_text(errors="surrogateescape")))
    return ["/", *(plan.point for plan in table if plan.overlay)]


def _parts(top: str, skip: Iterable[str]) -> list[str]:
    """Pieces of a file system to walk at the same time."""
    skipped = set(skip)
    device = os.lstat(top).st_dev
    folders = [entry for entry in os.scandir(top) if entry.is_dir(follow_symlinks=False)]
    same = [entry.path for entry in folders if entry.stat(follow_symlinks=False).st_dev == device]
    return [f"{top.rstrip('/')}/.", *sorted(path for path in same if path not in skipped)]


def _find(place: str, skip: Iterable[str]) -> bytes:
    """find(1) is ten times as fast as a walk in Python. A place that ends in `/.` is walked without its folders."""
    only = ["-maxdepth", "1", "!", "-type", "d"] if place.endswith("/.") else []
    prune = [word for pattern in skip for word in ("-path", pattern, "-prune", "-o")]
    argv = ["find", place, "-xdev", *(only[:2]), *prune, *(only[2:]), "-printf", FORMAT]
    return subprocess.run(argv, check=False, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout


def _lines(text: bytes) -> dict[bytes, bytes]:
    pairs = (line.partition(b"\t") for line in text.split(b"\0") if line)
    return {path: rest for path, _, rest in pairs}


def _changed(before: dict[bytes, bytes], after: dict[bytes, bytes]) -> list[str]:
    found = []
    for path in sorted(before.keys() | after.keys()):
        was, now = before.get(path), after.get(path)
        if was != now and not _is_log(path, was, now):
            kind = "new" if was is None else "gone" if now is None else "changed"
            what = b" -> ".join(part for part in (was, now) if part is not None).decode(errors="replace")
            found.append(f"files: {kind}: {os.fsdecode(path)} ({what})")
    return found


def _is_log(path: bytes, was: bytes | None, now: bytes | None) -> bool:
    """A file that only grew and is somebody else's log: `make test >FILE`, or a CI that keeps what this run prints."""
    if was is None or now is None:
        return False
    before, after = was.split(b" "), now.split(b" ")
    grew = before[0] == b"f" and before[:3] == after[:3] and int(before[3]) < int(after[3])
    return grew and (path.endswith(b".log") or _is_held_open(path))


def _is_held_open(path: bytes) -> bool:
    """Whether a process that does not descend from this one has the file open for writing."""
    mine = {int(line.partition(" ")[0]) for line in _descendants()}
    for descriptor in Path("/proc").glob("[0-9]*/fd/*"):
        try:
            if int(descriptor.parts[2]) not in mine and descriptor.samefile(os.fsdecode(path)):
                flags = (descriptor.parents[1] / "fdinfo" / descriptor.name).read_text().split("flags:")[1].split()[0]
                if int(flags, 8) & os.O_ACCMODE:
                    return True
        except OSError:  # it, or its process, is gone
            continue
    return False
