"""A directory in one version."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from typing import Any, Generic, TypeVar, cast

from kafka_replica.common.html_tables import html_table
from kafka_replica.common.wording import counted, did_you_mean
from kafka_replica.directories.contents.contents import Contents, UndecodedContents
from kafka_replica.directories.errors import DuplicateValueError
from kafka_replica.directories.indexes import Index
from kafka_replica.errors import BadRecordError, UsageError
from kafka_replica.stores import Snapshot

__all__ = ["DirectoryView"]

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


class DirectoryView(Mapping[K, T], Generic[K, T]):
    """A directory in one version, as an immutable mapping whose keys, objects and indexes are consistent.

    Iteration yields the directory's keys in unspecified order. A key that several records have raises
    ``DuplicateValueError`` when it is looked up.
    """

    __slots__ = ("_contents", "_decoded", "snapshot")

    def __init__(self, contents: Contents[T] | UndecodedContents[T], snapshot: Snapshot) -> None:
        self._contents = contents
        self._decoded: dict[K, T] = {}  # a cache for decoding on demand
        self.snapshot = snapshot
        """The replica's version, which has the records as bytes."""

    @property
    def version(self) -> int:
        """The number of the replica's version."""
        return self.snapshot.version

    @property
    def bad_records(self) -> list[BadRecordError]:
        """The records that are not in the directory because they could not be decoded, or had invalid values."""
        return list(self._contents.bad_records.values())

    def index(self, name: str) -> Any:
        """Return an index in this version; it is an object of the class with which it was declared.

        Raises:
            UsageError: the directory has no index of this name.
        """
        return index_named(self._contents.indexes, name)

    def __getitem__(self, key: K) -> T:
        """Return the object of a key.

        Raises:
            KeyError: no object has the key.
            DuplicateValueError: several records have the key.
            BadRecordError: the record cannot be decoded; only with decoding on demand.
        """
        if isinstance(self._contents, Contents):
            return self._contents.look_up(key)
        if key not in self._decoded:
            self._decoded[key] = self._contents.look_up(key)
        return self._decoded[key]

    def __contains__(self, key: object) -> bool:
        try:
            self[cast("K", key)]
        except KeyError:
            return False
        except (DuplicateValueError, BadRecordError):
            return True
        return True

    def __iter__(self) -> Iterator[K]:
        return cast("Iterator[K]", self._contents.keys())

    def __len__(self) -> int:
        return len(self._contents)

    def __repr__(self) -> str:
        if isinstance(self._contents, Contents):  # whose length is known, and leaves out bad records
            return f"<DirectoryView of version {self.version}, {counted(len(self), 'object')}>"
        return f"<DirectoryView of {self.snapshot.summary()}>"

    def _repr_html_(self) -> str:
        """Return the first objects as a table, for notebooks."""
        return html_table(repr(self), ("key", "object"), ((key, self._shown(key)) for key in self), len(self))

    def _shown(self, key: K) -> object:
        """Return the object of a key, or the error for a key that has none, which must not hide the other objects."""
        try:
            return self[key]
        except (DuplicateValueError, BadRecordError) as error:
            return f"{type(error).__name__}: {error}"


def index_named(indexes: Mapping[str, Index[Any]], name: str) -> Index[Any]:
    """Return an index by its name. Raises UsageError if there is no index of this name."""
    try:
        return indexes[name]
    except KeyError:
        known = f"it has {', '.join(indexes)}" if indexes else "it has no indexes; declare it in indexes={...}"
        raise UsageError(f"the directory has no index {name!r}{did_you_mean(name, indexes)}; {known}") from None
