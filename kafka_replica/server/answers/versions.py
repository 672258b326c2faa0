"""The versions from which requests are answered: the current version, and kept versions by number."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING, Final, NamedTuple

import kafka_replica
from kafka_replica.errors import KafkaReplicaError, NotReadyError, UsageError, VersionGoneError
from kafka_replica.history import Difference, FutureVersionError, KeptVersion
from kafka_replica.publication.difference import difference
from kafka_replica.publication.status import State
from kafka_replica.records import Position
from kafka_replica.replica import Replica
from kafka_replica.sdmx import DecodeCache, LiveStructures, Structures
from kafka_replica.server.answers.as_of import instant_of
from kafka_replica.server.answers.entity_tags import suffix_of
from kafka_replica.server.answers.numbers import MOST_DIGITS
from kafka_replica.server.errors.problems import Problem, busy
from kafka_replica.stores import Snapshot

if TYPE_CHECKING:
    from kafka_replica.history import VersionHistory

_PINNED: Final = 8
_ATTEMPTS: Final = 20
_PARTITIONS_SHOWN: Final = 64

VERSION: Final = "Kafka-Replica-Version"
"""The header with the version of an answer: its number and, after a dot, the incarnation of the replica."""
POSITION: Final = "Kafka-Replica-Position"
"""The header with the position of the version: ``topic-partition@offset`` of each partition."""
STATE: Final = "Kafka-Replica-State"
"""The header with the state of the replica: ``live``, ``catching up``, ``blocked``, ``stalled`` or ``failed``."""
STALE: Final = "Kafka-Replica-Stale"
"""The header that is ``true`` if the version is from before a restart or rebuild, and newer records are being read."""
RECORD: Final = "Kafka-Replica-Record"
"""The header with the place of a record in the log: ``topic-partition@offset``."""
HEADERS: Final = (VERSION, POSITION, STATE, STALE, RECORD)


class VersionId(NamedTuple):
    """The number of a version and the incarnation of the replica within which the number is valid."""

    version: int
    incarnation: str | None = None

    def __str__(self) -> str:
        return str(self.version) if self.incarnation is None else f"{self.version}.{self.incarnation}"

    @staticmethod
    def parse(text: str) -> VersionId | None:
        """Parse a version id such as ``17`` or ``17.5f2a``; return None if the text is malformed."""
        number, dot, incarnation = text.strip().partition(".")
        if not number.isascii() or not number.isdigit() or len(number) > MOST_DIGITS or (dot and not incarnation):
            return None
        return VersionId(int(number), incarnation or None)


def pinned_version(path_params: Mapping[str, str]) -> VersionId | None:
    """Return the version that a pinned path names; None if the path is not pinned.

    Raises:
        Problem: 404 if the version in the path is malformed.
    """
    text = path_params.get("version")
    wanted = None if text is None else VersionId.parse(text)
    if text is not None and wanted is None:
        raise Problem(404, "a pinned path names a version: /version/17/... or /version/17.INCARNATION/...")
    return wanted


class ServedVersion(NamedTuple):
    """A version from which requests are answered."""

    structures: Structures
    snapshot: Snapshot
    id: VersionId
    headers: Mapping[str, str]
    """The headers that name the version."""
    raw_headers: dict[bytes, bytes]
    """``headers`` as in ASGI messages."""
    suffix: str
    """The suffix of the entity tags of answers from the version."""


class Versions:
    """The versions of a replica, with look-ups of SDMX structures. Thread-safe.

    Args:
        replica: the replica.
        topic: the topic with the structures, if the replica has several topics with separate key spaces.
        history: the history on disk, with versions that the replica no longer keeps.
        cache: the cache of decoded messages; ``decode_cache``, shared by the process, by default.
    """

    def __init__(
        self,
        replica: Replica,
        topic: str | None = None,
        history: VersionHistory | None = None,
        cache: DecodeCache | None = None,
    ) -> None:
        self._replica = replica
        self._history = history
        self._topic = topic
        self.live = LiveStructures(replica, topic=topic, cache=cache)
        # by position, too: after a power cut, a history has two versions with the same number
        self._pinned: OrderedDict[tuple[VersionId, Position], ServedVersion] = OrderedDict()
        self._current: ServedVersion | None = None
        self._lock = Lock()
        self._closed = False

    def snapshot(self, wanted: VersionId | None = None) -> Snapshot:
        """Return the current version or a kept version, without building look-ups.

        Raises:
            Problem: 503 if the replica has no version (yet); 404 or 410 if the wanted version does not exist or is no
                longer kept.
        """
        try:
            current = self._replica.snapshot()
        except NotReadyError as error:
            raise busy("the replica has no version yet; it reads the topic") from error
        except KafkaReplicaError as error:
            raise Problem(503, "the replica ended before its first version") from error
        if wanted is None:
            return current
        try:
            return self._kept(wanted)
        except FutureVersionError as error:
            raise Problem(404, f"version {wanted} does not exist; {self._existing(current)}") from error
        except VersionGoneError as error:
            if wanted.incarnation not in {None, self._replica.incarnation}:
                text = f"version {wanted} belongs to another incarnation; begin again with the current version"
                raise Problem(410, text) from error
            if not 1 <= wanted.version <= current.version:
                raise Problem(404, f"version {wanted} does not exist; {self._existing(current)}") from error
            text = f"version {wanted.version} is no longer kept; begin again with the current one"
            raise Problem(410, text) from error

    def current(self) -> ServedVersion:
        """Return the current version, with look-ups. Raises as ``snapshot``."""
        for _ in range(_ATTEMPTS):
            snapshot = self.snapshot()  # first, because it raises errors as problems
            known = self.prepared(snapshot)
            if known is not None:
                return known
            structures = self.live.structures()
            if structures.version == snapshot.version:
                self._current = self._served(structures, snapshot)
                return self._current
        return self._with_structures(self.snapshot())  # a new version appeared between the two calls each time

    def prepared(self, snapshot: Snapshot) -> ServedVersion | None:
        """Return the version of a snapshot, with look-ups, if it is the current version and these exist already."""
        known = self._current
        return known if known is not None and known.snapshot is snapshot else None

    def at(self, wanted: VersionId) -> ServedVersion:
        """Return a version that is kept, with look-ups. Raises as ``snapshot``."""
        return self._pin(self.snapshot(wanted))

    def as_of(self, text: str) -> ServedVersion:
        """Return the version with a number, or the version that was current at an instant, with look-ups.

        Raises:
            KafkaReplicaError: the text is malformed, or the version is not kept or does not exist yet.
        """
        if text.isascii() and text.isdigit():
            if len(text) > MOST_DIGITS:
                raise UsageError(f"there is no version whose number has {len(text):,} digits")
            return self._pin(self._kept(VersionId(int(text))))
        instant = instant_of(text)
        if self._history is None:
            raise UsageError("this service keeps no history of instants; name the number of a version")
        return self._pin(self._history.at(instant=instant))

    def difference(self, before: VersionId, after: VersionId) -> Difference:
        """Return the difference of two versions that the replica or the history keeps. Raises as ``snapshot``.

        The cost is proportional to the number of keys that the versions in between have changed if the replica or the
        history has all of them; otherwise all keys are compared.
        """
        was, now = self.snapshot(before), self.snapshot(after)
        try:
            if self._history is not None:
                return self._history.diff(self._recorded(self._history, was), self._recorded(self._history, now))
        except (VersionGoneError, FutureVersionError):
            pass  # the history lacks one of them
        try:
            if _kept_of(was) is None and _kept_of(now) is None:
                return self._replica.diff(was.version, now.version)
        except VersionGoneError:
            pass  # the replica has just dropped one of them
        return difference(was, now)

    def id_of(self, snapshot: Snapshot) -> VersionId:
        """Return the id of a version."""
        kept = _kept_of(snapshot)
        return VersionId(snapshot.version, self._replica.incarnation if kept is None else kept.incarnation)

    @staticmethod
    def suffix(version: VersionId, position: Position | None) -> str:
        """Return the suffix of the entity tags of a version; see ``suffix_of``."""
        return suffix_of(version.incarnation or "", position, kafka_replica.__version__)

    def state_headers(self) -> dict[str, str]:
        """Return the headers that describe the current state of the replica."""
        return {name.decode("latin-1"): value.decode("latin-1") for name, value in self.raw_state_headers()}

    def raw_state_headers(self) -> tuple[tuple[bytes, bytes], ...]:
        """Return the headers of ``state_headers`` as in ASGI messages."""
        return _state_headers(self._replica.state, is_stale=not self._replica.ready)

    def close(self) -> None:
        """Stop following the replica, and release all versions. Idempotent."""
        self.live.close()
        with self._lock:
            self._closed = True  # a computation that is still running must not keep its version
            self._pinned.clear()
        self._current = None

    def _kept(self, wanted: VersionId) -> Snapshot:
        """Return a version that the replica or the history keeps.

        Raises:
            VersionGoneError: it is not kept.
            FutureVersionError: it does not exist yet.
        """
        if wanted.incarnation in {None, self._replica.incarnation}:
            try:
                return self._replica.at(wanted.version)
            except VersionGoneError:
                if self._history is None:
                    raise
        if self._history is None:
            raise VersionGoneError(f"version {wanted} belongs to another incarnation")
        return self._history.at(version=wanted.version, incarnation=wanted.incarnation)

    def _existing(self, current: Snapshot) -> str:
        """Return the current version, and the versions that the history keeps, as text."""
        kept = None if self._history is None else self._history.range
        stored = "" if kept is None else f", and the history keeps {kept.oldest.summary()} to {kept.newest.summary()}"
        return f"the current version is {current.version}{stored}"

    def _recorded(self, history: VersionHistory, snapshot: Snapshot) -> KeptVersion:
        """Return a version as the history has it.

        Raises:
            VersionGoneError: the history does not have it.
            FutureVersionError: the history does not have it yet.
        """
        kept = _kept_of(snapshot)
        return kept or history.at(version=snapshot.version, incarnation=self._replica.incarnation).kept

    def _pin(self, snapshot: Snapshot) -> ServedVersion:
        """Return a version with look-ups; those of recently requested versions are reused."""
        key = self.id_of(snapshot), snapshot.position
        with self._lock:
            found = self._pinned.pop(key, None) or self._with_structures(snapshot)
            if not self._closed:
                self._pinned[key] = found
            if len(self._pinned) > _PINNED:
                self._pinned.popitem(last=False)
        return found

    def _with_structures(self, snapshot: Snapshot) -> ServedVersion:
        return self._served(self.live.structures(snapshot), snapshot)

    def _served(self, structures: Structures, snapshot: Snapshot) -> ServedVersion:
        id_ = self.id_of(snapshot)
        headers = version_headers(id_, snapshot.position)
        suffix = self.suffix(id_, snapshot.position)
        return ServedVersion(structures, snapshot, id_, headers, raw_headers(headers), suffix)


def _kept_of(snapshot: Snapshot) -> KeptVersion | None:
    """Return the metadata of a version from a history; None for a version of the replica."""
    kept = getattr(snapshot, "kept", None)  # an attribute of HistorySnapshot, whose import needs an extra
    return kept if isinstance(kept, KeptVersion) else None


@cache
def _state_headers(state: State, *, is_stale: bool) -> tuple[tuple[bytes, bytes], ...]:
    return tuple(raw_headers({STATE: str(state), **({STALE: "true"} if is_stale else {})}).items())


def raw_headers(headers: Mapping[str, str]) -> dict[bytes, bytes]:
    """Return headers as in ASGI messages: encoded, with names in lower case."""
    return {name.lower().encode("latin-1"): value.encode("latin-1") for name, value in headers.items()}


def version_headers(version: VersionId, position: Position) -> dict[str, str]:
    """Return the headers that name a version."""
    shown = str(Position(position)) if len(position) <= _PARTITIONS_SHOWN else position.summary()
    return {VERSION: str(version), POSITION: shown}
