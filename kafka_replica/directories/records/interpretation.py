"""The interface of interpreters, which determine what a record puts into a directory.

A directory with an interpreter is determined by the newest record of each key in one version: it has the objects that
these records put. The interpreter sees one record at a time and remembers nothing. Therefore a directory that followed
all changes, a directory that has just started and one whose replica was restarted have the same objects, whatever Kafka
has compacted in the meantime.

* A tombstone, or a later record of the same key, removes everything that the earlier record has put, in the same
  version. Therefore a record that deletes puts nothing, and so does a record without a meaning for the directory.
* If records with different keys put the same key of the directory, the newest record takes effect; when it is gone, the
  next newest does.
* ``DeleteAll`` hides the objects that older records put. It lasts as long as its record: until a tombstone or a later
  record of the same key, or until Kafka deletes it.

In a partition, the record with the higher offset is newer. Of records in different partitions, the one with the later
time is newer, or with equal times the one in the partition that comes last (but ``DeleteAll`` hides only earlier
times).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeAlias

from kafka_replica.records import Key, Record

__all__ = ["DeleteAll", "Interpretation", "Interpreter", "Put"]


class Put(NamedTuple):
    """A value that a record puts under a key of the directory."""

    key: Key
    value: bytes
    """The value, in the form that the directory's type or ``decode`` expects."""
    scope: str = ""
    """The tenant or table that the value belongs to, for ``DeleteAll``."""
    time_ms: int | None = None
    """The time of the change, for comparison with records of other partitions, in milliseconds since 1970-01-01 UTC;
    None means the record's timestamp."""


class DeleteAll(NamedTuple):
    """The effect of a record that hides the objects which older records put."""

    scope: str = ""
    """The scope whose older records are hidden; empty for all records."""
    time_ms: int | None = None
    """The time of the change, as in ``Put``."""


Interpretation: TypeAlias = Put | DeleteAll | Iterable[Put] | None
"""The meaning of a record; None and an empty iterable put nothing."""

Interpreter: TypeAlias = Callable[[Record], Interpretation]
"""A function that interprets a record, which is never a tombstone. Its result must depend only on the record; it raises
an exception if the record is bad."""
