"""The contract of interpreters: what a record puts into a directory.

A directory with an interpreter is a function of the newest record of each key of the log, as they are in one version:
it holds what these records put. The interpreter sees one record at a time and remembers nothing, so a directory that
followed all changes, one that starts today and one whose replica was restarted hold the same, whatever Kafka has
compacted meanwhile.

* A tombstone, or a later record of the same key, removes everything that the earlier record has put, in the same
  version. Therefore a record that deletes puts nothing, and so does a record without a meaning for the directory.
* If records of several keys put the same key, the newest record counts; when it is gone, the next one does.
* ``DeleteAll`` hides what older records put. It lasts as long as its record: until a tombstone or a later record of the
  same key, or until Kafka deletes it.

*Newer* means: of records in a partition, the one with the higher offset; of records in different partitions, the one
with the later time, or for equal times the one in the partition that comes last (``DeleteAll`` hides earlier times
only).
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
    """The value, as the directory's type or ``decode`` expects it."""
    scope: str = ""
    """The tenant or table that the value belongs to, for ``DeleteAll``."""
    time_ms: int | None = None
    """The time of the change, to compare it with records of other partitions: milliseconds since 1970-01-01 UTC; by
    default the record's timestamp."""


class DeleteAll(NamedTuple):
    """The effect of a record that hides what all older records put."""

    scope: str = ""
    """The scope whose older records are hidden; empty for all records."""
    time_ms: int | None = None
    """The time of the change, as in ``Put``."""


Interpretation: TypeAlias = Put | DeleteAll | Iterable[Put] | None
"""The meaning of a record; None and an empty iterable put nothing."""

Interpreter: TypeAlias = Callable[[Record], Interpretation]
"""A function that interprets a record that is no tombstone. It must depend on the record alone, and raises an exception
if the record is bad."""
