"""A pool of daemon threads, in which an endless computation delays neither the shutdown nor the end of the process."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future
from functools import partial
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Any, ParamSpec, TypeAlias, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
_Work: TypeAlias = tuple["Future[Any]", Callable[[], Any]]


class DaemonThreads(Executor):
    """An executor whose threads are daemons; before a process ends, Python waits for ``ThreadPoolExecutor``'s threads.

    Args:
        count: the number of threads; they start when the first function is submitted.
        name: the prefix of the threads' names.
    """

    def __init__(self, count: int, name: str) -> None:
        self._queue: SimpleQueue[_Work | None] = SimpleQueue()
        self._lock = Lock()
        self._threads: list[Thread] = []
        self._count, self._name = count, name
        self._closed = False

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Run a function in one of the threads.

        Raises:
            RuntimeError: the executor was shut down.
        """
        future: Future[T] = Future()
        with self._lock:
            if self._closed:
                raise RuntimeError("these threads were shut down")
            if not self._threads:
                self._start()
            self._queue.put((future, partial(fn, *args, **kwargs)))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the threads after the submitted functions. Idempotent.

        Args:
            wait: whether to wait until the threads have ended.
            cancel_futures: whether to cancel functions that have not started.
        """
        with self._lock:
            if not self._closed:
                self._closed = True
                while cancel_futures and not self._queue.empty():
                    if (work := self._queue.get()) is not None:
                        work[0].cancel()
                for _ in self._threads:
                    self._queue.put(None)
        if wait:
            for thread in self._threads:
                thread.join()

    def _start(self) -> None:
        for number in range(self._count):
            self._threads.append(Thread(target=self._run, name=f"{self._name} {number}", daemon=True))
            self._threads[-1].start()

    def _run(self) -> None:
        while (work := self._queue.get()) is not None:
            future, compute = work
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(compute())
            except BaseException as error:  # noqa: BLE001 - raised where the result is awaited
                future.set_exception(error)
            del work, future, compute  # so that a waiting thread keeps no answer in memory
