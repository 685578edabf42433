"""Files and commands of a host. Everything the agent does to a host goes through here, and nothing here decides.

`Host` is the host itself; `rooted.py` has those below another directory. Paths are the host's absolute paths. A change
is durable when its method returns: files and their directory are synced before and after the rename that makes them
live, and a temporary name (`TEMP_PREFIX`) left by a kill is taken over by the next write of that file.
"""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, NamedTuple

from pyhelpers.contract import TEMP_PREFIX
from pyhelpers.view import MAX_LINKS, View

SEARCH_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class CommandError(Exception):
    """A command that had to succeed did not."""


class Completed(NamedTuple):
    """What a command did. code 127: it does not exist, 124: it was killed after its time limit."""

    argv: tuple[str, ...]
    code: int
    stdout: str = ""
    stderr: str = ""

    def check(self) -> Completed:
        """Itself, or a CommandError that quotes the last line of its words."""
        if self.code:
            words = (self.stderr or self.stdout).strip().splitlines()
            raise CommandError(f"{' '.join(self.argv)}: {words[-1] if words else f'exit status {self.code}'}")
        return self


class Mount(NamedTuple):
    """One line of mountinfo: where it is mounted, what kind it is, from what, and its options (ro, noexec, …)."""

    path: str
    kind: str
    source: str = ""
    options: tuple[str, ...] = ()


