"""The reaction of a directory to bad records: they stop it, or are left out."""

from __future__ import annotations

import logging
from collections.abc import Collection
from threading import Lock
from typing import Generic, TypeVar

from kafka_replica.common.wording import counted
from kafka_replica.directories.contents.contents import Contents, UndecodedContents
from kafka_replica.directories.contents.schema import BadRecordPolicy
from kafka_replica.errors import BadRecordError
from kafka_replica.replication.dead_letters import DeadLetters

T = TypeVar("T")

_log = logging.getLogger("kafka_replica.directories")


class BadRecordHandler(Generic[T]):
    """The handler of the bad records of each new version. Any thread may call ``log`` and read ``stopping``.

    Args:
        name: the name of the objects' type, for the log.
        policy: "stop" shows no version that has a bad record.
        dead_letters: receives the bad records that are left out; None if they are not kept.
    """

    def __init__(self, name: str, policy: BadRecordPolicy, dead_letters: DeadLetters | None) -> None:
        self._name = name
        self._stops = policy == "stop"
        self._dead_letters = dead_letters
        self.stopping: BadRecordError | None = None
        """The bad record of the newest version because of which the version is not shown."""
        self._logged: BadRecordError | None = None
        self._left_out: list[BadRecordError] = []
        self._logging = Lock()

    def error_of(self, contents: Contents[T] | UndecodedContents[T]) -> BadRecordError | None:
        """Return the first bad record of a version if the version must not be shown because of it, or else None."""
        if not self.stop_at(contents):
            return None
        return min(contents.bad_records.values(), key=_place, default=None)

    def stop_at(self, contents: Contents[T] | UndecodedContents[T]) -> bool:
        """Return whether a version must not be shown because of a bad record."""
        return self._stops and len(contents.bad_records) > 0

    def handle(self, now: Contents[T], touched: Collection[bytes] | None) -> None:
        """Handle the bad records of a new version.

        Args:
            now: the version.
            touched: the keys of the records that may have changed; None means all.

        Raises:
            KafkaReplicaError: the dead letters could not be written.
        """
        if self._stops:
            self.update_stop(now)
            return
        found = [now.bad_records.get(key) for key in (now.bad_records if touched is None else touched)]
        left_out = [each for each in found if each is not None]
        if left_out and self._dead_letters is not None:
            self._dead_letters.put(left_out)
        self._left_out = left_out

    def update_stop(self, now: Contents[T]) -> None:
        """Determine whether a bad record of the newest version stops the directory."""
        last = self.stopping
        if last is None or last.key is None or now.bad_records.get(last.key) is not last:
            self.stopping = self.error_of(now)

    def log(self, version: int) -> None:
        """Log bad records that were left out, and a stop or its end, if these are new; call this without the lock."""
        with self._logging:  # a retry may be in another thread
            left_out, self._left_out = self._left_out, []
            stopping, logged, self._logged = self.stopping, self._logged, self.stopping
        if left_out:
            others = f"; and {counted(len(left_out) - 1, 'other record')}" if len(left_out) > 1 else ""
            _log.warning("the directory of %s sets aside the %s%s", self._name, left_out[0], others)
        if str(stopping) == str(logged):
            return
        if stopping is None:
            _log.warning("the directory of %s continues at version %d, without bad records", self._name, version)
        else:
            _log.error("the directory of %s is stopped at version %d by the %s", self._name, version, stopping)


def _place(bad: BadRecordError) -> tuple[str, int, int]:
    return bad.topic, bad.partition, bad.offset
