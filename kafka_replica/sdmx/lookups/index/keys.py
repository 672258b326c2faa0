"""The artefacts of a version by class, agency, id and version, derived from their keys."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final, TypeAlias, TypeVar

from kafka_replica.common.persistent_map import PersistentMap
from kafka_replica.records import Key, key_bytes
from kafka_replica.sdmx.errors import UrnError
from kafka_replica.sdmx.urns.urn import Urn

_V = TypeVar("_V")
_Ids: TypeAlias = PersistentMap[str, tuple[Urn, ...]]
_Agencies: TypeAlias = PersistentMap[str, _Ids]
Fits: TypeAlias = Callable[[str], object]

NO_IDS: Final[_Ids] = PersistentMap()
NO_AGENCIES: Final[_Agencies] = PersistentMap()


def urn_of_key(key: Key) -> Urn | None:
    """Return the URN that a key is, if it is the URN of an artefact."""
    try:
        urn = Urn.parse(key_bytes(key))
    except UrnError:
        return None
    return urn if urn.is_maintainable else None


class KeyIndex:
    """URNs by class, then agency, then id. Immutable; a change costs as much as the changed keys, not all keys."""

    __slots__ = ("_classes", "_count")

    def __init__(self, urns: Iterable[Urn] = ()) -> None:
        gathered: dict[str, dict[str, dict[str, tuple[Urn, ...]]]] = {}
        self._count = 0
        for urn in urns:
            ids = gathered.setdefault(urn.cls, {}).setdefault(urn.agency, {})
            ids[urn.id] = (*ids.get(urn.id, ()), urn)
            self._count += 1
        self._classes: PersistentMap[str, _Agencies] = PersistentMap(
            (cls, PersistentMap((agency, PersistentMap(ids)) for agency, ids in agencies.items()))
            for cls, agencies in gathered.items()
        )

    def updated(self, changed: Iterable[tuple[Urn, bool]]) -> KeyIndex:
        """Return the index of another version, given the URNs that may differ and whether each exists."""
        made = KeyIndex()
        made._classes, made._count = self._classes, self._count
        for urn, is_there in changed:
            if is_there != (urn in made):
                made._set(urn, is_there=is_there)
        return made

    def _set(self, urn: Urn, *, is_there: bool) -> None:
        agencies = self._classes.get(urn.cls) or NO_AGENCIES
        ids = agencies.get(urn.agency) or NO_IDS
        rest = tuple(one for one in ids.get(urn.id) or () if one != urn)
        held = (*rest, urn) if is_there else rest
        ids = ids.set(urn.id, held) if held else ids.delete(urn.id)
        agencies = agencies.set(urn.agency, ids) if len(ids) else agencies.delete(urn.agency)
        self._classes = self._classes.set(urn.cls, agencies) if len(agencies) else self._classes.delete(urn.cls)
        self._count += 1 if is_there else -1

    def __len__(self) -> int:
        return self._count

    def __contains__(self, urn: Urn) -> bool:
        return urn in self.named(urn.cls, urn.agency, urn.id)

    def __iter__(self) -> Iterator[Urn]:
        """Iterate over all URNs, in no particular order."""
        for agencies in self._classes.values():
            for ids in agencies.values():
                for held in ids.values():
                    yield from held

    def named(self, cls: str, agency: str, id_: str) -> tuple[Urn, ...]:
        """Return the versions of one artefact."""
        ids = (self._classes.get(cls) or NO_AGENCIES).get(agency) or NO_IDS
        return ids.get(id_) or ()

    def with_id(self, id_: str) -> list[Urn]:
        """Return the artefacts with this id, in any class and agency."""
        found = (ids.get(id_) or () for agencies in self._classes.values() for ids in agencies.values())
        return sorted(urn for held in found for urn in held)

    def find(self, cls: str | Fits, agency: str | Fits, id_: str | Fits) -> Iterator[Urn]:
        """Yield the matching artefacts; each of the three arguments is a text to equal or a function that matches."""
        for agencies in _fitting(self._classes, cls):
            for ids in _fitting(agencies, agency):
                for held in _fitting(ids, id_):
                    yield from held


def _fitting(held: PersistentMap[str, _V], wanted: str | Fits) -> Iterator[_V]:
    if isinstance(wanted, str):
        found = held.get(wanted)
        if found is not None:
            yield found
    else:
        yield from (value for name, value in held.items() if wanted(name))
