"""The supervisor that keeps a store in step with its topics, whatever happens to them, in a separate thread.

A follower follows one log. If the log is no longer the one that the store was built from (a topic was created again,
truncated, or read too late for its deletions), or if the store is damaged, another follower rebuilds the store in the
background. Readers keep the previous version, marked as stale, until the new one is complete; then listeners receive
the difference.
"""

from __future__ import annotations

import logging
from threading import Event
from typing import Protocol

from kafka_replica.broker.reading.readers import make_reader
from kafka_replica.errors import KafkaReplicaError, LogReplacedError, StoreDamagedError
from kafka_replica.publication.lifecycle import LifecycleLog
from kafka_replica.publication.publisher import Publisher
from kafka_replica.replication.answered import Answered
from kafka_replica.replication.follower import Follower
from kafka_replica.replication.opening import MakeReader
from kafka_replica.replication.options import ReplicaOptions
from kafka_replica.stores import Store
from kafka_replica.transactions.resume_point import ResumePoint

_log = logging.getLogger("kafka_replica")

_RAISED_BY_USER = "a function that was given to the replica raised it; raise a subclass of Exception there"
_NO_MEMORY = "start it again with more memory"
_PAUSES_S = (0.0, 0.2, 1.0, 5.0, 30.0)  # the pause between rebuilds that do not complete


class Supervision(Protocol):
    """An object that keeps a store in step with its source until it is closed, in a thread that calls ``run``."""

    closing: Event

    def run(self) -> None:
        """Follow the source; if an error ends this, report it to the publisher."""


class Supervisor:
    """The supervisor of followers, until ``closing`` is set. It reports to the publisher."""

    def __init__(
        self, options: ReplicaOptions, store: Store, publisher: Publisher, make_reader: MakeReader = make_reader
    ) -> None:
        self.closing = Event()
        self._options = options
        self._store = store
        self._publisher = publisher
        self._make_reader = make_reader
        self._lifecycle = LifecycleLog(options.name, publisher)
        self._answered = Answered()

    def run(self) -> None:
        """Follow the topics; if an error ends this, report it to the publisher."""
        name = self._options.name
        try:
            self._keep()
        except KafkaReplicaError as error:
            if self.closing.is_set():  # the store may be closed before reading has ended
                _log.info("the replica of %s was closed: %s", name, error)
            else:
                self._fail(error)
        except BaseException as error:  # noqa: BLE001 - a thread must never end unnoticed
            _log.exception("unexpected error in the replica of %s", name)
            advice = "please report this" if isinstance(error, Exception) else _RAISED_BY_USER
            advice = _NO_MEMORY if isinstance(error, MemoryError) else advice
            self._fail(KafkaReplicaError(f"replicating {name}: {type(error).__name__}: {error}; {advice}"))
        finally:
            if self.closing.is_set():
                self._publisher.stopped()
            self._lifecycle.note()

    def _keep(self) -> None:
        resume_point = self._read_resume_point()
        self._lifecycle.started(None if resume_point is None else str(resume_point.position))
        if self._store.damage is not None:
            _log.warning("the replica of %s is rebuilt, because its store was damaged", self._options.name)
            self._publisher.outdated(self._store.damage)
        incomplete = 0
        while not self.closing.is_set():
            follower = Follower(
                self._options, self._store, self._publisher, self._make_reader, self.closing, self._lifecycle,
                self._answered,
            )  # fmt: skip
            try:
                follower.follow(resume_point)
            except (LogReplacedError, StoreDamagedError) as error:
                if self.closing.is_set():
                    raise  # the files of the store may be those of another process by now
                incomplete = 0 if self._publisher.health.is_ready else incomplete + 1
                pause_s = _PAUSES_S[min(incomplete, len(_PAUSES_S) - 1)]
                soon = f" in {pause_s:g} s (attempt {incomplete + 1})" if incomplete else ""
                _log.warning("%s; the replica of %s is rebuilt%s", error, self._options.name, soon)
                self._rebuild(error)
                resume_point = None
                self._publisher.health.paused(pause_s)
                self.closing.wait(pause_s)

    def _read_resume_point(self) -> ResumePoint | None:
        """Return the resume point of the store's saved version, if reading can continue from there."""
        resume_point = self._store.resume_point
        if resume_point is None:
            return None
        if resume_point.selection != self._options.selection:
            reason = "it was written for other topics, or with another filter or header stack"
        elif resume_point.has_keys_in_several_partitions:
            reason = "some of its keys have records in several partitions, of which only one is kept"
        else:
            return resume_point
        _log.warning("%r is rebuilt: %s", self._store, reason)
        self._store.rebuild(forget=True)
        return None

    def _rebuild(self, reason: KafkaReplicaError) -> None:
        shown = self._publisher.has_version
        self._store.rebuild(forget=not shown)
        self._publisher.outdated(reason)

    def _fail(self, error: KafkaReplicaError) -> None:
        _log.error("the replica of %s failed: %s", self._options.name, error)
        self._publisher.failed(error)
