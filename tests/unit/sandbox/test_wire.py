"""Messages with descriptors."""

from __future__ import annotations

import os

import pytest

from pyhelpers.sandbox import wire


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
