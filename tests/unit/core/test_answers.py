"""Answers that arrive in pieces of any size are complete, in order, and in buffers of their own."""

from __future__ import annotations

import asyncio
import errno
import os
import struct
from types import SimpleNamespace
from typing import NoReturn, cast

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kafka_replica.broker.wire.connection import _AHEAD_BYTES, _Answers
from kafka_replica.errors import BrokerError


class Transport:
    """A transport without a socket, as with TLS."""

    def get_extra_info(self, name: str) -> object:
        """Return None, except that there is TLS."""
        return name == "ssl_object" or None


def fed(answers: _Answers, data: bytes, pieces: list[int]) -> int:
    """Let data arrive in pieces of at most these sizes, as an event loop does; return the number of steps."""
    at = number = 0
    while at < len(data) and answers.lost is None:
        buffer = answers.get_buffer(-1)
        size = min(len(buffer), pieces[number % len(pieces)], len(data) - at)
        assert size > 0
        buffer[:size] = data[at : at + size]
        answers.buffer_updated(size)
        at, number = at + size, number + 1
    return number


def made() -> _Answers:
    """Return the receiver of a connection."""
    return _Answers("here:1", cast("asyncio.Transport", Transport()))


@given(
    st.lists(st.integers(1, 60) | st.sampled_from([_AHEAD_BYTES - 9, _AHEAD_BYTES, 70_000, 1 << 20]), max_size=6),
    st.lists(st.integers(1, 30) | st.sampled_from([1, 4, 9_000, 1 << 21]), min_size=1, max_size=4),
)
@example([5, 6, 7], [1 << 21])
def test_any_pieces(sizes: list[int], pieces: list[int]) -> None:
    """Each answer is what was sent, however it is split, and keeps its content when later ones arrive."""
    if min(pieces) < 30:
        sizes = [min(size, 2 * _AHEAD_BYTES) for size in sizes]  # for the time it takes
    sent = [bytes([number]) * size for number, size in enumerate(sizes)]

    async def run() -> list[bytes]:
        answers = made()
        futures = [asyncio.get_running_loop().create_future() for _ in sent]
        answers.waiting.extend((number, True, future) for number, future in enumerate(futures))
        data = b"".join(struct.pack(">iib", 5 + len(one), number, 0) + one for number, one in enumerate(sent))
        steps = fed(answers, data, pieces)
        assert not answers.waiting
        if max(sizes, default=0) <= 60 and min(pieces) >= 9_000:
            assert steps <= 1  # the event loop wakes up once for short answers that arrived together
        return [bytes(future.result()) for future in futures]

    assert asyncio.run(run()) == sent


def test_each_piece_counts_as_received(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time of the last data is known while an answer is incomplete, so that a slow broker is not a silent one."""
    now_s = iter(range(1, 100))
    monkeypatch.setattr("kafka_replica.broker.wire.connection.time", SimpleNamespace(monotonic=lambda: next(now_s)))

    async def run() -> None:
        answers = made()
        assert answers.received_s == 1
        assert fed(answers, struct.pack(">ii", 1 << 20, 0) + bytes(300_000), [100_000]) > 3
        assert answers.received_s == next(now_s) - 1

    asyncio.run(run())


@pytest.mark.parametrize("size", [-1, 3, 1 << 30 | 1])
def test_another_protocol(size: int) -> None:
    """An impossible size means that the peer is not Kafka, also where it follows an answer."""

    async def run() -> None:
        answers = made()
        future = asyncio.get_running_loop().create_future()
        answers.waiting.append((7, True, future))
        fed(answers, struct.pack(">iib", 5, 7, 0) + struct.pack(">i", size) + b"HTTP", [1 << 10])
        assert bytes(future.result()) == b""
        assert isinstance(answers.lost, BrokerError)
        assert "does not speak Kafka's protocol" in str(answers.lost)

    asyncio.run(run())


class WithoutDescriptors(Transport):
    """A transport without TLS, in a process with too many open files."""

    def get_extra_info(self, name: str) -> object:
        """Return the socket, which cannot be duplicated."""
        return self if name == "socket" else None

    def setsockopt(self, *_option: int) -> None:
        """Do nothing."""

    def dup(self) -> NoReturn:
        """Fail as the system does."""
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    def pause_reading(self) -> NoReturn:
        """Fail, because the event loop has to receive the next answer."""
        raise AssertionError


def test_without_a_free_descriptor_the_event_loop_receives() -> None:
    """If the thread's copy of the socket cannot be made, long answers are received as short ones."""

    async def run() -> list[bytes]:
        answers = _Answers("here:1", cast("asyncio.Transport", WithoutDescriptors()))
        futures = [asyncio.get_running_loop().create_future() for _ in range(3)]
        answers.waiting.extend((number, False, future) for number, future in enumerate(futures))
        for number in range(3):
            fed(answers, struct.pack(">ii", (1 << 20) + 4, number) + bytes([number]) * (1 << 20), [1 << 21])
        return [bytes(future.result()) for future in futures]

    assert asyncio.run(run()) == [bytes([number]) * (1 << 20) for number in range(3)]
