"""Look-ups of artefacts in one version of a replica."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeAlias, TypeVar

from kafka_replica.errors import ArtefactNotFoundError, SdmxError, UnreadableContentError, UrnError
from kafka_replica.records import Key, key_bytes
from kafka_replica.sdmx.decoding import ALIASES, CONTENT_TYPE, DecodedArtefacts, Snapshot
from kafka_replica.sdmx.items import has_items, item_of
from kafka_replica.sdmx.model import (
    Artefact,
    Codelist,
    Component,
    Concept,
    ConceptScheme,
    Dataflow,
    DataStructure,
    Identifiable,
    OpaqueArtefact,
)
from kafka_replica.sdmx.references import Dangling, ReferenceIndex
from kafka_replica.sdmx.urn import Urn
from kafka_replica.sdmx.versions import LATEST, LATEST_STABLE, newest

__all__ = ["CONTENT_TYPE", "Dangling", "Item", "Reference", "ResolvedComponent", "Snapshot", "Structures"]

T = TypeVar("T")
Item: TypeAlias = Identifiable
Reference: TypeAlias = Urn | str


class ResolvedComponent(NamedTuple):
    """A component and the codelist or value list its values come from; None if it is not coded."""

    component: Component
    enumeration: Urn | None


class Structures(DecodedArtefacts):
    """The artefacts of one version, by URN. Any number of threads may ask.

    Nothing is decoded before it is asked for; a record is decoded once. A key that is not a URN is no
    artefact. All answers come from the one version, however the replica moves on.

    All look-ups raise ArtefactNotFoundError where there is no such artefact or item, UrnError for
    something that is no URN or reference, and MessageError or UnreadableContentError, which name topic,
    partition, offset and key, for a record that cannot be read.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        super().__init__(snapshot)
        self._indexing = threading.Lock()
        self._index: ReferenceIndex | None = None

    def get(self, urn: Reference) -> Artefact | Item:
        """The artefact of a URN, or the item if the URN names one.

        A version with a wildcard (``1.0+``, ``*``) means the newest that fits.
        """
        wanted = Urn.parse(urn) if isinstance(urn, str) else urn
        if wanted.item is None:
            return self._artefact(wanted)
        missing: ArtefactNotFoundError | None = None
        for holder in wanted.maintainables:
            try:
                artefact = self._artefact(holder)
            except ArtefactNotFoundError as error:
                missing = missing or error
            else:
                return self._item(artefact, wanted)
        raise missing or self._not_found(wanted.maintainable)

    def codelist(self, reference: Reference) -> Codelist:
        """The codelist of a URN or of a reference, ``SDMX:CL_FREQ(2.1)``."""
        return self._typed("Codelist", Codelist, reference)

    def concept_scheme(self, reference: Reference) -> ConceptScheme:
        """The concept scheme of a URN or reference."""
        return self._typed("ConceptScheme", ConceptScheme, reference)

    def data_structure(self, reference: Reference) -> DataStructure:
        """The data structure of a URN or reference."""
        return self._typed("DataStructure", DataStructure, reference)

    def dataflow(self, reference: Reference) -> Dataflow:
        """The dataflow of a URN or reference."""
        return self._typed("Dataflow", Dataflow, reference)

    def find(self, cls: str = "*", agency: str = "*", id: str = "*", version: str = "*") -> list[Urn]:  # noqa: A002
        """The URNs that fit, sorted; ``*`` in any of the four stands for any text. Decodes nothing.

        ``version`` may be a rule of SDMX 3 (``1.0+``, ``2+.0.0``), ``+`` for the latest stable version or ``~`` for the
        latest: then each artefact comes once, in the version that is meant.
        """
        is_rule = "+" in version or version == LATEST
        fits = [_wildcard(pattern) for pattern in (cls, agency, id, "*" if is_rule else version)]
        found = [
            urn
            for urn in self.urns
            if fits[0](urn.cls) and fits[1](urn.agency) and fits[2](urn.id) and fits[3](urn.version)
        ]
        return _meant(version, found) if is_rule else found

    def latest(self, reference: Reference, *, stable: bool = True) -> Urn:
        """The URN of the newest version of an artefact, whatever version ``reference``, a URN, says.

        Args:
            reference: the URN of the artefact in any version, be it there or not.
            stable: leave drafts (``2.0.0-draft``) out.
        """
        urn = (Urn.parse(reference) if isinstance(reference, str) else reference).maintainable
        meant = Urn(urn.package, urn.cls, urn.agency, urn.id, LATEST_STABLE if stable else LATEST)
        return self._newest(meant)

    def children(self, reference: Reference) -> tuple[Urn, ...]:
        """The artefacts of this version that an artefact refers to, by URN; of a version rule the one it means.

        This, :meth:`parents`, :meth:`descendants` and :meth:`dangling` decode all artefacts at their first use and keep
        an index, which :meth:`moved_to` takes along. What artefacts of unknown classes refer to is not known; a record
        that cannot be read raises its error.
        """
        own = self._own(reference)
        with self._indexing:
            return self._references().children(own, self._holder)

    def parents(self, reference: Reference) -> tuple[Urn, ...]:
        """The artefacts that refer to an artefact, or to an item in it."""
        own = self._own(reference)
        with self._indexing:
            return self._references().parents(own, self._holder)

    def descendants(self, reference: Reference) -> tuple[Urn, ...]:
        """The children of an artefact, theirs, and so on; nearest first."""
        own = self._own(reference)
        with self._indexing:
            return self._references().descendants(own, self._holder)

    def dangling(self) -> tuple[Dangling, ...]:
        """The references that lead nowhere, to an artefact or an item that is not in this version; sorted.

        Items of stubs, of partial lists and of extended codelists are not missed, for they may be elsewhere.
        """
        found: list[Dangling] = []
        by_holder: dict[Urn, list[tuple[Urn, Urn]]] = {}
        with self._indexing:
            written = list(self._references().written())
        for source, target in written:
            holder = self._holder(target)
            if holder is None:
                found.append(Dangling(source, target))
            elif target.item is not None:
                by_holder.setdefault(holder, []).append((source, target))
        for holder, pairs in by_holder.items():
            artefact = self._artefact_once(holder)
            found += [Dangling(source, target) for source, target in pairs if _lacks(artefact, target)]
        return tuple(sorted(found))

    def moved_to(self, snapshot: Snapshot, changed: Iterable[Key]) -> Structures:
        """Look-ups in another version that differs from this one by the records of some keys.

        The index of references, if there is one, is taken along and brought up to date, which costs what the changed
        artefacts hold. This object still answers for its own version, and makes its index again if it is asked.

        Args:
            snapshot: the other version.
            changed: at least all keys whose records are not the same in both, as a delta names them.
        """
        moved = Structures(snapshot)
        with self._indexing:
            index, self._index = self._index, None
        if index is not None:
            try:
                for key in changed:
                    moved._bring_up_to_date(index, key)
            except SdmxError:
                return moved  # whoever asks will see the error, when the index is made again
            moved._index = index
        return moved

    def _bring_up_to_date(self, index: ReferenceIndex, key: Key) -> None:
        try:
            urn = Urn.parse(key_bytes(key))
        except UrnError:
            return
        if urn.is_maintainable and self._record(urn) is not None:
            index.put(urn, self._artefact_once(urn))
        else:
            index.drop(urn)

    def enumeration_of(self, component: Component) -> Urn | None:
        """The codelist or value list a component's values come from; None if it is not coded.

        Its own representation counts; where it has none, its concept's does.
        """
        own = component.representation
        if own is not None and (own.enumeration is not None or own.format is not None):
            return own.enumeration
        if component.concept is None:
            return None
        concept = self.get(component.concept)
        if isinstance(concept, Concept) and concept.core_representation is not None:
            return concept.core_representation.enumeration
        return None

    def components(self, reference: Reference | DataStructure) -> tuple[ResolvedComponent, ...]:
        """The components of a data structure in order, each with the list its values come from."""
        found = reference if isinstance(reference, DataStructure) else self.data_structure(reference)
        return tuple(ResolvedComponent(one, self.enumeration_of(one)) for one in found.components)

    def _references(self) -> ReferenceIndex:
        """The index; the lock is held."""
        if self._index is None:
            self._index = ReferenceIndex((urn, self._artefact_once(urn)) for urn in self.urns)
        return self._index

    def _own(self, reference: Reference) -> Urn:
        urn = (Urn.parse(reference) if isinstance(reference, str) else reference).maintainable
        found = self._holder(urn)
        if found is None:
            raise self._not_found(urn)
        return found

    def _typed(self, class_: str, kind: type[T], reference: Reference) -> T:
        if isinstance(reference, Urn):
            urn = reference
        elif reference.startswith("urn:"):
            urn = Urn.parse(reference)
        else:
            urn = Urn.of_reference(class_, reference)
        if urn.item is not None or urn.cls not in {class_, *ALIASES.get(class_, ())}:
            raise UrnError(f"looking up a {class_}: {urn} names a {urn.cls}; use get()")
        found = self._artefact(urn)
        if not isinstance(found, kind):
            raise UnreadableContentError(
                f"looking up {urn} in version {self.version}: artefacts of class {found.urn.cls} cannot be read yet; "
                "get() gives its bytes"
            )
        return found

    def _item(self, artefact: Artefact, urn: Urn) -> Item:
        item = urn.item or ""
        if isinstance(artefact, OpaqueArtefact):
            raise UnreadableContentError(
                f"looking up {urn} in version {self.version}: items of class {artefact.urn.cls} cannot be read yet"
            )
        found = item_of(artefact, urn.cls, item)
        if found is None:
            raise ArtefactNotFoundError(
                f"looking up {urn}: {artefact.urn} has no {urn.cls} {item!r} in version {self.version}; "
                "check the id, or whether the list is partial"
            )
        return found


def _lacks(artefact: Artefact, urn: Urn) -> bool:
    """Whether an item is surely not in an artefact."""
    if not has_items(artefact) or artefact.is_stub or artefact.is_partial:
        return False
    if isinstance(artefact, Codelist) and artefact.extensions:
        return False
    return item_of(artefact, urn.cls, urn.item or "") is None


def _meant(rule: str, urns: list[Urn]) -> list[Urn]:
    """Of each artefact the version that the rule means."""
    by_artefact: dict[tuple[str, str, str], dict[str, Urn]] = {}
    for urn in urns:
        by_artefact.setdefault((urn.cls, urn.agency, urn.id), {})[urn.version] = urn
    found = ((versions, newest(rule, versions)) for versions in by_artefact.values())
    return sorted(versions[version] for versions, version in found if version is not None)


def _wildcard(pattern: str) -> Callable[[str], re.Match[str] | None]:
    fits = re.compile(".*".join(re.escape(part) for part in re.split(r"\*+", pattern)))
    return fits.fullmatch
