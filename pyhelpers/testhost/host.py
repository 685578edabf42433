"""A throwaway host for tests and commands: real systemd in a clone of this machine, deleted afterwards.

The host belongs to a keeper process; this end only asks it. Nothing here changes the machine.
"""

from __future__ import annotations

import contextlib
import os
import re
import socket
import subprocess
import sys
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from pyhelpers.sandbox import diff, kernel, wire
from pyhelpers.sandbox.result import Result
from pyhelpers.sandbox.spec import DEFAULT_SIZE, PATH
from pyhelpers.testhost import names, streams
from pyhelpers.testhost.ignored import IGNORED
from pyhelpers.testhost.runner import Command, Outcome
from pyhelpers.tree import Change, matcher

BOOT_SECONDS = 60.0
Bind = Path | tuple[Path | str, str]


class HostError(Exception):
    """The host could not be made, is off, or broke; what was to be tested did not run."""


class Host:
    """One throwaway host. Use it in a `with`; `down()` ends it too. Safe to use from several threads."""

    def __init__(self, name: str, lifeline: socket.socket, keeper: subprocess.Popen[bytes] | None = None) -> None:
        self.name = name
        self._lifeline, self._keeper = lifeline, keeper
        self._opened: list[int] = []

    @classmethod
    def clone_of_this_machine(
        cls,
        binds: Sequence[Bind] = (),
        size: str = DEFAULT_SIZE,
        base: Path | None = None,
        *,
        name: str = "",
        network: bool = False,
    ) -> Host:
        """Start a host and wait until its systemd is done starting. Raises HostError.

        binds: read-only paths, or (source, target). size: what the host may write, as tmpfs takes it. base: a root
        file system to use instead of this machine's. network: share this machine's network (then without
        CAP_NET_ADMIN and CAP_NET_RAW) instead of having an own one with only `lo`.
        """
        name = name or "host-" + uuid.uuid4().hex[:8]
        if not re.fullmatch(r"[a-z0-9]([a-z0-9-]{0,40}[a-z0-9])?", name):
            raise HostError(f"not a host's name: {name!r} (lower-case letters, digits and hyphens)")
        resolv_conf = Path("/etc/resolv.conf")
        spec: wire.Message = {
            "id": f"{name}-{uuid.uuid4().hex[:6]}",
            "size": size,
            "base": str(base or "/"),
            "clone": base is None,
            "binds": [_bind(bind) for bind in binds],
            "network": network,
            "hostname": os.uname().nodename,
            "resolv_conf": resolv_conf.read_text() if network and resolv_conf.exists() else "",
            "boot_seconds": BOOT_SECONDS,
        }
        return cls(name, *_start_keeper(spec))

    def __enter__(self) -> Host:
        return self

    def __exit__(self, *failure: object) -> None:
        self.down()

    def run(
        self,
        argv: Sequence[str],
        env: Mapping[str, str] | None = None,
        stdin: bytes = b"",
        timeout: float = 60,
        cwd: str = "/",
    ) -> Result:
        """Run ARGV as root, as a unit of the host's systemd; the environment is ENV alone (a clean one without it).

        Processes that it leaves running stay; output they write after its end is lost.
        """
        command = Command(list(argv), {"PATH": PATH, "LC_ALL": "C"} if env is None else dict(env), cwd, timeout)
        with streams.Streams(stdin) as pipes:
            outcome, _ = self._ask(pipes.theirs, op="run", **asdict(command))
            stdout, stderr = pipes.finish()
        return Result(outcome["code"], stdout, stderr, outcome["seconds"], outcome["timed_out"])

    def run_with(
        self,
        argv: Sequence[str],
        fds: Sequence[int],
        env: Mapping[str, str],
        timeout: float | None = None,
        cwd: str = "/",
        *,
        terminal: bool = False,
    ) -> Outcome:
        """Run ARGV with the three descriptors FDS as its stdin, stdout and stderr.

        terminal: the first two are a terminal; the command gets one of its own whose other end they are.
        """
        command = Command(list(argv), dict(env), cwd, timeout, terminal)
        outcome, _ = self._ask(fds, op="run", **asdict(command))
        return Outcome(**outcome)

    def diff(self, ignore: Sequence[str] = (), *, all_paths: bool = False) -> list[Change]:
        """What is on the host's disk now and was not before its first boot, without IGNORED unless ALL_PATHS."""
        reply, fds = self._ask(op="layers")
        try:
            changes = [
                change._replace(path=top.rstrip("/") + change.path)
                for top, upper, before in zip(reply["paths"], fds[::2], fds[1::2], strict=True)
                for change in diff.changes(upper, before)
            ]
        finally:
            _close(fds)
        ignored = matcher([*ignore, *([] if all_paths else IGNORED)])
        return sorted(change for change in changes if not ignored(change.path))

    def read(self, path: str) -> bytes:
        """A file's content, as the host sees it (its disk when it is off). Raises OSError as open() does."""
        with os.fdopen(self._open(path, os.O_RDONLY), "rb") as file:
            return file.read()

    def write(self, path: str, data: bytes | str, mode: int = 0o644) -> None:
        """Write a file with exactly MODE; missing directories above it are made with 0755."""
        if parent := path.rpartition("/")[0].strip("/"):
            self._make_directories(parent)
        with os.fdopen(self._open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(data.encode() if isinstance(data, str) else data)
            os.fchmod(file.fileno(), mode)

    @property
    def netns(self) -> int:
        """A descriptor of the host's network namespace, open until the host is down. Each boot makes a new one."""
        _, (fd,) = self._ask(op="netns")
        self._opened.append(fd)
        return fd

    @property
    def state(self) -> str:
        """`off`, or what `systemctl is-system-running` says in it."""
        reply, _ = self._ask(op="state")
        return str(reply["state"])

    def reboot(self, timeout: float = BOOT_SECONDS) -> None:
        """`systemctl reboot` in the host, then wait until it has booted again."""
        self._ask(op="reboot", timeout=timeout)

    def power_cut(self, boot: bool = True, timeout: float = BOOT_SECONDS) -> None:
        """Kill everything in the host at once; then boot it again from the same disk unless BOOT is False."""
        self._ask(op="cut")
        if boot:
            self.boot(timeout)

    def boot(self, timeout: float = BOOT_SECONDS) -> None:
        """Start a host that is off."""
        self._ask(op="boot", timeout=timeout)

    def hand_over(self) -> str:
        """Let the host live on without this process -> the name to find it by; this object is then done with it."""
        with names.claim(self.name) as listener:
            try:
                self._ask([listener.fileno()], op="detach")
            except BaseException:
                names.release(self.name)
                raise
        self._forget()
        return self.name

    @classmethod
    def named(cls, name: str) -> Host:
        """The host NAME that another process handed over. Raises HostError when there is none."""
        lifeline = names.connect(name)
        if lifeline is None:
            raise HostError(f"no host {name} (flexkit host list shows them)")
        return cls(name, lifeline)

    def down(self) -> None:
        """End the host and delete it: when this returns, none of its processes, mounts and cgroups is left."""
        if self._lifeline.fileno() < 0:
            return
        with contextlib.suppress(HostError):  # its keeper is gone already
            _, (gone,) = self._ask(op="down")
            os.read(gone, 1)
            os.close(gone)
        if self._keeper is not None:
            self._keeper.wait()
        else:
            names.release(self.name)
        self._forget()

    def _forget(self) -> None:
        self._lifeline.close()
        _close(self._opened)
        if self._keeper is not None:
            self._keeper.returncode = 0  # whether it has ended or lives on: nobody here will ask again

    @contextlib.contextmanager
    def root(self) -> Iterator[int]:
        """A descriptor of the host's root directory, as the host sees it (of its disk when it is off)."""
        _, (fd,) = self._ask(op="root")
        try:
            yield fd
        finally:
            os.close(fd)

    def _open(self, path: str, flags: int, mode: int = 0) -> int:
        with self.root() as fd:
            return kernel.open_inside(fd, path, flags, mode)

    def _make_directories(self, path: str) -> None:
        try:
            os.close(self._open(path, os.O_PATH | os.O_DIRECTORY))
        except FileNotFoundError:
            above, _, name = path.rpartition("/")
            if above:
                self._make_directories(above)
            parent = self._open(above or "/", os.O_PATH | os.O_DIRECTORY)
            os.mkdir(name, dir_fd=parent)
            os.chmod(name, 0o755, dir_fd=parent)
            os.close(parent)

    def _ask(self, fds: Sequence[int] = (), /, **request: object) -> tuple[wire.Message, list[int]]:
        """Send one request and wait for its answer."""
        return ask(self._lifeline, request, fds)


def ask(lifeline: socket.socket, request: wire.Message, fds: Sequence[int] = ()) -> tuple[wire.Message, list[int]]:
    """Send one request with a socket for the answer -> the answer. Raises HostError."""
    ours, theirs = wire.pair()
    with ours:
        try:
            wire.send(lifeline, request, [theirs.fileno(), *fds])
        except OSError as error:
            raise HostError(f"the host's keeper cannot be asked: {error.strerror}") from None
        finally:
            theirs.close()
        reply, received = wire.receive(ours)
    if reply is None:
        raise HostError("the host's keeper has ended")
    if "error" in reply:
        raise HostError(reply["error"])
    return reply, received


def _start_keeper(spec: wire.Message) -> tuple[socket.socket, subprocess.Popen[bytes]]:
    ours, theirs = wire.pair()
    log = os.memfd_create("keeper-log")
    project = str(Path(__file__).resolve().parents[2])
    try:
        keeper = subprocess.Popen(
            [sys.executable, "-S", "-m", "pyhelpers.testhost.keeper", str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            cwd="/",
            env={"PATH": PATH, "PYTHONPATH": project, "PYTHONDONTWRITEBYTECODE": "1"},
        )
        theirs.close()
        try:
            ask(ours, spec)
        except BaseException as error:
            ours.close()
            keeper.wait()
            text = os.pread(log, 20_000, 0).decode(errors="replace").strip()
            if isinstance(error, HostError):
                raise HostError(f"{error}\n{text}".strip()) from None
            raise
    finally:
        os.close(log)
    return ours, keeper


def _bind(bind: Bind) -> list[str]:
    source, target = bind if isinstance(bind, tuple) else (bind, str(bind))
    return [str(Path(source).resolve()), target]


def _close(fds: list[int]) -> None:
    while fds:
        os.close(fds.pop())
