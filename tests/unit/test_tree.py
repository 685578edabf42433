"""Snapshots and comparison of file trees."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pyhelpers.tree import Change, compare, matcher, snapshot

PROJECT = Path(__file__).resolve().parents[2]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A directory with one of each: file, directory, link."""
    (tmp_path / "etc").mkdir(mode=0o755)
    (tmp_path / "etc/conf").write_text("one\n")
    (tmp_path / "etc/conf").chmod(0o644)
    (tmp_path / "etc/link").symlink_to("conf")
    return tmp_path


def change_mode(tree: Path) -> None:
    (tree / "etc/conf").chmod(0o600)


def change_owner(tree: Path) -> None:
    os.chown(tree / "etc/link", 12, 34, follow_symlinks=False)


def change_xattr(tree: Path) -> None:
    os.setxattr(tree / "etc/conf", "user.mark", b"1")


def change_target(tree: Path) -> None:
    (tree / "etc/link").unlink()
    (tree / "etc/link").symlink_to("other")


def file_to_directory(tree: Path) -> None:
    (tree / "etc/conf").unlink()
    (tree / "etc/conf").mkdir()


def rename_directory(tree: Path) -> None:
    (tree / "etc").rename(tree / "opt")


CASES: list[tuple[Callable[[Path], object], list[str]]] = [
    (lambda tree: (tree / "new").write_text(""), ["added    /new (file 0644 0:0)"]),
    (lambda tree: (tree / "etc/conf").write_text("two\n"), ["modified /etc/conf (content)"]),
    (lambda tree: (tree / "etc/conf").unlink(), ["removed  /etc/conf (file)"]),
    (change_mode, ["metadata /etc/conf (mode 0644 -> 0600)"]),
    (change_owner, ["metadata /etc/link (owner 0:0 -> 12:34)"]),
    (change_xattr, ["metadata /etc/conf (xattr user.mark)"]),
    (change_target, ["modified /etc/link (content)"]),
    (file_to_directory, ["type     /etc/conf (file -> dir)"]),
    (lambda tree: tree.chmod(0o711), ["metadata / (mode 0700 -> 0711)"]),
    (lambda tree: os.utime(tree / "etc/conf", (1, 1)), []),
    (
        rename_directory,
        [
            *("removed  /etc (dir)", "removed  /etc/conf (file)", "removed  /etc/link (link)"),
            *(
                "added    /opt (dir 0755 0:0)",
                "added    /opt/conf (file 0644 0:0)",
                "added    /opt/link (link 0777 0:0)",
            ),
        ],
    ),
]


@pytest.mark.needs("root")
@pytest.mark.parametrize(("change", "expected"), CASES, ids=lambda value: getattr(value, "__name__", ""))
def test_each_kind_of_change_is_told_in_one_line(
    tree: Path, change: Callable[[Path], object], expected: list[str]
) -> None:
    os.umask(0o022)
    tree.chmod(0o700)
    before = snapshot(tree)
    change(tree)
    assert list(map(str, compare(before, snapshot(tree)))) == expected


def test_a_link_to_a_directory_is_not_followed(tree: Path) -> None:
    (tree / "there").symlink_to("etc")
    assert [path for path in snapshot(tree) if path.startswith("/there/")] == []


def test_what_is_skipped_is_not_read(tree: Path) -> None:
    assert sorted(snapshot(tree, skip=["/etc/**"])) == ["/"]


def test_an_ignored_directory_hides_all_below_it_and_nothing_else(tree: Path) -> None:
    before = snapshot(tree)
    (tree / "etc/deep").mkdir()
    (tree / "etc/deep/file").write_text("")
    (tree / "etc2").write_text("")
    paths = [change.path for change in compare(before, snapshot(tree), ignore=["/etc/**"])]
    assert paths == ["/etc2"]


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("/var/cache/**", "/var/cache", True),
        ("/var/cache/**", "/var/cache/a/b", True),
        ("/var/cache/**", "/var/cached", False),
        ("/etc/*.conf", "/etc/a.conf", True),
        ("/etc/*.conf", "/etc/d/a.conf", False),
        ("/**/x", "/a/b/x", True),
        ("/etc/?", "/etc/a", True),
        ("/etc/?", "/etc/ab", False),
        ("/etc/a.b", "/etc/a-b", False),
    ],
)
def test_a_pattern_matches_whole_paths(pattern: str, path: str, expected: bool) -> None:
    assert matcher([pattern])(path) is expected


def test_no_pattern_matches_nothing() -> None:
    assert not matcher([])("")


def test_changes_sort_by_path() -> None:
    assert sorted([Change("/b", "added", ""), Change("/a", "removed", "")])[0].path == "/a"


@pytest.mark.needs("root", "unshare")
@pytest.mark.parametrize("mount", ["-t tmpfs none", "--bind etc"], ids=["another file system", "the same file system"])
def test_what_is_mounted_within_the_tree_is_not_entered(tree: Path, mount: str) -> None:
    (tree / "point").mkdir()
    script = f"cd {tree} && mount {mount} point && touch point/inside && exec {sys.executable} -c '{LIST}' {tree}"
    run = subprocess.run(["unshare", "-m", "sh", "-ec", script], check=False, capture_output=True, text=True)
    assert (run.returncode, run.stderr) == (0, "")
    assert "/point" in run.stdout.split()
    assert "/point/inside" not in run.stdout.split()


LIST = (
    f'import sys; sys.path.insert(0, "{PROJECT}"); from pathlib import Path; from pyhelpers.tree import snapshot; '
    "print(*snapshot(Path(sys.argv[1])))"
)
