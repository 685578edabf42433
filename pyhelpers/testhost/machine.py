"""One systemd-nspawn container over and over: boot, reboot from inside, power cut. Runs in the keeper."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import threading
from pathlib import Path

from pyhelpers.sandbox import kernel, mounts
from pyhelpers.testhost.cgroup import Cgroup
from pyhelpers.testhost.overlay import ROOT, STORE

CONSOLE = STORE / "console"
NOTIFY = STORE / "notify"
NSPAWN_STATE = STORE / "systemd/nspawn"
REBOOT_EXIT = 133  # with --keep-unit systemd-nspawn exits when the host reboots
# Not given to any host: they act on the machine itself, whatever the namespace.
DROPPED = ("CAP_SYS_TIME", "CAP_SYS_MODULE", "CAP_SYS_RAWIO")
# Not given either to a host that shares the machine's network.
DROPPED_WITH_NETWORK = ("CAP_NET_ADMIN", "CAP_NET_RAW")
# Not given where the kernel cannot keep the host from opening the machine's disks.
DROPPED_WITH_DISKS = ("CAP_MKNOD",)


def arguments(name: str, hostname: str, network: bool, disks: bool, binds: list[tuple[str, str]]) -> list[str]:
    """The call of systemd-nspawn; `disks`: they could be opened; `binds`: (source, target), read-only in the host."""
    dropped = DROPPED + (DROPPED_WITH_NETWORK if network else ()) + (DROPPED_WITH_DISKS if disks else ())
    return [
        *("systemd-nspawn", "--quiet", "--boot", f"--directory={ROOT}", f"--machine={name}", f"--hostname={hostname}"),
        *("--register=no", "--keep-unit", "--console=pipe", "--notify-ready=yes"),
        *("--timezone=off", "--link-journal=no", "--resolv-conf=off"),
        *("--capability=all", "--drop-capability=" + ",".join(dropped), "--system-call-filter=@keyring bpf"),
        *(() if network else ("--private-network",)),
        *(f"--bind-ro={source}:{target}" for source, target in binds),
    ]


class Machine:
    """State: `off`, `starting`, or what `systemctl is-system-running` says after the start."""

    def __init__(self, argv: list[str], cgroup: Cgroup) -> None:
        self._argv, self._cgroup = argv, cgroup
        self._changed = threading.Condition()
        self.leader = 0  # pid of the host's systemd, 0 when it is off
        self.boots = 0  # boots that were completed
        self._process: subprocess.Popen[bytes] | None = None
        self._restart = True
        self._notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._notify.bind(str(NOTIFY))
        threading.Thread(target=self._listen, daemon=True).start()

    def boot(self, timeout: float) -> None:
        """Start it and wait until its systemd has done all start jobs; RuntimeError when it does not get there."""
        with self._changed:
            before = self.boots
            self._restart = True
            self._start()
        self.wait_boot(before, timeout)

    def wait_boot(self, before: int, timeout: float) -> None:
        """Wait until more than BEFORE boots were completed."""
        with self._changed:
            over = self._changed.wait_for(lambda: self.boots > before or self._process is None, timeout)
            if not over or self.boots <= before:
                tail = CONSOLE.read_text(errors="replace")[-2000:]
                raise RuntimeError(f"the host did not boot within {timeout:g} s; the end of its console:\n{tail}")

    def cut(self) -> None:
        """Take the power away: nothing in the host gets to do anything."""
        with self._changed:
            self._restart = False
            process, leader = self._process, self.leader
            if process is None:
                return
            for pid in (process.pid, leader):
                if pid:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
            self._changed.wait_for(lambda: self._process is None)

    def _start(self) -> None:
        """Start systemd-nspawn in the cgroup `host` (needs the condition's lock)."""
        self._tidy()
        enter = f"echo 0 >/sys/fs/cgroup/{self._cgroup.name}/host/cgroup.procs"
        with CONSOLE.open("ab") as console:
            self._process = subprocess.Popen(
                ["/bin/sh", "-c", enter + ' && exec "$@"', "sh", *self._argv],
                stdin=subprocess.DEVNULL,
                stdout=console,
                stderr=console,
                env={**os.environ, "NOTIFY_SOCKET": str(NOTIFY)},
            )
        threading.Thread(target=self._await_end, args=(self._process,), daemon=True).start()

    def _await_end(self, process: subprocess.Popen[bytes]) -> None:
        code = process.wait()
        with self._changed:
            leader, self.leader, self._process = self.leader, 0, None
            if leader:
                with contextlib.suppress(ChildProcessError):  # ours only when systemd-nspawn was killed
                    os.waitpid(leader, 0)
            if code == REBOOT_EXIT and self._restart:
                self._start()
            self._changed.notify_all()

    def _listen(self) -> None:
        """Follow what systemd-nspawn tells: the leader's pid, then READY=1."""
        while True:
            text = self._notify.recv(4096).decode()
            with self._changed:
                if match := re.search(r"^X_NSPAWN_LEADER_PID=(\d+)$", text, re.MULTILINE):
                    self.leader = int(match.group(1))
                if re.search(r"^READY=1$", text, re.MULTILINE):
                    self.boots += 1
                    self._changed.notify_all()

    def _tidy(self) -> None:
        """Remove what a killed systemd-nspawn leaves: mounts and directories in /run, cgroups of units."""
        here = mounts.parse(Path("/proc/self/mountinfo").read_text())
        for mount in reversed(here):
            if mounts.is_below(mount.point, str(NSPAWN_STATE)):
                kernel.umount(mount.point, kernel.MNT_DETACH)
        if NSPAWN_STATE.exists():
            shutil.rmtree(NSPAWN_STATE)
        self._cgroup.renew("host")
