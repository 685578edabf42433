"""Runs inside a sandbox or host: puts a command under a seccomp filter whose listener goes to the outside.

Sent in as source text (`python3 -I -S -c SOURCE SOCKET NUMBERS OPENS -- CMD…`), so it imports the standard library
only. The filter notifies for each system call in NUMBERS, and for those in OPENS (`number:argument that holds the
flags`) only with a flag that can write. Kernel facts: seccomp(2), seccomp_unotify(2), linux/seccomp.h.
"""

import array
import ctypes
import os
import socket
import struct
import sys

ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
NR_SECCOMP = {"x86_64": 317, "aarch64": 277}
SET_MODE_FILTER, NEW_LISTENER, WAIT_KILLABLE_RECV = 1, 1 << 3, 1 << 5
ALLOW, NOTIFY = 0x7FFF0000, 0x7FC00000
LOAD, JEQ, JSET, RETURN = 0x20, 0x15, 0x45, 0x06
OFFSET_NR, OFFSET_ARCH, OFFSET_ARGS = 0, 4, 16
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def program(numbers: "list[int]", opens: "list[tuple[int, int]]", arch: int) -> bytes:
    """The classic BPF program as packed struct sock_filter's."""
    code = [(LOAD, 0, 0, OFFSET_ARCH), (JEQ, 1, 0, arch), (RETURN, 0, 0, ALLOW), (LOAD, 0, 0, OFFSET_NR)]
    for number in numbers:
        code += [(JEQ, 0, 1, number), (RETURN, 0, 0, NOTIFY)]
    for number, argument in opens:
        code += [(JEQ, 0, 4, number), (LOAD, 0, 0, OFFSET_ARGS + 8 * argument), (JSET, 0, 1, WRITING)]
        code += [(RETURN, 0, 0, NOTIFY), (RETURN, 0, 0, ALLOW)]
    code.append((RETURN, 0, 0, ALLOW))
    return b"".join(struct.pack("HBBI", *line) for line in code)


def install(numbers: "list[int]", opens: "list[tuple[int, int]]") -> int:
    """Put this process under the filter -> the listener's descriptor. Raises OSError."""
    machine = os.uname().machine
    text = program(numbers, opens, ARCH[machine])
    buffer = ctypes.create_string_buffer(text, len(text))
    fprog = struct.pack("HxxxxxxP", len(text) // 8, ctypes.addressof(buffer))
    libc = ctypes.CDLL(None, use_errno=True)
    flags = NEW_LISTENER | WAIT_KILLABLE_RECV
    fd = int(libc.syscall(NR_SECCOMP[machine], SET_MODE_FILTER, flags, ctypes.c_char_p(fprog)))
    if fd < 0:
        raise OSError(ctypes.get_errno(), "seccomp listener")
    return fd


def main() -> None:
    """Install, hand over the listener, exec."""
    path, command = sys.argv[1], sys.argv[5:]
    numbers = [int(number) for number in sys.argv[2].split(",")]
    opens = [(int(number), int(argument)) for number, argument in (pair.split(":") for pair in sys.argv[3].split(","))]
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as link:
        link.connect(path)
        fd = install(numbers, opens)
        link.sendmsg([b"l"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [fd]))])
        os.close(fd)
    os.execvp(command[0], command)


if __name__ == "__main__":
    main()
