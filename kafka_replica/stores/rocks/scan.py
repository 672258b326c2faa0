"""Scan all keys of a version, although rocksdict can only iterate over the current content of a database.

That content includes newer versions, and perhaps parts of the next one:

* data *staged* for the next version is stored together with the data that it replaces (``OLD``);
* links show the keys that newer versions touched: each version has a link with the keys that the next version
  touched, and that version's link. Links refer only forward, so that unused links are freed.

The order matters: a scan first opens the iterator over the database, then reads the staged data, then the links; the
writer sets a link before it removes staged data. So a scan misses no touched key, and looks up each in the view.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from kafka_replica.stores.rocks.database import Database, View

# The version record follows all of these, and shows that a scan has reached its end: see ``Database.items``.
DATA, AFTER_DATA = b"d", b"e"  # records
OLD, AFTER_OLD = b"b", b"c"  # previous data of keys with staged data
ABSENT = b""  # previous data of a key that did not exist

Entries = Iterator[tuple[bytes, bytes]]
"""Keys and their stored data."""


class DiffLink:
    """The keys that the next version touched; ``newer`` is set last, and makes ``touched`` valid."""

    __slots__ = ("newer", "touched")

    def __init__(self) -> None:
        self.touched: tuple[Collection[bytes], ...] = ()
        self.newer: DiffLink | None = None

    def extend(self, *touched: Collection[bytes]) -> DiffLink:
        """Add the keys that the next version touches; return that version's link."""
        self.touched = touched
        self.newer = newer = DiffLink()
        return newer


class StagedView(View):
    """A view of a database with staged data, which shows only the published data."""

    __slots__ = ()

    def get(self, key: bytes) -> bytes | None:
        """Return the published data of a record's key."""
        old = super().get(OLD + key[1:])
        return super().get(key) if old is None else old or None


def staged(database: Database) -> Entries:
    """Return the keys with staged data, and their previous data, or ``ABSENT``."""
    return _without_prefix(database.items(OLD, AFTER_OLD))


def shown(database: Database) -> Entries:
    """Return the entries of the newest version, in key order."""
    present = _without_prefix(database.items(DATA, AFTER_DATA))
    replaced = staged(database)
    first = next(replaced, None)
    return present if first is None else _with_previous(present, first, replaced)


def entries_of_view(entries: Entries, touched: Collection[bytes], view: View) -> Entries:
    """Yield the entries of a view's version, derived from a newer version's entries and the keys touched since."""
    for key, data in entries:
        if key not in touched:
            yield key, data
    for key in touched:
        then = view.get(DATA + key)
        if then is not None:
            yield key, then


def _without_prefix(entries: Iterable[tuple[bytes, bytes]]) -> Entries:
    return ((key[1:], data) for key, data in entries)


def _with_previous(present: Entries, old: tuple[bytes, bytes] | None, replaced: Entries) -> Entries:
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
