"""A connection between two processes of the service: messages in both directions, in order.

A separate thread sends, so that no other thread waits for the other process. The processes trust each other: one has
started the other, and no third process has access to the connection. When the connection is closed, the other process
has ended.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from multiprocessing.connection import Connection
from queue import SimpleQueue
from socket import SHUT_RDWR, socket
from threading import Event, Thread
from typing import Any, Final

from kafka_replica.errors import KafkaReplicaError

_log = logging.getLogger("kafka_replica.server")
_END: Final = object()
_CHECK_EVERY_S: Final = 0.2
Later = Callable[[], Iterable[Any]]
"""A function that creates messages at the time when they are sent."""


class Link:
    """This process's end of a connection to another process.

    Args:
        connection: one end of a pair of sockets; the link owns it.
        name: the name of the other process, for the thread and log lines.
    """

    def __init__(self, connection: Connection, name: str) -> None:
        self._connection = connection
        self._name = name
        self._queue: SimpleQueue[Any] = SimpleQueue()
        self._thread = Thread(target=self._send, name=f"kafka_replica link to {name}", daemon=True)
        self._thread.start()

    def put(self, message: Any) -> None:
        """Queue a message, which the sending thread sends."""
        self._queue.put(message)

    def put_later(self, messages: Later) -> None:
        """Queue a function; the sending thread calls it and sends its messages when it is their turn."""
        self._queue.put(_Lazy(messages))

    def received(self, ended: Event | None = None) -> Iterator[Any]:
        """Yield the messages of the other process until it ends, the link is closed, or the event is set."""
        try:
            while ended is None or not ended.is_set():
                if ended is None or self._connection.poll(_CHECK_EVERY_S):
                    yield self._connection.recv()
        except (EOFError, OSError):
            return

    def close(self, timeout_s: float = 1.0) -> None:
        """Send the queued messages, within the timeout, and close the connection. Idempotent."""
        self._queue.put(_END)
        self._thread.join(timeout_s)
        self._end()

    def _send(self) -> None:
        try:
            while (message := self._queue.get()) is not _END:
                if isinstance(message, _Lazy):
                    for each in message.messages():
                        self._connection.send(each)
                else:
                    self._connection.send(message)
                del message  # so that a waiting thread keeps no version in memory
        except (OSError, ValueError):
            pass  # the other process has ended, which the receiving side notices
        except KafkaReplicaError as error:
            _log.error("sending a version to %s: %s", self._name, error)
            self._end()

    def _end(self) -> None:
        """Shut the connection down for both sides; the descriptor stays open, because a thread may be receiving."""
        with suppress(OSError), socket(fileno=os.dup(self._connection.fileno())) as own:
            own.shutdown(SHUT_RDWR)


class _Lazy:
    __slots__ = ("messages",)

    def __init__(self, messages: Later) -> None:
        self.messages = messages
