"""Keeps a host from the machine's disks: root in it can make any device node, but none that is a disk opens.

A three-line program of the kernel's device controller on the host's cgroup (cgroup2 knows no other way; it works on
hybrid machines too). Source: linux/bpf.h, struct bpf_cgroup_dev_ctx.
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct

_SYS_BPF = {"x86_64": 321, "aarch64": 280}
_PROG_LOAD, _PROG_ATTACH = 5, 8
_TYPE_CGROUP_DEVICE, _ATTACH_CGROUP_DEVICE, _ALLOW_MULTI = 15, 6, 2
_BLOCK, _READ_OR_WRITE = 1, 6


def _instruction(code: int, target: int = 0, source: int = 0, jump: int = 0, value: int = 0) -> bytes:
    return struct.pack("BBhi", code, target | source << 4, jump, value)


# ctx->access_type is (what is wanted << 16) | kind of device; r0 is the verdict.
_PROGRAM = b"".join(
    (
        _instruction(0x61, target=2, source=1),  # r2 = ctx->access_type
        _instruction(0xBF, target=3, source=2),  # r3 = r2
        _instruction(0x57, target=2, value=0xFFFF),  # r2 &= 0xffff
        _instruction(0x77, target=3, value=16),  # r3 >>= 16
        _instruction(0x57, target=3, value=_READ_OR_WRITE),  # r3 &= read | write
        _instruction(0xB7, target=0, value=1),  # r0 = 1
        _instruction(0x55, target=2, jump=2, value=_BLOCK),  # not a block device: return
        _instruction(0x15, target=3, jump=1, value=0),  # only made, not opened: return
        _instruction(0xB7, target=0, value=0),  # r0 = 0
        _instruction(0x95),  # return
    )
)


def forbid_disks(cgroup_fd: int) -> bool:
    """Let no process in the cgroup (or below) open a block device; False when this kernel cannot do it."""
    number = _SYS_BPF.get(platform.machine())
    if number is None:
        return False
    program, licence = ctypes.create_string_buffer(_PROGRAM, len(_PROGRAM)), ctypes.create_string_buffer(b"MIT")
    addresses = (ctypes.addressof(program), ctypes.addressof(licence))
    count = len(_PROGRAM) // 8
    loaded = _bpf(number, _PROG_LOAD, struct.pack("IIQQ", _TYPE_CGROUP_DEVICE, count, *addresses))
    if loaded < 0:
        return False
    attach = struct.pack("IIII", cgroup_fd, loaded, _ATTACH_CGROUP_DEVICE, _ALLOW_MULTI)
    attached = _bpf(number, _PROG_ATTACH, attach)
    os.close(loaded)
    return attached == 0


def _bpf(number: int, command: int, attributes: bytes) -> int:
    whole = attributes.ljust(72, b"\0")
    libc = ctypes.CDLL(None)
    return int(libc.syscall(ctypes.c_long(number), ctypes.c_long(command), whole, ctypes.c_long(len(whole))))
