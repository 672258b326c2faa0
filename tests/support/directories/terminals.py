"""A directory of terminals for tests: its rows, the kinds of directory, and a listener that keeps what it received."""

from __future__ import annotations

import json
import threading
from typing import Any

from kafka_replica.directories import DirectoryChange
from kafka_replica.directories.interpreters import ActiveRows
from kafka_replica.testing import FakeTopic

WAIT_S = 60.0
KINDS: dict[str, dict[str, Any]] = {
    "by record": {},
    "by attribute": {"key": "id"},
    "with an interpreter": {"key": "id", "interpreter": ActiveRows(key="id")},
}
"""The arguments of directories of each kind: with the keys of records, and with keys that are taken from values."""


def row(id_: str, merchant: str = "M") -> bytes:
    """Return a good value."""
    return json.dumps({"id": id_, "merchant": merchant}).encode()


def put(topic: FakeTopic, **rows: bytes | None) -> Any:
    """Write records in one transaction, delete those without a value; return the position of the commit."""
    with topic.transaction() as transaction:
        for key, value in rows.items():
            (transaction.delete(key) if value is None else transaction.put(key, value))
    return transaction.committed.position


def topic_of_two() -> FakeTopic:
    """Return a topic with two good records."""
    topic = FakeTopic("terminals")
    put(topic, T1=row("T1"), T2=row("T2"))
    return topic


class Received:
    """The changes that a listener has received."""

    def __init__(self) -> None:
        self.changes: list[DirectoryChange[Any, Any]] = []
        self._came = threading.Condition()

    def receive(self, change: DirectoryChange[Any, Any]) -> None:
        """Receive a change."""
        with self._came:
            self.changes.append(change)
            self._came.notify_all()

    def up_to(self, version: int) -> DirectoryChange[Any, Any]:
        """Wait for the change to a version, and return it."""
        with self._came:
            assert self._came.wait_for(lambda: self.changes and self.changes[-1].version >= version, WAIT_S)
            return self.changes[-1]
