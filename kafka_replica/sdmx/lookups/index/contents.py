"""The facts that decoding a version yields about each record: its artefacts and their references."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple, TypeAlias

from kafka_replica.common.persistent_map import PersistentMap
from kafka_replica.sdmx.errors import SdmxError
from kafka_replica.sdmx.lookups.cache import Content
from kafka_replica.sdmx.messages.format import Format
from kafka_replica.sdmx.urns.urn import Urn

Name: TypeAlias = tuple[str, str]
"""Agency and id of an artefact, which all references to it share, whatever version they mean."""


class RecordFacts(NamedTuple):
    """The contents of one record."""

    content: Content
    references: dict[Urn, tuple[Urn, ...]]
    """Each artefact of the message with its references as written; the artefact of the key has the key's URN."""
    error: SdmxError | None = None
    """The reason why the record, or an artefact in it, cannot be read; the references of that artefact are unknown."""
    complete: Format | None = None
    """The format of the record if its bytes are a message that lacks nothing of the artefact of the key, else None."""


class RecordedArtefact(NamedTuple):
    """An artefact in the record of a key."""

    key: Urn
    artefact: Urn


_RecordedArtefacts: TypeAlias = PersistentMap[RecordedArtefact, None]
_NOTHING_RECORDED: Final[_RecordedArtefacts] = PersistentMap()


class ContentIndex:
    """The facts of all records, and the reverse index of references. Immutable.

    References, above all their version rules, are resolved on demand: their meaning may change with artefacts that
    hold no reference. So a change costs as much as the changed records hold, regardless of all other records.
    """

    __slots__ = ("_companions", "_facts", "_naming", "unreadable")

    def __init__(self) -> None:
        self._facts: PersistentMap[Urn, RecordFacts] = PersistentMap()
        self._naming: PersistentMap[Name, _RecordedArtefacts] = PersistentMap()
        self._companions: PersistentMap[Name, _RecordedArtefacts] = PersistentMap()
        self.unreadable: PersistentMap[Urn, SdmxError] = PersistentMap()
        """The records that cannot be read, and the reasons."""

    def updated(
        self, changed: Iterable[Urn], facts_of: Callable[[Urn, Content | None], RecordFacts | None]
    ) -> ContentIndex:
        """Return the index of another version.

        Args:
            changed: the keys whose records may differ.
            facts_of: returns the facts of the current record of a key, given the known facts; None
                if there is no record.
        """
        made = ContentIndex()
        made._facts, made._naming = self._facts, self._naming
        made._companions, made.unreadable = self._companions, self.unreadable
        for key in changed:
            known = made._facts.get(key)
            facts = facts_of(key, known and known.content)
            if facts is not None and known is not None and facts.content == known.content:
                continue
            if known is not None:
                made._drop(key, known)
            if facts is not None:
                made._put(key, facts)
        return made

    def _put(self, key: Urn, facts: RecordFacts) -> None:
        self._facts = self._facts.set(key, facts)
        if facts.error is not None:
            self.unreadable = self.unreadable.set(key, facts.error)
        for artefact, targets in facts.references.items():
            place = RecordedArtefact(key, artefact)
            if artefact != key:
                self._companions = _with(self._companions, (artefact.agency, artefact.id), place)
            for name in {(target.agency, target.id) for target in targets}:
                self._naming = _with(self._naming, name, place)

    def _drop(self, key: Urn, facts: RecordFacts) -> None:
        self._facts = self._facts.delete(key)
        self.unreadable = self.unreadable.delete(key)
        for artefact, targets in facts.references.items():
            place = RecordedArtefact(key, artefact)
            if artefact != key:
                self._companions = _without(self._companions, (artefact.agency, artefact.id), place)
            for name in {(target.agency, target.id) for target in targets}:
                self._naming = _without(self._naming, name, place)

    def of(self, key: Urn) -> RecordFacts | None:
        """Return the contents of the record of a key."""
        return self._facts.get(key)

    def __iter__(self) -> Iterator[Urn]:
        """Iterate over the keys of all records."""
        return iter(self._facts)

    def naming(self, name: Name) -> Iterator[RecordedArtefact]:
        """Return the artefacts that refer to any version of the artefact with this agency and id."""
        return iter(self._naming.get(name) or _NOTHING_RECORDED)

    def companions(self, name: Name) -> Iterator[RecordedArtefact]:
        """Return the artefacts with this agency and id that are in the message of another artefact's key."""
        return iter(self._companions.get(name) or _NOTHING_RECORDED)

    def has_companions(self, name: Name) -> bool:
        """Return whether some artefact with this agency and id is in the message of another artefact's key."""
        return name in self._companions

    def all_companions(self) -> Iterator[RecordedArtefact]:
        """Yield all artefacts that are in the message of another artefact's key."""
        for places in self._companions.values():
            yield from places


def _with(
    held: PersistentMap[Name, _RecordedArtefacts], name: Name, place: RecordedArtefact
) -> PersistentMap[Name, _RecordedArtefacts]:
    return held.set(name, (held.get(name) or _NOTHING_RECORDED).set(place, None))


def _without(
    held: PersistentMap[Name, _RecordedArtefacts], name: Name, place: RecordedArtefact
) -> PersistentMap[Name, _RecordedArtefacts]:
    places = (held.get(name) or _NOTHING_RECORDED).delete(place)
    return held.set(name, places) if len(places) else held.delete(name)
