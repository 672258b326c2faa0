"""The contents of a directory in its newest version, and in a few versions before."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection
from typing import Any, Final, Generic, NamedTuple, TypeAlias, TypeVar
from weakref import WeakSet

from kafka_replica.directories.contents.contents import Contents, UndecodedContents
from kafka_replica.directories.contents.schema import Schema
from kafka_replica.directories.versions.received_contents import NextContents, ReceivedContents
from kafka_replica.records import Position
from kafka_replica.stores import Snapshot
from kafka_replica.stores.contract import TopicSnapshot

T = TypeVar("T")

_KEPT: Final = 16

AnyContents: TypeAlias = Contents[T] | UndecodedContents[T]


class _Step(NamedTuple, Generic[T]):
    version: int  # not the snapshot, because holding it would keep every record that newer versions replace
    position: Position
    contents: AnyContents[T]


class ContentVersions(Generic[T]):
    """The newest contents, advanced change by change, and those of up to 15 versions before. Not thread-safe.

    Args:
        schema: the functions that convert records to objects.
        on_demand: whether records are decoded when they are looked up.
    """

    def __init__(self, schema: Schema[T], *, on_demand: bool) -> None:
        self._schema = schema
        self._on_demand = on_demand
        self._newest: tuple[Snapshot, AnyContents[T]] | None = None
        self._steps: deque[_Step[T]] = deque(maxlen=1 if on_demand else _KEPT)
        self._received: WeakSet[ReceivedContents[T]] = WeakSet()

    @property
    def newest(self) -> tuple[Snapshot, AnyContents[T]] | None:
        """The newest version and its contents; None before the first version."""
        return self._newest

    def begin(self, snapshot: Snapshot) -> AnyContents[T]:
        """Discard all contents, and start with a whole version; return its contents."""
        self._steps.clear()
        for received in self._received:
            received.forget_difference()
        return self._add(snapshot, self.whole(snapshot))

    def advance(self, snapshot: Snapshot, touched: Collection[bytes]) -> AnyContents[T]:
        """Continue with a version that differs from the newest at most in these keys; return its contents."""
        last = self._steps[-1].contents
        contents = last.advanced(touched, snapshot.get) if isinstance(last, Contents) else self.whole(snapshot)
        if isinstance(contents, Contents):
            for received in self._received:
                received.note(contents, contents.touched)
        return self._add(snapshot, contents)

    def received(self) -> ReceivedContents[T]:
        """Return an object that will store which contents a new listener has received."""
        received = ReceivedContents[T]()
        self._received.add(received)
        return received

    def next_for(self, received: ReceivedContents[T], snapshot: Snapshot) -> NextContents[T]:
        """Return the contents that a listener receives next: those of a version, or the newest.

        The newest are returned if the version is no longer stored, or was merged with a later one.
        """
        steps = self._decoded_steps()
        start = next((at for at, step in enumerate(steps) if step[1] is received.contents), None)
        end = next((at for at in reversed(range(len(steps))) if steps[at][0] == snapshot.version), None)
        if start is not None and end is not None:
            keys = _touched(steps[start + 1 : end + 1])
            return NextContents(snapshot, steps[end][1], received.contents, keys)
        assert self._newest is not None  # noqa: S101 - the directory has reached the version
        return NextContents(self._newest[0], steps[-1][1], received.contents, received.differing_keys)

    def set_received(self, received: ReceivedContents[T], now: Contents[T]) -> None:
        """Note that a listener receives the contents that ``next_for`` has returned."""
        steps = self._decoded_steps()
        at = next(at for at, step in enumerate(steps) if step[1] is now)
        received.replace(now)
        received.note(steps[-1][1], _touched(steps[at + 1 :]))

    def prepare_for_changes(self) -> None:
        """Prepare the newest contents for changes, so that the next change does not take longer."""
        if self._newest is not None and isinstance(self._newest[1], Contents):
            self._newest[1].prepare_for_changes()

    def stored(self, snapshot: Snapshot, incarnation: str) -> AnyContents[T] | None:
        """Return the contents of a version; None if they are not stored, so that all records have to be decoded.

        A version that was merged into the next step cannot be derived from the steps around it: a key that it has, and
        that both of them lack, is in neither's changes.

        Args:
            snapshot: the version, perhaps of another replica. All snapshots that a replica makes of a version share one
                object for the position; equal positions prove nothing, because another replica may filter keys.
            incarnation: the incarnation of the directory's replica.
        """
        version, position = snapshot.version, snapshot.position
        for step in reversed(self._steps):  # a version whose bad records were retried has several steps
            if step.version == version and (
                step.position is position or (step.position == position and incarnation_of(snapshot) == incarnation)
            ):
                return step.contents
        return None

    def _add(self, snapshot: Snapshot, contents: AnyContents[T]) -> AnyContents[T]:
        self._newest = snapshot, contents
        self._steps.append(_Step(snapshot.version, snapshot.position, contents))
        return contents

    def whole(self, snapshot: Snapshot) -> AnyContents[T]:
        """Return the contents of any version, for which all its records are decoded."""
        if self._on_demand:
            return UndecodedContents(self._schema, snapshot)
        return Contents.of(self._schema, snapshot)

    def _decoded_steps(self) -> list[tuple[int, Contents[T]]]:
        return [(step.version, step.contents) for step in self._steps if isinstance(step.contents, Contents)]


def incarnation_of(snapshot: Snapshot) -> str | None:
    """Return the incarnation of the replica to which a version of a history belongs; None for other snapshots.

    A history has versions of earlier incarnations, whose numbers began at 1 as well.
    """
    version = snapshot.all_topics if isinstance(snapshot, TopicSnapshot) else snapshot
    incarnation: str | None = getattr(getattr(version, "kept", None), "incarnation", None)
    return incarnation


def _touched(steps: Collection[tuple[int, Contents[Any]]]) -> set[bytes]:
    return {key for _, contents in steps for key in contents.touched}
