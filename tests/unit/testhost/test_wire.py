"""Requests and descriptors between a tool and a keeper, and the streams of a command."""

from __future__ import annotations

import os
import threading

import pytest

from pyhelpers.sandbox import wire
from pyhelpers.testhost import streams


def test_a_message_arrives_whole_with_its_descriptors() -> None:
    ours, theirs = wire.pair()
    read, write = os.pipe()
    with ours, theirs:
        wire.send(ours, {"text": "ü" * 200_000}, [write])
        message, (fd,) = wire.receive(theirs)
        os.write(fd, b"x")
        assert (message, os.read(read, 2)) == ({"text": "ü" * 200_000}, b"x")
        os.close(fd)
    os.close(read)
    os.close(write)


def test_a_message_that_is_too_long_is_refused_not_cut() -> None:
    ours, theirs = wire.pair()
    with ours, theirs, pytest.raises(OSError, match="too long"):
        wire.send(ours, {"text": "x" * wire.MESSAGE_MAX})


def test_the_end_of_the_other_side_is_told_from_a_message() -> None:
    ours, theirs = wire.pair()
    with theirs:
        wire.send(ours, {})
        ours.close()
        assert wire.receive(theirs) == ({}, [])
        assert wire.receive(theirs) == (None, [])


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
