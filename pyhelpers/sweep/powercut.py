"""What a disk can hold after the power went, by the order of changes and syncs alone. Pure: a trace in, sentences out.

A kill loses nothing that was written; a power cut loses what no sync has put on the disk, in any order. So between
two calls any of the names that changed since may have its old meaning, and the content of any file that was not synced
may be what it was before, or nothing. File systems are kinder than that, but each in its own way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from pyhelpers.sweep.image import Image, Node, is_temporary

GONE_ANYWAY = ("/run/", "/tmp/", "/dev/shm/")  # in memory
Parent = int | str  # a directory by its number; one that the trace does not change by its path
Entry = tuple[Parent, str]


class Step(NamedTuple):
    """One call. before: the tree when it was made; sync: what it puts on the disk ("" everything), None: no sync."""

    call: str
    before: Image
    sync: str | None


@dataclass(frozen=True)
class Trace:
    """All calls of a run, and the tree at its end."""

    steps: Sequence[Step]
    end: Image

    def without_syncs(self) -> Trace:
        """The same run, had nobody synced anything."""
        return Trace([step for step in self.steps if step.sync is None], self.end)


Names = Mapping[Entry, int | None]  # what one call made of names: a file's number, None: nothing


def names(image: Image) -> dict[Entry, int]:
    """The entries of all directories."""
    found: dict[Entry, int] = {}
    for path, node in image.items():
        if node is None or path.startswith(GONE_ANYWAY):
            continue
        above, _, name = path.rpartition("/")
        parent = image.get(above)
        found[(parent.number if parent else above or "/", name)] = node.number
    return found


def nodes(image: Image) -> dict[int, Node]:
    """The files themselves."""
    return {node.number: node for path, node in image.items() if node and not path.startswith(GONE_ANYWAY)}


@dataclass
class Disk:
    """What is on the disk for certain, and what may be."""

    entries: dict[Entry, int]
    files: dict[int, Node]
    names: list[Names] = field(default_factory=list)  # changes of names since, oldest first
    contents: dict[int, Node] = field(default_factory=dict)  # files as they would be with all that was written

    @classmethod
    def of(cls, image: Image) -> Disk:
        """A disk on which everything is certain."""
        return cls(names(image), nodes(image))

    def change(self, before: Image, after: Image) -> bool:
        """A call that is no sync made AFTER of BEFORE -> whether more than temporary files can be different for it."""
        old, new = names(before), names(after)
        changed = {entry: new.get(entry) for entry in old.keys() | new.keys() if old.get(entry) != new.get(entry)}
        if changed:
            self.names.append(changed)
        was = nodes(before)
        for number, node in nodes(after).items():
            if was.get(number) != node:
                self.contents[number] = node
            if number not in was:  # nothing is in it yet, as far as the disk knows
                self.files[number] = node if node.kind != "file" else node._replace(data=b"")
        paths = before.keys() | after.keys()
        return any(before.get(path) != after.get(path) and not is_temporary(path) for path in paths)

    def sync(self, path: str, image: Image) -> None:
        """PATH, as IMAGE shows it, is put on the disk; a rename is there when the directory of its new name is."""
        node = image.get(path)
        if not path:
            self.files |= self.contents
            self.contents.clear()
        elif node is not None and node.number in self.contents:
            self.files[node.number] = self.contents.pop(node.number)
        parent: Parent = node.number if node is not None else path
        rest = []
        for changed in self.names:
            places = {entry[0] for entry, number in changed.items() if number is not None} or {e[0] for e in changed}
            if not path or parent in places:
                apply(self.entries, changed)
            else:
                rest.append(changed)
        self.names = rest

    def states(self) -> Iterator[dict[str, Node | None]]:
        """What may be found after a power cut now: all or nothing, and each thing alone made or missed."""
        indices = range(len(self.names))
        every = set(indices)
        choices = [set[int](), every, *({i} for i in indices), *(every - {i} for i in indices)]
        lost = [set[int](), set(self.contents)]
        for chosen in choices:
            for missing in lost:
                yield self._state(chosen, missing)
        for number in self.contents:
            yield self._state(every, {number})

    def _state(self, chosen: set[int], missing: set[int]) -> dict[str, Node | None]:
        entries = dict(self.entries)
        for index in sorted(chosen):
            apply(entries, self.names[index])
        files = self.files | {number: node for number, node in self.contents.items() if number not in missing}
        return tree(entries, files)


def apply(entries: dict[Entry, int], changed: Names) -> None:
    """Let a change of names happen."""
    for entry, number in changed.items():
        if number is None:
            entries.pop(entry, None)
        else:
            entries[entry] = number


def tree(entries: Mapping[Entry, int], files: Mapping[int, Node]) -> dict[str, Node | None]:
    """The paths that can be reached."""
    below: dict[Parent, list[tuple[str, int]]] = {}
    for (parent, name), number in entries.items():
        below.setdefault(parent, []).append((name, number))
    found: dict[str, Node | None] = {}

    def enter(path: str, parent: Parent) -> None:
        for name, number in below.get(parent, ()):
            where = f"{path}/{name}"
            found[where] = files[number]
            enter(where, number)

    for parent in below:
        if isinstance(parent, str):
            enter(parent.rstrip("/"), parent)
    return found


class Verdict(NamedTuple):
    """states: how many were looked at; faults: what does not hold, each with the first call after which it may not."""

    states: int
    faults: list[str]


def judge(trace: Trace, instant: Callable[[Image], list[str]], end: Callable[[Image], list[str]]) -> Verdict:
    """Cut the power before every call and after the last, but where only a temporary file has changed since.

    instant: what does not hold of an image; end: the same for the time after the run, which has said that it is done.
    """
    disk = Disk.of(trace.steps[0].before if trace.steps else trace.end)
    count, faults = 0, dict[str, str]()

    def look(wrong: Callable[[Image], list[str]], where: str) -> None:
        nonlocal count
        for state in disk.states():
            count += 1
            for fault in wrong(state):
                faults.setdefault(fault, where)

    changed = True
    for position, step in enumerate(trace.steps):
        if changed:
            look(instant, f"before {step.call}")
        if step.sync is not None:
            disk.sync(step.sync, step.before)
            changed = True
        else:
            last = position + 1 == len(trace.steps)
            changed = disk.change(step.before, trace.end if last else trace.steps[position + 1].before)
    look(lambda state: instant(state) + end(state), "at the end")
    return Verdict(count, [f"{where}: {fault}" for fault, where in faults.items()])
