"""The contents that a listener has received, and how the newest contents differ from them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Generic, NamedTuple, TypeVar

from kafka_replica.directories.contents.contents import Contents
from kafka_replica.stores import Snapshot

T = TypeVar("T")


class NextContents(NamedTuple, Generic[T]):
    """The contents that a listener receives next."""

    snapshot: Snapshot
    contents: Contents[T]
    previous: Contents[T] | None
    keys: Collection[bytes] | None
    """The keys of the entries that may differ between the two; None means all."""


class ReceivedContents(Generic[T]):
    """The contents that a listener has received. Not thread-safe.

    The number of keys stored is at most the number of keys in which these contents and the newest ones differ, however
    many versions are between them.
    """

    __slots__ = ("__weakref__", "_keys", "contents")

    def __init__(self) -> None:
        self.contents: Contents[T] | None = None
        """The contents; None if the listener has received none, or receives everything again."""
        self._keys: set[bytes] | None = None

    @property
    def differing_keys(self) -> Collection[bytes] | None:
        """The keys of the entries that differ in the newest contents; None means all."""
        return self._keys

    def note(self, newest: Contents[T], keys: Iterable[bytes]) -> None:
        """Note the newest contents, and the keys of entries that have changed since those noted last."""
        if self._keys is None or self.contents is None:
            return
        for key in keys:
            if self.contents.entries.get(key) is newest.entries.get(key):
                self._keys.discard(key)
            else:
                self._keys.add(key)

    def forget_difference(self) -> None:
        """Regard all keys as different, because a whole version follows."""
        self._keys = None

    def replace(self, now: Contents[T] | None) -> None:
        """Replace the contents; ``note`` must follow if they are not the newest."""
        self.contents, self._keys = now, None if now is None else set()
