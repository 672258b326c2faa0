"""What artefacts refer to, and where that leads: parents, children, descendants, and references that lead nowhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, TypeAlias

import msgspec

from kafka_replica.sdmx.containers import Items, StubTuple
from kafka_replica.sdmx.model import Artefact, Codelist, OpaqueArtefact
from kafka_replica.sdmx.urn import Urn

Resolve: TypeAlias = "Callable[[Urn], Urn | None]"
"""The artefact of a version that the URN of a reference means, or None."""


class Dangling(NamedTuple):
    """A reference that leads nowhere: the artefact it stands in, and what it names."""

    source: Urn
    target: Urn


def references_of(artefact: Artefact) -> tuple[Urn, ...]:
    """All that an artefact refers to in other artefacts, sorted; an item by the item's URN.

    Links and annotations are no references. Nothing is known of what an OpaqueArtefact refers to. Targets with
    wildcards in agency or id (of metadataflows, say) name no artefact.
    """
    found: set[Urn] = set()
    _collect(artefact, found)
    own = artefact.urn.maintainable
    return tuple(sorted(urn for urn in found if urn.maintainable != own))


def _collect(artefact: Artefact, found: set[Urn]) -> None:
    stack: list[Any] = [artefact]
    while stack:
        one = stack.pop()
        if isinstance(one, Urn):
            found.add(one)
        elif isinstance(one, msgspec.Struct):
            # Codes refer to nothing, and there are many of them.
            skipped = {"urn", "codes"} if isinstance(one, Codelist) else {"urn"}
            stack.extend(getattr(one, name) for name in one.__struct_fields__ if name not in skipped)
        elif isinstance(one, Items):
            stack.extend(() if one.is_stub else one.values())
        elif isinstance(one, tuple) and not isinstance(one, StubTuple):
            stack.extend(one)


class ReferenceIndex:
    """Which artefact refers to what: the references as they are written, from both their ends.

    What a reference means, its version rule above all, is asked when it is needed: it may change with artefacts
    that hold no reference. So a change costs what the changed artefact holds, whatever else there is.

    Not safe among threads; whoever owns it has a lock.
    """

    def __init__(self, artefacts: Iterable[tuple[Urn, Artefact]] = ()) -> None:
        """Of these artefacts, by the URNs of their keys; they are not kept."""
        self._written: dict[Urn, tuple[Urn, ...]] = {}
        self._naming: dict[tuple[str, str], set[Urn]] = {}
        for own, artefact in artefacts:
            self.put(own, artefact)

    def put(self, own: Urn, artefact: Artefact) -> None:
        """Takes in an artefact that is new, or other than it was."""
        self.drop(own)
        if isinstance(artefact, OpaqueArtefact):
            return
        written = self._written[own] = references_of(artefact)
        for target in written:
            self._naming.setdefault((target.agency, target.id), set()).add(own)

    def drop(self, own: Urn) -> None:
        """Forgets an artefact."""
        for target in self._written.pop(own, ()):
            sources = self._naming.get((target.agency, target.id), set())
            sources.discard(own)
            if not sources:
                self._naming.pop((target.agency, target.id), None)

    def written(self) -> Iterator[tuple[Urn, Urn]]:
        """Each artefact with each reference in it, as written."""
        for source, targets in self._written.items():
            for target in targets:
                yield source, target

    def children(self, urn: Urn, resolve: Resolve) -> tuple[Urn, ...]:
        """The artefacts that this one refers to and that are there, sorted."""
        meant = {resolve(target) for target in self._written.get(urn, ())}
        return tuple(sorted(one for one in meant if one is not None))

    def parents(self, urn: Urn, resolve: Resolve) -> tuple[Urn, ...]:
        """The artefacts that refer to this one, sorted."""
        named = (urn.agency, urn.id)
        return tuple(
            sorted(
                source
                for source in self._naming.get(named, ())
                if any((one.agency, one.id) == named and resolve(one) == urn for one in self._written[source])
            )
        )

    def descendants(self, urn: Urn, resolve: Resolve) -> tuple[Urn, ...]:
        """The children, theirs, and so on; each once, nearest first. Circles do no harm."""
        return walk(urn, lambda one: self.children(one, resolve))


def walk(start: Urn, children: Callable[[Urn], tuple[Urn, ...]]) -> tuple[Urn, ...]:
    """What is reached from a URN, breadth first, without the URN itself."""
    found: dict[Urn, None] = {start: None}
    level = [start]
    while level:
        level = [child for urn in level for child in children(urn) if child not in found]
        level = list(dict.fromkeys(level))
        found.update(dict.fromkeys(level))
    del found[start]
    return tuple(found)