class Host(View):
    """The real host."""

    owner = 0  # what belongs to the agent must belong to this user id

    def real(self, path: str, follow: bool = True) -> Path:
        """Where `path` of the host really is; follow=False leaves a link in its last part alone."""
        return Path(self.where(path, follow))

    # --- looking ---------------------------------------------------------------------------------------------
    def read(self, path: str) -> bytes | None:
        """The content of a file; None: there is none."""
        try:
            return self.real(path).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None

    def space(self, path: str) -> os.statvfs_result:
        """Room and inodes of the file system that holds `path`."""
        return os.statvfs(self.real(path))

    def user(self) -> int:
        """The user id that changes would be made as."""
        return os.geteuid()

    def names(self, path: str) -> list[str]:
        """The sorted names in a directory; [] when there is none."""
        try:
            return sorted(p.name for p in self.real(path).iterdir())
        except (FileNotFoundError, NotADirectoryError):
            return []

    def mounts(self) -> list[Mount]:
        """Everything that is mounted, from mountinfo, with its octal escapes decoded."""
        return [_mount(line) for line in Path("/proc/self/mountinfo").read_bytes().splitlines()]

    # --- changing --------------------------------------------------------------------------------------------
    def will(self, action: str, path: str) -> None:
        """Called right before each change; a recording host notes it, a test may stop here."""

    def make_directory(self, path: str, mode: int = 0o755) -> list[str]:
        """Make `path` and what lacks above it with exactly `mode`; returns what was made, outermost first."""
        made: list[str] = []
        if self.stat(path) is None:
            parent = os.path.dirname(path)  # noqa: PTH120 - paths of the host are text
            made = self.make_directory(parent, mode)
            self.will("mkdir", path)
            before = os.umask(0)
            try:
                self.real(path, follow=False).mkdir(mode)
                made = [*made, path]
                self.sync_directory(parent)
            except FileExistsError:
                if self.stat(path) is None:
                    raise  # a dangling link stands there
            finally:
                os.umask(before)
        return made

    def write(self, path: str, data: bytes, mode: int = 0o644) -> None:
        """Replace the file `path` as a whole."""
        with self._replacing(path, mode) as new:
            new.write(data)

    def copy(self, source: str, path: str, mode: int) -> None:
        """Replace the file `path` by the content of the file `source`."""
        with self.real(source).open("rb") as old, self._replacing(path, mode) as new:
            import shutil

            shutil.copyfileobj(old, new, 1 << 20)

    @contextmanager
    def _replacing(self, path: str, mode: int) -> Iterator[BinaryIO]:
        """A file under its temporary name that becomes live when the block ends without an error."""
        where = self.real(path, follow=False)
        temporary = where.with_name(f"{TEMP_PREFIX}new.{where.name}")
        self.will("write", path)
        with _locked_file(temporary) as new:
            try:
                yield new
                os.fchmod(new.fileno(), mode)
                if os.geteuid() == 0:
                    os.fchown(new.fileno(), 0, 0)
                new.flush()
                os.fsync(new.fileno())
                self.will("rename", path)
                temporary.replace(where)
            except BaseException:
                temporary.unlink(missing_ok=True)
                raise
        self.sync_directory(os.path.dirname(path))  # noqa: PTH120

    def link(self, path: str, target: str) -> None:
        """Replace whatever file or link is at `path` by a link to `target`."""
        where = self.real(path, follow=False)
        temporary = where.with_name(f"{TEMP_PREFIX}new.{where.name}")
        self.will("link", path)
        for _ in range(MAX_LINKS):  # another process may work on the same link: the last one to rename wins
            try:
                temporary.symlink_to(target)
                temporary.replace(where)
            except FileExistsError:
                temporary.unlink(missing_ok=True)
            except FileNotFoundError:
                if not where.parent.is_dir():
                    raise
            else:
                break
        self.sync_directory(os.path.dirname(path))  # noqa: PTH120

    def unlink(self, path: str) -> bool:
        """Remove a file or link, looking first: unlinking nothing on a read-only file system would be an error."""
        if not self.present(path):
            return False
        self.will("unlink", path)
        self.real(path, follow=False).unlink(missing_ok=True)
        self.sync_directory(os.path.dirname(path))  # noqa: PTH120
        return True

    def remove_directory(self, path: str) -> None:
        """Remove an empty directory."""
        self.will("rmdir", path)
        self.real(path, follow=False).rmdir()
        self.sync_directory(os.path.dirname(path))  # noqa: PTH120

    def sync_directory(self, path: str) -> None:
        """Make the entries of a directory durable (a file system that cannot sync directories says EINVAL)."""
        fd = os.open(self.real(path), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(fd)
        except OSError as error:
            if error.errno != errno.EINVAL:
                raise
        finally:
            os.close(fd)

    # --- commands --------------------------------------------------------------------------------------------
    def find(self, tool: str) -> str | None:
        """Where an executable is, or None. PATH first, then the usual directories: services have a short PATH."""
        import shutil

        return shutil.which(tool, path=_search_path())

    def run(self, argv: Sequence[str], timeout: float = 60, stdin: bytes = b"") -> Completed:
        """Run a command with a clean environment; never raises for what the command does."""
        env = {"PATH": _search_path(), "LC_ALL": "C"}
        import subprocess

        try:
            done = subprocess.run(
                list(argv), input=stdin, capture_output=True, env=env, cwd="/", timeout=timeout, check=False
            )
        except subprocess.TimeoutExpired:
            return Completed(tuple(argv), 124, stderr=f"no answer within {timeout:g} s")
        except OSError as error:
            return Completed(tuple(argv), 127 if isinstance(error, FileNotFoundError) else 126, stderr=str(error))
        stdout, stderr = (stream.decode("utf-8", "replace") for stream in (done.stdout, done.stderr))
        return Completed(tuple(argv), done.returncode, stdout, stderr)


def _locked_file(path: Path) -> BinaryIO:
    """The file at `path`, empty, for this process alone.

    The name is fixed, so a kill leaves nothing that the next run does not take over; the lock lets two processes write
    the same file one after the other.
    """
    while True:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        fcntl.flock(fd, fcntl.LOCK_EX)
        with suppress(FileNotFoundError):  # gone: the one that held the lock has renamed it
            if os.path.samestat(os.fstat(fd), path.lstat()):
                os.ftruncate(fd, 0)
                return os.fdopen(fd, "wb")
        os.close(fd)


def _search_path() -> str:
    return f"{os.environ.get('PATH', SEARCH_PATH)}:{SEARCH_PATH}"


def _mount(line: bytes) -> Mount:
    left, _, right = line.partition(b" - ")
    before, after = [_decoded(f) for f in left.split(b" ")], [_decoded(f) for f in right.split(b" ")]
    options = [*before[5].split(","), *after[2].split(",")]  # of the mount, then of the file system under it
    return Mount(before[4], after[0], after[1], tuple(dict.fromkeys(options)))


def _decoded(field: bytes) -> str:
    for code in (b"\\040", b"\\011", b"\\012", b"\\134"):
        field = field.replace(code, bytes([int(code[1:], 8)]))
    return os.fsdecode(field)
