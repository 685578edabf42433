"""Changes random trees through an overlay, run in a private mount namespace by test_diff.py.

argv: a directory to mount on, the first seed, how many. Prints one JSON object: how many changes there were in all,
and for each seed where `diff.changes` differs from a comparison of snapshots, what each of them says.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import stat
import sys
from collections.abc import Callable
from pathlib import Path

from pyhelpers.sandbox import diff, kernel
from pyhelpers.sandbox.jail import OVERLAY
from pyhelpers.tree import compare, snapshot


def grow(root: Path, rnd: random.Random, count: int) -> None:
    """Fill ROOT with files of every type."""
    folders = [root]
    for number in range(count):
        path = rnd.choice(folders) / f"n{number}"
        kind = rnd.random()
        if kind < 0.3:
            path.mkdir()
            folders.append(path)
        elif kind < 0.75:
            path.write_text("x" * rnd.randrange(40))
            path.chmod(rnd.choice([0o644, 0o600, 0o755]))
        elif kind < 0.85:
            path.symlink_to(f"n{rnd.randrange(count)}")
        elif kind < 0.9:
            os.mkfifo(path)
        else:
            path.write_text("cap")
            os.setxattr(path, "user.key", b"%d" % number)


def is_real(path: Path, test: Callable[[Path], bool]) -> bool:
    return not path.is_symlink() and test(path)


def remove(path: Path) -> None:
    shutil.rmtree(path) if is_real(path, Path.is_dir) else path.unlink()


def renew(path: Path, make: Callable[[], object]) -> None:
    remove(path)
    make()


def fill(path: Path) -> None:
    path.mkdir()
    (path / "again").write_text("r")


def change(root: Path, rnd: random.Random, number: int) -> None:
    """One random change below ROOT; one that is not possible just does not happen."""
    every = [Path(above) / name for above, folders, files in os.walk(root) for name in sorted(folders + files)]
    if not every:
        root.joinpath(f"first{number}").write_text("")
        return
    path = rnd.choice(every)
    folder = rnd.choice([root, *(one for one in every if is_real(one, Path.is_dir))])
    actions: list[Callable[[], object]] = [
        lambda: (folder / f"new{number}").write_text("new"),
        (folder / f"dir{number}").mkdir,
        lambda: remove(path),
        lambda: remove(path),
        lambda: path.write_text("more") if is_real(path, Path.is_file) else None,
        lambda: path.open("r+").close(),
        lambda: path.chmod(rnd.choice([0o700, 0o640, 0o4755])) if not path.is_symlink() else None,
        lambda: os.lchown(path, rnd.choice([0, 1, 1000]), 0),
        lambda: path.rename(folder / f"moved{number}"),
        lambda: path.rename(folder / f"moved{number}"),
        lambda: renew(path, path.mkdir),
        lambda: renew(path, path.touch),
        lambda: renew(path, lambda: path.symlink_to("elsewhere")),
        lambda: (folder / f"hard{number}").hardlink_to(path) if is_real(path, Path.is_file) else None,
        lambda: os.utime(path, (1, 1), follow_symlinks=False),
        lambda: os.setxattr(path, "user.mark", b"1", follow_symlinks=False),
        lambda: os.mknod(folder / f"device{number}", 0o600 | stat.S_IFCHR, os.makedev(1, 3)),
        lambda: path.write_bytes(path.read_bytes()) if is_real(path, Path.is_file) else None,
        lambda: renew(path, lambda: fill(path)),
    ]
    with contextlib.suppress(OSError, shutil.Error):
        rnd.choice(actions)()


def one(top: Path, seed: int) -> tuple[int, list[list[str]]]:
    """-> how many changes there were, and what is wrong with them."""
    rnd = random.Random(seed)
    lower, upper, work, merged = (top / f"{seed}-{name}" for name in ("lower", "upper", "work", "merged"))
    for path in (lower, upper, work, merged):
        path.mkdir()
    grow(lower, rnd, rnd.randrange(5, 60))
    before = snapshot(lower)
    kernel.mount("o", str(merged), "overlay", 0, f"lowerdir={lower},upperdir={upper},workdir={work},{OVERLAY}")
    for number in range(30):
        change(merged, rnd, number)
    truth = compare(before, snapshot(merged))
    kernel.umount(str(merged), 0)
    upper_fd, lower_fd = (os.open(path, os.O_RDONLY | os.O_DIRECTORY) for path in (upper, lower))
    found = sorted(diff.changes(upper_fd, lower_fd))
    os.close(upper_fd)
    os.close(lower_fd)
    assert snapshot(lower) == before
    return len(truth), [] if found == truth else [list(map(str, truth)), list(map(str, found))]


def main() -> None:
    top, first, count = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    kernel.mount("t", str(top), "tmpfs")
    results = {seed: one(top, seed) for seed in range(first, first + count)}
    wrong = {seed: said for seed, (_, said) in results.items() if said}
    print(json.dumps({"changes": sum(number for number, _ in results.values()), "wrong": wrong}))


if __name__ == "__main__":
    main()
