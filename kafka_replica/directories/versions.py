"""The contents of a directory in its newest version, and in the few versions before it."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection
from typing import Any, Final, Generic, NamedTuple, TypeAlias, TypeVar

from kafka_replica.directories.contents import Contents, UndecodedContents
from kafka_replica.directories.schema import Schema
from kafka_replica.stores import Snapshot

T = TypeVar("T")

_KEPT: Final = 16

AnyContents: TypeAlias = Contents[T] | UndecodedContents[T]


class _Step(NamedTuple, Generic[T]):
    version: int  # and no snapshot: one that is held costs its store every record that newer versions replace
    contents: AnyContents[T]
    touched: Collection[bytes]
    """The keys in which it may differ from the step before."""


class ContentVersions(Generic[T]):
    """The newest contents, advanced change by change, and the data for the versions just before. No locks.

    Args:
        schema: the object that the directory makes from a record.
        on_demand: whether records are decoded when they are looked up.
    """

    def __init__(self, schema: Schema[T], *, on_demand: bool) -> None:
        self._schema = schema
        self._on_demand = on_demand
        self._newest: tuple[Snapshot, AnyContents[T]] | None = None
        self._steps: deque[_Step[T]] = deque(maxlen=1 if on_demand else _KEPT)

    @property
    def newest(self) -> tuple[Snapshot, AnyContents[T]] | None:
        """The newest version and its contents; None before the first."""
        return self._newest

    def begin(self, snapshot: Snapshot) -> AnyContents[T]:
        """Start again from a whole version; return its contents."""
        self._steps.clear()
        return self._add(snapshot, self._whole(snapshot), ())

    def advance(self, snapshot: Snapshot, touched: Collection[bytes]) -> AnyContents[T]:
        """Continue with a version that differs in these keys at most; return its contents."""
        last = self._steps[-1].contents
        contents = last.advanced(touched, snapshot.get) if isinstance(last, Contents) else self._whole(snapshot)
        return self._add(snapshot, contents, touched)

    def prepare_for_changes(self) -> None:
        """Prepare the newest contents for changes; otherwise the first change would take longer."""
        if self._newest is not None and isinstance(self._newest[1], Contents):
            self._newest[1].prepare_for_changes()

    def at(self, snapshot: Snapshot) -> AnyContents[T]:
        """Return the contents of a version: kept ones, or else at the cost of some keys, or at worst of all."""
        touched: Collection[bytes] = ()
        for step in reversed(self._steps):
            if step.version == snapshot.version:
                return step.contents
            if step.version < snapshot.version and isinstance(step.contents, Contents):
                # The version was merged into the next step, which touched all the keys that differ.
                return step.contents.advanced(touched, snapshot.get)
            touched = step.touched
        return self._whole(snapshot)

    def _add(self, snapshot: Snapshot, contents: AnyContents[T], touched: Collection[bytes]) -> AnyContents[T]:
        self._newest = snapshot, contents
        self._steps.append(_Step(snapshot.version, contents, touched))
        return contents

    def _whole(self, snapshot: Snapshot) -> AnyContents[Any]:
        if self._on_demand:
            return UndecodedContents(self._schema, snapshot)
        return Contents.of(self._schema, snapshot)
