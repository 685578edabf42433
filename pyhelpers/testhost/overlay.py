"""The file system of a host: the machine's own below, what preparation changed, and on top what the host changes.

Works in the keeper's private mount namespace; everything lies in one size-limited tmpfs and goes with it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pyhelpers.sandbox import kernel

STORE = Path("/run")  # masked by the store: what systemd-nspawn keeps in /run must not reach the machine
ROOT = STORE / "root"
# Renamed directories must be possible (dpkg does it); no state in the lower layers; no sync for what is deleted anyway.
OPTIONS = "index=off,metacopy=off,redirect_dir=on,xino=off"


@dataclass(frozen=True)
class Layer:
    """One file system of the machine: PATH in the host, `source` a path that shows it now."""

    path: str
    source: str
    store: Path

    def make(self) -> None:
        """Make the directories in the store."""
        for name in ("prepared", "prepared-work", "upper", "work", "before"):
            (self.store / name).mkdir(parents=True)

    def mount(self, target: str, lower: str, upper: str = "", work: str = "") -> None:
        """Mount the overlay, read-only without an upper layer. LOWER is relative to the source, so needs no escapes."""
        os.chdir(self.source)
        options, flags = f"lowerdir={lower},{OPTIONS}", kernel.MS_NODEV
        if upper:
            options += f",volatile,upperdir={self.store}/{upper},workdir={self.store}/{work}"
        else:
            flags |= kernel.MS_RDONLY
        kernel.mount("flexkit", target, "overlay", flags, options)
        os.chdir("/")


class Layers:
    """All file systems of one host."""

    def __init__(self, base_fd: int, further: list[str]) -> None:
        """`base_fd`: the directory that becomes `/`; `further`: the machine's further mounts to show in it."""
        sources = [("/", f"/proc/self/fd/{base_fd}"), *((path, path) for path in further)]
        self.layers = [Layer(path, source, STORE / f"layer{i}") for i, (path, source) in enumerate(sources)]

    def make(self, prepare: Callable[[Path], None]) -> None:
        """Make the layers; `prepare` gets the root while its changes go into the prepared layer."""
        ROOT.mkdir()
        for layer in self.layers:
            layer.make()
            _like(Path(layer.source), layer.store / "prepared")
            layer.mount(self._at(layer), ".", "prepared", "prepared-work")
        prepare(ROOT)
        for layer in reversed(self.layers):
            kernel.umount(self._at(layer), 0)
        for layer in self.layers:
            _like(layer.store / "prepared", layer.store / "upper")
            both = f"{layer.store}/prepared:."
            layer.mount(self._at(layer), both, "upper", "work")
            layer.mount(str(layer.store / "before"), both)

    def open(self) -> tuple[list[str], list[int]]:
        """For each layer its path, and two descriptors: the upper directory and the state before the first boot."""
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
        fds = [os.open(layer.store / name, flags) for layer in self.layers for name in ("upper", "before")]
        return [layer.path for layer in self.layers], fds

    @staticmethod
    def _at(layer: Layer) -> str:
        return str(ROOT) + layer.path.rstrip("/")


def _like(source: Path, target: Path) -> None:
    """Give TARGET the mode and owner of SOURCE: the topmost layer decides what the merged root shows."""
    status = source.stat()
    os.chown(target, status.st_uid, status.st_gid)
    target.chmod(status.st_mode & 0o7777)
