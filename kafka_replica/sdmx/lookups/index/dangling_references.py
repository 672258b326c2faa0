"""An index of dangling references, updated from version to version."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from kafka_replica.common.persistent_map import PersistentMap
from kafka_replica.sdmx.errors import SdmxError
from kafka_replica.sdmx.lookups.index.contents import Name, RecordedArtefact
from kafka_replica.sdmx.lookups.index.relations import VersionRelations
from kafka_replica.sdmx.lookups.items import has_items, item_of
from kafka_replica.sdmx.lookups.references import DanglingReference, late_bound
from kafka_replica.sdmx.model import Artefact, Codelist
from kafka_replica.sdmx.urns.urn import Urn

Held: TypeAlias = "Callable[[Urn], Artefact]"
"""A function that returns the existing artefact of a URN; raises SdmxError if it cannot be read."""


class DanglingIndex:
    """The dangling references, by the keys of the records that contain them. Immutable.

    The cost of a change depends on the changed records, the references to the artefacts in them, and their targets.
    """

    __slots__ = ("_found", "_relations", "count")

    def __init__(self) -> None:
        self._found: PersistentMap[Urn, tuple[DanglingReference, ...]] = PersistentMap()
        self._relations: VersionRelations | None = None
        self.count = 0
        """The number of dangling references."""

    def __iter__(self) -> Iterator[DanglingReference]:
        for found in self._found.values():
            yield from found

    def updated(self, relations: VersionRelations, changed: Iterable[Urn], held: Held) -> DanglingIndex:
        """Return the index of another version that differs in the records of the changed keys."""
        made = DanglingIndex()
        made._found, made._relations, made.count = self._found, relations, self.count
        whole, names = self._touched(relations, changed)
        partly = {place.key for name in names for place in relations.contents.naming(name)} - whole
        written = [
            (key, DanglingReference(artefact, target)) for key in whole for artefact, target in _written(relations, key)
        ]
        kept: dict[Urn, list[DanglingReference]] = {key: [] for key in whole | partly}
        for key in partly:
            for one in self._found.get(key) or ():
                if _name(one.target) not in names:
                    kept[key].append(one)
            written += [
                (key, DanglingReference(artefact, target))
                for artefact, target in _written(relations, key)
                if _name(target) in names
            ]
        for key, one in _leading_nowhere(relations, written, held):
            kept[key].append(one)
        for key, found in kept.items():
            made._set(key, tuple(found))
        return made

    def _touched(self, relations: VersionRelations, changed: Iterable[Urn]) -> tuple[set[Urn], set[Name]]:
        """Return the keys whose references must all be resolved again, and the changed targets of other references."""
        if self._relations is None:
            return set(changed), set()
        whole: set[Urn] = set()
        names: set[Name] = set()
        for key in changed:
            whole.add(key)
            names.add(_name(key))
            for known in (self._relations, relations):
                facts = known.contents.of(key)
                names.update(_name(artefact) for artefact in (facts.references if facts else ()))
        # Whether a companion counts may change as others with its name appear and disappear.
        whole |= {place.key for name in names for place in relations.contents.companions(name)}
        return whole, names

    def _set(self, key: Urn, found: tuple[DanglingReference, ...]) -> None:
        self.count += len(found) - len(self._found.get(key) or ())
        self._found = self._found.set(key, found) if found else self._found.delete(key)


def _name(urn: Urn) -> Name:
    return urn.agency, urn.id


def _written(relations: VersionRelations, key: Urn) -> Iterator[tuple[Urn, Urn]]:
    facts = relations.contents.of(key)
    for artefact, targets in facts.references.items() if facts else ():
        if targets and relations.counts(RecordedArtefact(key, artefact)):
            for target in targets:
                yield artefact, target


def _leading_nowhere(
    relations: VersionRelations, written: Iterable[tuple[Urn, DanglingReference]], held: Held
) -> Iterator[tuple[Urn, DanglingReference]]:
    by_holder: dict[Urn, list[tuple[Urn, DanglingReference]]] = {}
    for key, one in written:
        holder = relations.meant(late_bound(one.target, one.source))
        if holder is None:
            yield key, one
        elif one.target.item is not None:
            by_holder.setdefault(holder, []).append((key, one))
    for holder, pairs in by_holder.items():
        try:
            artefact = held(holder)
        except SdmxError:
            continue  # unknown; the record is listed as unreadable
        yield from ((key, one) for key, one in pairs if lacks_item(artefact, one.target))


def lacks_item(artefact: Artefact, urn: Urn) -> bool:
    """Return whether an artefact certainly lacks the item of a URN: its items are complete, without this item."""
    if not has_items(artefact) or artefact.is_stub or artefact.is_partial:
        return False
    if isinstance(artefact, Codelist) and artefact.extensions:
        return False
    return item_of(artefact, urn.cls, urn.item or "") is None
