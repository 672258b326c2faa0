"""Going through all keys of a version, though rocksdict can only go through what a database holds now.

That has newer versions in it, and perhaps parts of the next one:

* what is *staged* for the next version has what it replaces beside it (``OLD``);
* what newer versions touched is known from links: each version has one, which names the keys that the next version
  touched, and that version's link. They refer forward only, so that what nobody holds is let go of.

The order decides: first the database is opened for going through, then what was staged, then the links are read; the
writer sets a link before it removes what was staged. So no touched key is missed, and each is looked up in the view.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from kafka_replica.stores.rocks.database import Database, View

# Behind them all comes the head of a generation, which shows that a walk came to its end: see ``Database.items``.
DATA, AFTER_DATA = b"d", b"e"  # records
OLD, AFTER_OLD = b"b", b"c"  # what keys had before something was staged for them
ABSENT = b""  # what a key had that was not there

Entries = Iterator[tuple[bytes, bytes]]
"""Keys and what is stored for them."""


class DiffLink:
    """What was touched by the version after one; ``newer`` is set last, and makes ``touched`` valid."""

    __slots__ = ("newer", "touched")

    def __init__(self) -> None:
        self.touched: tuple[Collection[bytes], ...] = ()
        self.newer: DiffLink | None = None

    def extend(self, *touched: Collection[bytes]) -> DiffLink:
        """The link of the next version, which touches these keys."""
        self.touched = touched
        self.newer = newer = DiffLink()
        return newer


class StagedView(View):
    """A view of a database with something staged in it: shows what is published."""

    __slots__ = ()

    def get(self, key: bytes) -> bytes | None:
        """What is stored for a record's key."""
        old = super().get(OLD + key[1:])
        return super().get(key) if old is None else old or None


def staged(database: Database) -> Entries:
    """Keys that something is staged for, and what they had before, or ``ABSENT``."""
    return _bare(database.items(OLD, AFTER_OLD))


def shown(database: Database) -> Entries:
    """The newest version, in the order of the keys."""
    present = _bare(database.items(DATA, AFTER_DATA))
    replaced = staged(database)
    first = next(replaced, None)
    return present if first is None else _put_back(present, first, replaced)


def told_apart(entries: Entries, touched: Collection[bytes], view: View) -> Entries:
    """The version that a view shows: a newer one's entries, and the keys that were touched since."""
    for key, data in entries:
        if key not in touched:
            yield key, data
    for key in touched:
        then = view.get(DATA + key)
        if then is not None:
            yield key, then


def _bare(entries: Iterable[tuple[bytes, bytes]]) -> Entries:
    return ((key[1:], data) for key, data in entries)


def _put_back(present: Entries, old: tuple[bytes, bytes] | None, replaced: Entries) -> Entries:
    for key, data in present:
        while old is not None and old[0] < key:
            if old[1] != ABSENT:
                yield old
            old = next(replaced, None)
        if old is None or old[0] != key:
            yield key, data
    while old is not None:
        if old[1] != ABSENT:
            yield old
        old = next(replaced, None)
