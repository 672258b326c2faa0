"""What a reference of one version means, and who refers to whom."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from kafka_replica.sdmx.lookups.class_aliases import classes_of, spellings
from kafka_replica.sdmx.lookups.index.contents import ContentIndex, Place
from kafka_replica.sdmx.lookups.index.keys import KeyIndex
from kafka_replica.sdmx.lookups.references import late_bound
from kafka_replica.sdmx.urn import Urn
from kafka_replica.sdmx.versions import is_wildcard, newest


def chosen(urn: Urn, there: list[Urn]) -> Urn | None:
    """Of these versions of one artefact the one that a URN, of a version or of a rule, means."""
    if is_wildcard(urn.version):
        version = newest(urn.version, [one.version for one in there])
        return next((one for one in there if one.version == version), None)
    return next((one for one in spellings(urn) if one in there), None)


def keyed(keys: KeyIndex, urn: Urn) -> Urn | None:
    """The artefact with a record of its own that the URN of an artefact means."""
    if not is_wildcard(urn.version):
        return next((one for one in spellings(urn) if one in keys), None)
    return chosen(urn, [one for cls in classes_of(urn.cls) for one in keys.named(cls, urn.agency, urn.id)])


class Relations:
    """Keys and contents of one version together.

    An artefact that came along in the message of another's key counts where it has no record of its own; of several
    messages that hold it the first counts, in the order of their keys.
    """

    def __init__(self, keys: KeyIndex, contents: ContentIndex) -> None:
        self.keys = keys
        self.contents = contents

    def companions(self, urn: Urn) -> dict[Urn, Urn]:
        """Companions of this agency and id, of its class, that count: each with the key it came with."""
        found: dict[Urn, Urn] = {}
        for key, artefact in sorted(self.contents.companions((urn.agency, urn.id))):
            if artefact.cls in classes_of(urn.cls) and artefact not in self.keys:
                found.setdefault(artefact, key)
        return found

    def key_of(self, artefact: Urn) -> Urn | None:
        """The key whose record holds an artefact; None where it is not there."""
        return artefact if artefact in self.keys else self.companions(artefact).get(artefact)

    def meant(self, urn: Urn) -> Urn | None:
        """The artefact that a reference means, or that holds the item it means; None if none does."""
        for one in urn.maintainables:
            found = keyed(self.keys, one)
            if found is not None:
                return found
        for one in urn.maintainables:
            found = chosen(one, list(self.companions(one)))
            if found is not None:
                return found
        return None

    def counts(self, place: Place) -> bool:
        """Whether the artefact at this place is the one of its URN."""
        return place.key == place.artefact or self.key_of(place.artefact) == place.key

    def written(self, artefact: Urn) -> tuple[Urn, ...]:
        """What an artefact refers to, as it is written."""
        key = self.key_of(artefact)
        facts = None if key is None else self.contents.of(key)
        return () if facts is None else facts.references.get(artefact, ())

    def targets(self, artefact: Urn) -> Iterator[Urn]:
        """Return the same, with version rules as they stand in the artefact."""
        return (late_bound(one, artefact) for one in self.written(artefact))

    def children(self, artefact: Urn) -> tuple[Urn, ...]:
        """Return the artefacts that this one refers to and that are there, sorted."""
        return self.meant_by(self.targets(artefact))

    def meant_by(self, targets: Iterable[Urn]) -> tuple[Urn, ...]:
        """Return the artefacts that references mean and that are there, each once, sorted."""
        meant = {self.meant(target) for target in targets}
        return tuple(sorted(one for one in meant if one is not None))

    def parents(self, artefact: Urn) -> tuple[Urn, ...]:
        """Return the artefacts that refer to this one or to an item in it, sorted."""
        return self._referring(artefact, lambda _: True)

    def parents_of_item(self, holder: Urn, path: str, is_wanted: Callable[[Urn], bool]) -> tuple[Urn, ...]:
        """Return the artefacts that refer to an item, sorted.

        Args:
            holder: the artefact that holds the item.
            path: the path of the item; concepts may be written with or without the concepts above them.
            is_wanted: whether a reference that ends with the same id means the item; called once for each.
        """
        last = path.rpartition(".")[2]
        known: dict[Urn, bool] = {}

        def wanted(target: Urn) -> bool:
            if target.item is None or target.item.rpartition(".")[2] != last:
                return False
            if target not in known:
                known[target] = is_wanted(target)
            return known[target]

        return self._referring(holder, wanted)

    def _referring(self, artefact: Urn, is_wanted: Callable[[Urn], bool]) -> tuple[Urn, ...]:
        named = artefact.agency, artefact.id
        return tuple(
            sorted(
                {
                    place.artefact
                    for place in self.contents.naming(named)
                    if self.counts(place)
                    and any(
                        (target.agency, target.id) == named and is_wanted(target) and self.meant(target) == artefact
                        for target in self.targets(place.artefact)
                    )
                }
            )
        )
