"""The standard streams of a command that runs elsewhere."""

from __future__ import annotations

import os
import threading

import pytest

from pyhelpers.testhost import streams


def test_output_is_gathered_while_input_is_fed_and_neither_blocks() -> None:
    data = os.urandom(300_000)
    with streams.Streams(data) as pipes:
        stdin, stdout, _ = (os.dup(fd) for fd in pipes.theirs)
        taken = bytearray()

        def work() -> None:
            while len(taken) < len(data):
                block = os.read(stdin, 65536)
                taken.extend(block)
                os.write(stdout, block)
            os.write(stdout, b"\xff!")
            os.close(stdout)
            os.close(stdin)

        worker = threading.Thread(target=work)
        worker.start()
        worker.join()
        out, err = pipes.finish()
    assert bytes(taken) == data
    assert out.encode(errors="surrogateescape") == data + b"\xff!"
    assert err == ""


def test_a_stream_that_somebody_else_keeps_open_is_not_waited_for() -> None:
    with streams.Streams(b"") as pipes:
        kept = os.dup(pipes.theirs[1])
        os.write(kept, b"before")
        assert pipes.finish() == ("before", "")
    with pytest.raises(BrokenPipeError):
        os.write(kept, b"after")
    os.close(kept)
