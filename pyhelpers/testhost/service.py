"""What a keeper does for its clients: one method for each request. Runs in the keeper.

Each request is answered on a socket of its own by a thread of its own; an error is answered as `{"error": text}`.
"""

from __future__ import annotations

import os
import socket
import subprocess
import threading
import traceback
from dataclasses import asdict
from typing import Any

from pyhelpers.sandbox import wire
from pyhelpers.testhost import runner
from pyhelpers.testhost.machine import Machine
from pyhelpers.testhost.overlay import ROOT, Layers

REQUESTS = ("run", "root", "netns", "layers", "boot", "reboot", "cut", "state", "detach", "down")


class Service:
    """Answers for one host. `layers` and `machine` are set before anybody is told that it is there."""

    layers: Layers
    machine: Machine

    def __init__(self, gone: int) -> None:
        """`gone`: a pipe whose other end closes when nothing of the host is left; handed out by `down`."""
        self._gone = gone
        self._detached = False

    def serve(self, client: socket.socket, is_lifeline: bool) -> None:
        """Take the client's requests until it is gone; with the lifeline the host goes too, unless it is detached."""
        while True:
            message, fds = wire.receive(client)
            if message is None:
                break
            threading.Thread(target=self._answer, args=(message, fds), daemon=True).start()
        if is_lifeline and not self._detached:
            os._exit(0)

    def _accept(self, listener: socket.socket) -> None:
        while True:
            client, _ = listener.accept()
            wire.allow_large(client)
            threading.Thread(target=self.serve, args=(client, False), daemon=True).start()

    def _answer(self, message: wire.Message, fds: list[int]) -> None:
        answer = socket.socket(fileno=fds[0])
        try:
            operation = message.pop("op")
            if operation not in REQUESTS:
                raise ValueError(f"unknown request: {operation}")
            reply, reply_fds = getattr(self, "do_" + operation)(fds, **message)
            wire.send(answer, reply, reply_fds)
            if operation == "down":
                os._exit(0)
            if operation in ("root", "netns", "layers"):
                for fd in reply_fds:
                    os.close(fd)
        except Exception as error:
            traceback.print_exc()
            wire.send(answer, {"error": f"{error}"})
        finally:
            answer.close()
            for fd in fds[1:]:
                os.close(fd)

    def do_run(self, fds: list[int], **command: Any) -> tuple[wire.Message, list[int]]:
        """Run a command with the descriptors after the answer's as its stdin, stdout, stderr."""
        return asdict(runner.run(self._leader(), runner.Command(**command), fds[1:], fds[0])), []

    def do_root(self, fds: list[int]) -> tuple[wire.Message, list[int]]:
        """The host's root directory: as the host sees it, or what is on its disk when it is off."""
        path = f"/proc/{self.machine.leader}/root" if self.machine.leader else str(ROOT)
        return {}, [os.open(path, os.O_RDONLY | os.O_DIRECTORY)]

    def do_netns(self, fds: list[int]) -> tuple[wire.Message, list[int]]:
        """The host's network namespace (a new one after each boot)."""
        return {}, [os.open(f"/proc/{self._leader()}/ns/net", os.O_RDONLY)]

    def do_layers(self, fds: list[int]) -> tuple[wire.Message, list[int]]:
        """Paths, and for each the descriptors of upper directory and state before the first boot."""
        paths, layer_fds = self.layers.open()
        return {"paths": paths}, layer_fds

    def do_boot(self, fds: list[int], timeout: float) -> tuple[wire.Message, list[int]]:
        """Start a host that is off."""
        if self.machine.leader:
            raise RuntimeError("the host is on already")
        self.machine.boot(timeout)
        return {}, []

    def do_reboot(self, fds: list[int], timeout: float) -> tuple[wire.Message, list[int]]:
        """Reboot from inside, as `systemctl reboot` does it."""
        before = self.machine.boots
        self._inside("systemctl", "reboot")
        self.machine.wait_boot(before, timeout)
        return {}, []

    def do_cut(self, fds: list[int]) -> tuple[wire.Message, list[int]]:
        """Take the power away."""
        self.machine.cut()
        return {}, []

    def do_state(self, fds: list[int]) -> tuple[wire.Message, list[int]]:
        """What systemd says about itself: running, degraded, …; `off` when there is none."""
        if not self.machine.leader:
            return {"state": "off"}, []
        return {"state": self._inside("systemctl", "is-system-running").strip()}, []

    def do_detach(self, fds: list[int]) -> tuple[wire.Message, list[int]]:
        """Go on when the lifeline ends: whoever connects to the listening socket that is sent may ask from now on."""
        listener = socket.socket(fileno=os.dup(fds[1]))
        threading.Thread(target=self._accept, args=(listener,), daemon=True).start()
        self._detached = True
        return {}, []

    def do_down(self, fds: list[int]) -> tuple[wire.Message, list[int]]:
        """End all of it; the pipe that is sent closes when nothing is left."""
        return {}, [self._gone]

    def _leader(self) -> int:
        if not self.machine.leader:
            raise RuntimeError("the host is off")
        return self.machine.leader

    def _inside(self, *argv: str) -> str:
        command = runner.enter(self._leader(), argv)
        return subprocess.run(command, check=False, capture_output=True, text=True).stdout
