"""A thread that reads a source repeatedly while its producer publishes."""

from __future__ import annotations

import logging
import threading
from types import TracebackType
from typing import Protocol, Self

from kafka_replica.errors import KafkaReplicaError
from kafka_replica.producer.notices.notices import SourceFailure, SourceRead
from kafka_replica.producer.service.structure_producer import StructureProducer
from kafka_replica.producer.sources.recording import Source, read_and_record

_log = logging.getLogger("kafka_replica.producer")

_STAND_BY_S = 0.25
_CLOSE_S = 10.0


class WatchedSource(Source, Protocol):
    """A source that decides when it is read again."""

    def wait(self, closing: threading.Event) -> None:
        """Wait until the source may have changed, or a time limit has passed; return soon after ``closing`` is set."""


class Watcher:
    """A thread that records a source; of several instances of a producer, only the publishing instance reads it.

    ::

        with StructureProducer(settings) as producer, Watcher(FolderSource(folder), producer):
            ...

    If a source cannot be read, this is logged and reported to observers (``SourceFailure``), and reading is retried.
    """

    def __init__(self, source: WatchedSource, producer: StructureProducer) -> None:
        self._source = source
        self._producer = producer
        self._closing = threading.Event()
        self._led = False
        self._failure: str | None = None
        self._unreadable: tuple[str, ...] = ()
        self._thread = threading.Thread(target=self._run, name="kafka_replica source", daemon=True)

    def __repr__(self) -> str:
        state = "running" if self._thread.is_alive() else "not running"
        return f"<Watcher of {self._source!r}, {state}>"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the thread; wait up to 10 s for a read in progress, which is harmless if it takes longer."""
        self._closing.set()
        if self._thread.is_alive():
            self._thread.join(_CLOSE_S)

    def _run(self) -> None:
        while not self._closing.is_set():
            if not self._producer.leads:
                self._led = False
                self._closing.wait(_STAND_BY_S)
                continue
            if not self._led:
                self._source.forget()  # another instance may have recorded the source since
                self._led = True
            self._record()
            self._source.wait(self._closing)

    def _record(self) -> None:
        try:
            result = read_and_record(self._source, self._producer)
        except KafkaReplicaError as error:
            self._report_failure(str(error))
        except Exception as error:  # noqa: BLE001 - whatever it is, reading is retried and the error is reported
            _log.exception("unexpected error in a source")
            self._report_failure(f"{type(error).__name__}: {error}")
        else:
            before = self._unreadable
            self._unreadable = before if result is None else result.unreadable
            tx_ids = () if result is None else result.tx_ids
            if tx_ids or self._failure is not None or self._unreadable != before:
                self._failure = None
                self._report(SourceRead(tx_ids, self._unreadable))

    def _report_failure(self, reason: str) -> None:
        if reason != self._failure:
            self._failure = reason
            _log.warning("%s", reason)
            self._report(SourceFailure(reason))

    def _report(self, notice: SourceRead | SourceFailure) -> None:
        try:
            self._producer.notify(notice)
        except Exception:  # noqa: BLE001 - a failing observer must not stop the watcher
            _log.exception("an observer of the producer failed")
