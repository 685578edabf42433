"""A difference that is kept can be unpacked again: content, modes, links, attributes, removals."""

from __future__ import annotations

import os
import tarfile
from pathlib import Path

from pyhelpers.testhost import archive
from pyhelpers.tree import Change


def test_a_layer_holds_each_kind_of_change_and_leaves_out_what_is_gone(tmp_path: Path) -> None:
    root, layer = tmp_path / "root", tmp_path / "layer.tar"
    (root / "d").mkdir(parents=True)
    (root / "d").chmod(0o750)
    (root / "d/file").write_bytes(b"\x00content")
    (root / "d/file").chmod(0o4711)
    os.setxattr(root / "d/file", "user.mark", b"v")
    (root / "d/link").symlink_to("/etc/passwd")
    os.mkfifo(root / "d/fifo")
    changes = [
        Change("/d", "added", ""),
        *(Change(f"/d/{name}", "added", "") for name in ("fifo", "file", "gone", "link")),
        Change("/d/old", "removed", "file"),
        Change("/top", "removed", "file"),
    ]
    fd = os.open(root, os.O_RDONLY)
    archive.write(layer, fd, changes)
    os.close(fd)
    with tarfile.open(layer) as tar:
        assert tar.getnames() == ["d", "d/fifo", "d/file", "d/link", "d/.wh.old", ".wh.top"]
        file = tar.getmember("d/file")
        content = tar.extractfile(file)
        assert content is not None
        assert (content.read(), file.mode, file.uid) == (b"\x00content", 0o4711, os.getuid())
        assert file.pax_headers["SCHILY.xattr.user.mark"] == "v"
        assert tar.getmember("d").mode == 0o750
        assert tar.getmember("d/link").linkname == "/etc/passwd"
        assert tar.getmember("d/fifo").isfifo()
