"""Work of other threads while a batch is processed: all of it, in order, and errors at their place."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from itertools import count

import pytest

from kafka_replica.data.polars.background_threads import WriteBehind, read_ahead


def _running() -> set[str]:
    return {
        thread.name
        for thread in threading.enumerate()
        if thread.name.startswith(("kafka-replica-reading", "kafka-replica-writing"))
    }


def test_all_items_come_in_order() -> None:
    """Each item comes once, also if there is none; no thread stays."""
    for number in (0, 1, 2, 50):
        assert list(read_ahead(iter(range(number)))) == list(range(number))
    assert _running() == set()


def test_the_next_item_is_made_meanwhile() -> None:
    """While an item is processed, the next one is being made, but no further one."""
    made: list[int] = []
    is_made = threading.Semaphore(0)

    def items() -> Iterator[int]:
        for number in range(4):
            made.append(number)
            is_made.release()
            yield number

    found = read_ahead(items())
    assert next(found) == 0
    for _ in range(2):
        assert is_made.acquire(timeout=60)
    assert made == [0, 1]
    assert list(found) == [1, 2, 3]


def test_an_error_comes_after_the_items_before_it() -> None:
    """The error is that of the iterator, and ends it."""

    def items() -> Iterator[int]:
        yield 1
        yield 2
        raise LookupError("row 3")

    found = read_ahead(items())
    assert [next(found), next(found)] == [1, 2]
    with pytest.raises(LookupError, match="row 3"):
        next(found)
    assert list(found) == []
    assert _running() == set()


def test_a_reader_may_stop_early() -> None:
    """The thread ends with the iterator, although there would be more items."""
    found = read_ahead(count())
    assert next(found) == 0
    assert len(_running()) == 1
    found.close()  # type: ignore[attr-defined]
    assert _running() == set()


def test_work_is_done_in_order_while_the_caller_goes_on() -> None:
    """A piece of work does not delay the caller; the next one waits for it."""
    behind, may_end, done = WriteBehind(), threading.Event(), list[int]()

    def first() -> None:
        assert may_end.wait(60)
        done.append(1)

    behind.begin(first)
    assert done == []
    may_end.set()
    for number in range(2, 20):
        behind.begin(lambda number=number: done.append(number))  # type: ignore[misc]
        assert done[: number - 1] == list(range(1, number))
    behind.finish()
    assert done == list(range(1, 20))
    behind.close()
    assert _running() == set()


def test_an_error_of_work_is_raised_by_the_next_call() -> None:
    """The error is raised once; ``close`` raises nothing, and ends the thread."""
    behind = WriteBehind()

    def fail() -> None:
        raise LookupError("the disk is full")

    behind.begin(fail)
    with pytest.raises(LookupError, match="disk"):
        behind.begin(lambda: None)
    behind.begin(fail)
    with pytest.raises(LookupError, match="disk"):
        behind.finish()
    behind.begin(fail)
    behind.close()
    assert _running() == set()
