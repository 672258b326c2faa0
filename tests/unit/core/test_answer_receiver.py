"""The thread that receives long answers: complete and in order, whatever the pieces, and it ends in each case."""

from __future__ import annotations

import asyncio
import random
import socket
import struct
import threading
import time
from collections.abc import Callable

import pytest

from kafka_replica.broker.wire.answer_buffers import AnswerBuffers
from kafka_replica.broker.wire.receiving import LONG_BYTES, AnswerReceiver, NotKafkaError
from support.waiting import wait_until


def received(send: Callable[[socket.socket], None], *, holds: bool = False) -> tuple[list[bytes], Exception | None]:
    """Return the answers that a receiver passes on, and why it ended; ``send`` is the broker's side, in a thread."""
    ours, theirs = socket.socketpair()
    loop = asyncio.new_event_loop()
    answers: list[bytes] = []
    held: list[memoryview] = []
    ended: asyncio.Future[Exception | None] = loop.create_future()

    def answered(answer: memoryview) -> None:
        answers.append(bytes(answer))
        if holds:
            held.append(answer)

    writer = threading.Thread(target=send, args=(theirs,))
    writer.start()
    try:
        AnswerReceiver(ours, AnswerBuffers(), loop, answered, ended.set_result)
        reason = loop.run_until_complete(asyncio.wait_for(ended, 60))
    finally:
        writer.join(60)
        theirs.close()
        loop.close()
    assert [bytes(view) for view in held] == (answers if holds else [])
    return answers, reason


def framed(answer: bytes) -> bytes:
    """Return an answer as it is sent."""
    return struct.pack(">i", len(answer)) + answer


@pytest.mark.thorough
@pytest.mark.parametrize("holds", [False, True])
def test_answers_come_whole_and_in_order(holds: bool) -> None:
    """Long answers, and short ones between them, arrive as they were sent; two short ones in sequence end it."""
    dice = random.Random(7)
    long = [dice.randbytes(LONG_BYTES + dice.randrange(LONG_BYTES)) for _ in range(6)]
    sent = [piece for answer in long for piece in (answer, dice.randbytes(dice.randrange(4, 99)))] + [b"last one"]

    def send(peer: socket.socket) -> None:
        data, at = b"".join(map(framed, sent)), 0
        while at < len(data):
            step = dice.choice((1, 3, 1000, 300_000, 2_000_000))
            peer.sendall(data[at : at + step])
            at += step

    assert received(send, holds=holds) == (sent, None)


def test_a_connection_that_ends_is_reported() -> None:
    """The answers before the end are passed on; an answer that is cut off is not."""

    def send(peer: socket.socket) -> None:
        peer.sendall(framed(b"a" * LONG_BYTES) + framed(b"b" * LONG_BYTES)[:1000])
        peer.shutdown(socket.SHUT_RDWR)

    answers, reason = received(send)
    assert answers == [b"a" * LONG_BYTES]
    assert isinstance(reason, ConnectionError)


@pytest.mark.parametrize("size", [-1, 3, (1 << 30) + 1])
def test_a_size_that_is_none_is_reported(size: int) -> None:
    """A peer that does not speak Kafka's protocol cannot make us request any amount of memory."""
    answers, reason = received(lambda peer: peer.sendall(struct.pack(">i", size)))
    assert answers == []
    assert isinstance(reason, NotKafkaError)


@pytest.mark.thorough
def test_part_of_an_answer_counts_as_received() -> None:
    """The time of the last data is known while the rest of the answer is awaited, which then completes it."""
    ours, theirs = socket.socketpair()
    loop = asyncio.new_event_loop()
    answered: asyncio.Future[memoryview] = loop.create_future()
    receiver = AnswerReceiver(ours, AnswerBuffers(), loop, answered.set_result, lambda _: None)
    data = framed(random.Random(7).randbytes(LONG_BYTES))
    for piece in (data[:4], data[4:1000]):
        sent_s = time.monotonic()
        theirs.sendall(piece)
        wait_until(lambda sent_s=sent_s: receiver.received_s > sent_s, timeout_s=10)  # type: ignore[misc]
    theirs.sendall(data[1000:])
    assert bytes(loop.run_until_complete(asyncio.wait_for(answered, 10))) == data[4:]
    loop.close()
    receiver.stop()
    theirs.close()


def test_stopping_ends_the_thread_while_the_peer_is_silent() -> None:
    """A receiver that waits for a silent broker ends at once when it is stopped, also after its loop was closed."""
    ours, theirs = socket.socketpair()
    loop = asyncio.new_event_loop()
    receiver = AnswerReceiver(ours, AnswerBuffers(), loop, lambda _: None, lambda _: None)
    loop.close()
    receiver.stop()
    assert not receiver.is_alive
    theirs.close()
