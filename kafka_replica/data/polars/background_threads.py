"""Read the next batch, and write the last one, in other threads while a batch is processed.

Reading, parsing and writing by polars release the interpreter lock, so each of them can use the processors that the
others leave idle.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Final, TypeVar, cast

T = TypeVar("T")

_END: Final = object()


def read_ahead(items: Iterator[T]) -> Iterator[T]:
    """Yield the items, while another thread makes the next one.

    An exception of the iterator is raised where its item would have been.

    Args:
        items: an iterator that another thread may use.
    """
    with ThreadPoolExecutor(1, thread_name_prefix="kafka-replica-reading") as thread:
        coming = thread.submit(next, items, _END)
        while (item := coming.result()) is not _END:
            coming = thread.submit(next, items, _END)
            yield cast("T", item)


class WriteBehind:
    """Runs tasks in another thread, one after the other, while the caller prepares the next task.

    An exception of a task is raised by the next call.
    """

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="kafka-replica-writing")
        self._pending: Future[None] | None = None

    def begin(self, work: Callable[[], None]) -> None:
        """Start a task, once the previous task is done."""
        self.finish()
        self._pending = self._thread.submit(work)

    def finish(self) -> None:
        """Wait until everything is done."""
        pending, self._pending = self._pending, None
        if pending is not None:
            pending.result()

    def close(self) -> None:
        """End the thread, without raising an exception of the last task; call ``finish`` first."""
        with suppress(Exception):
            self.finish()
        self._thread.shutdown()
