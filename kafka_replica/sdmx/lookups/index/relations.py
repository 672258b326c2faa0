"""The resolution of references within one version, in both directions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from kafka_replica.sdmx.lookups.class_aliases import classes_of, urn_aliases
from kafka_replica.sdmx.lookups.index.contents import ContentIndex, RecordedArtefact
from kafka_replica.sdmx.lookups.index.keys import KeyIndex
from kafka_replica.sdmx.lookups.references import late_bound, means_every_version
from kafka_replica.sdmx.urns.urn import Urn
from kafka_replica.sdmx.urns.versions import is_wildcard, newest


def chosen(urn: Urn, there: list[Urn]) -> Urn | None:
    """Return the version of one artefact that a URN, with a version or a version rule, means."""
    if is_wildcard(urn.version):
        version = newest(urn.version, [one.version for one in there])
        return next((one for one in there if one.version == version), None)
    return next((urn_alias for urn_alias in urn_aliases(urn) if urn_alias in there), None)


def keyed(keys: KeyIndex, urn: Urn) -> Urn | None:
    """Return the artefact with a record of its own that an artefact's URN means."""
    if not is_wildcard(urn.version):
        return next((urn_alias for urn_alias in urn_aliases(urn) if urn_alias in keys), None)
    return chosen(urn, [one for cls in classes_of(urn.cls) for one in keys.named(cls, urn.agency, urn.id)])


class VersionRelations:
    """The keys and contents of one version together.

    An artefact in the message of another artefact's key is used only if it has no record of its own; if several
    messages contain it, the first message in key order is used.
    """

    def __init__(self, keys: KeyIndex, contents: ContentIndex) -> None:
        self.keys = keys
        self.contents = contents

    def companions(self, urn: Urn) -> dict[Urn, Urn]:
        """Return the valid companions with the agency, id and class of a URN, each with the key of its message."""
        found: dict[Urn, Urn] = {}
        for key, artefact in sorted(self.contents.companions((urn.agency, urn.id))):
            if artefact.cls in classes_of(urn.cls) and artefact not in self.keys:
                found.setdefault(artefact, key)
        return found

    def key_of(self, artefact: Urn) -> Urn | None:
        """Return the key whose record holds an artefact; None if the artefact does not exist."""
        return artefact if artefact in self.keys else self.companions(artefact).get(artefact)

    def meant(self, urn: Urn) -> Urn | None:
        """Return the artefact that a reference means, or that holds the referenced item; None if there is none."""
        for maintainable in urn.maintainables:
            found = keyed(self.keys, maintainable)
            if found is not None:
                return found
        for maintainable in urn.maintainables:
            found = chosen(maintainable, list(self.companions(maintainable)))
            if found is not None:
                return found
        return None

    def every_meant(self, target: Urn, source: Urn) -> tuple[Urn, ...]:
        """Return the artefacts that a reference in an artefact means: one at most, or all versions of one."""
        if not means_every_version(target, source):
            found = self.meant(target)
            return () if found is None else (found,)
        classes = {cls for maintainable in target.maintainables for cls in classes_of(maintainable.cls)}
        own = (one for cls in classes for one in self.keys.named(cls, target.agency, target.id))
        return (*own, *(one for maintainable in target.maintainables for one in self.companions(maintainable)))

    def counts(self, place: RecordedArtefact) -> bool:
        """Return whether the artefact at this location is the effective artefact of its URN."""
        return place.key == place.artefact or self.key_of(place.artefact) == place.key

    def written(self, artefact: Urn) -> tuple[Urn, ...]:
        """Return the references of an artefact, as written."""
        key = self.key_of(artefact)
        facts = None if key is None else self.contents.of(key)
        return () if facts is None else facts.references.get(artefact, ())

    def targets(self, artefact: Urn) -> Iterator[Urn]:
        """Return the references of an artefact, with version rules interpreted for that artefact."""
        return (late_bound(one, artefact) for one in self.written(artefact))

    def children(self, artefact: Urn) -> tuple[Urn, ...]:
        """Return the existing artefacts that this artefact refers to, sorted."""
        return tuple(sorted({one for target in self.targets(artefact) for one in self.every_meant(target, artefact)}))

    def meant_by(self, targets: Iterable[Urn]) -> tuple[Urn, ...]:
        """Return the existing artefacts that references mean, each once, sorted."""
        meant = {self.meant(target) for target in targets}
        return tuple(sorted(one for one in meant if one is not None))

    def parents(self, artefact: Urn) -> tuple[Urn, ...]:
        """Return the artefacts that refer to this artefact or to an item in it, sorted."""
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
                        (target.agency, target.id) == named
                        and is_wanted(target)
                        and artefact in self.every_meant(target, place.artefact)
                        for target in self.targets(place.artefact)
                    )
                }
            )
        )
