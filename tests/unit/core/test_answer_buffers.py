"""Buffers of answers: never shared while anyone holds a view, used again afterwards, and freed in the end."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kafka_replica.broker.wire.answer_buffers import AnswerBuffers

MB = 1 << 20


def test_a_long_buffer_is_used_again_once_nobody_holds_a_view() -> None:
    """The second answer gets the memory of the first one, unless a part of that is still held."""
    buffers = AnswerBuffers()
    view = buffers.take(3 * MB)
    first = id(view.obj)
    part = view[100:200]
    del view
    assert id(buffers.take(3 * MB).obj) != first
    del part
    again = {id(buffers.take(2 * MB + 17).obj) for _ in range(2)}
    assert first in again


@given(st.lists(st.tuples(st.sampled_from([10, 300_000, MB, 3 * MB]), st.integers(0, 4)), max_size=30))
def test_no_two_answers_share_memory(steps: list[tuple[int, int]]) -> None:
    """Whatever is held and for how long, a buffer has the requested size and overlaps no other one that is held."""
    buffers = AnswerBuffers()
    held: list[tuple[int, memoryview]] = []
    for number, (size, keeps) in enumerate(steps):
        view = buffers.take(size)
        assert len(view) == size
        view[0] = view[-1] = number
        held = [*held, (number, view[: size // 2 or 1])][-keeps:] if keeps else []
        del view
        assert all(view[0] == mark for mark, view in held)


def test_short_answers_free_the_long_buffers() -> None:
    """A connection that receives short answers only keeps no memory for long ones."""
    buffers = AnswerBuffers()
    buffers.take(8 * MB)
    for _ in range(200):
        buffers.take(100)
    assert buffers.kept_bytes == 0
