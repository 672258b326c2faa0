"""Look-ups of artefacts in one version of a replica."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Final, NamedTuple, Protocol, TypeAlias, TypeVar

from kafka_replica.errors import ArtefactNotFoundError, MessageError, SdmxError, UnreadableContentError, UrnError
from kafka_replica.records import Key, Record
from kafka_replica.sdmx.model import (
    Artefact,
    Code,
    Codelist,
    Component,
    Concept,
    ConceptScheme,
    Dataflow,
    DataStructure,
    Group,
    OpaqueArtefact,
)
from kafka_replica.sdmx.reading import read_message
from kafka_replica.sdmx.urn import Urn
from kafka_replica.sdmx.versions import is_wildcard, newest

T = TypeVar("T")
Item: TypeAlias = Code | Concept | Component | Group
Reference: TypeAlias = Urn | str

CONTENT_TYPE: Final = "content-type"
"""The record header that holds the media type of the value."""

# What one edition calls so, another calls otherwise; the standard's own samples mix the codelists.
_ALIASES: Final = {
    "ContentConstraint": ("DataConstraint",),
    "DataConstraint": ("ContentConstraint",),
    "Codelist": ("GeographicCodelist", "GeoGridCodelist"),
    "GeographicCodelist": ("Codelist",),
    "GeoGridCodelist": ("Codelist",),
}


class Snapshot(Protocol):
    """One version of a replica, as far as it is needed here: it never changes."""

    @property
    def version(self) -> int:
        """The number of the version."""
        ...

    def get(self, key: Key) -> Record | None:
        """The record of a key, or None."""
        ...

    def __iter__(self) -> Iterator[bytes]:
        """All keys."""
        ...


class ResolvedComponent(NamedTuple):
    """A component and the codelist or value list its values come from; None if it is not coded."""

    component: Component
    enumeration: Urn | None


class _Entry:
    """One decoded artefact; the lock lets one thread decode while others wait."""

    __slots__ = ("artefact", "lock")

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.artefact: Artefact | None = None


class Structures:
    """The artefacts of one version, by URN. Any number of threads may ask.

    Nothing is decoded before it is asked for; a record is decoded once. A key that is not a URN is no
    artefact. All answers come from the one version, however the replica moves on.

    All look-ups raise ArtefactNotFoundError where there is no such artefact or item, UrnError for
    something that is no URN or reference, and MessageError or UnreadableContentError, which name topic,
    partition, offset and key, for a record that cannot be read.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._entries: dict[Urn, _Entry] = {}

    @property
    def version(self) -> int:
        """The version all answers come from."""
        return self._snapshot.version

    @cached_property
    def urns(self) -> tuple[Urn, ...]:
        """The URNs of all artefacts, sorted."""
        found = []
        for key in self._snapshot:
            try:
                urn = Urn.parse(key)
            except UrnError:
                continue
            if urn.is_maintainable:
                found.append(urn)
        return tuple(sorted(found))

    def __len__(self) -> int:
        return len(self.urns)

    def __iter__(self) -> Iterator[Urn]:
        return iter(self.urns)

    def __contains__(self, urn: object) -> bool:
        if not isinstance(urn, (Urn, str)):
            return False
        try:
            wanted = Urn.parse(urn) if isinstance(urn, str) else urn
        except UrnError:
            return False
        return wanted.is_maintainable and any(self._record(one) for one in _spellings(wanted))

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
        """The URNs that fit, sorted; ``*`` in any of the four stands for any text. Decodes nothing."""
        fits = [_wildcard(pattern) for pattern in (cls, agency, id, version)]
        return [
            urn
            for urn in self.urns
            if fits[0](urn.cls) and fits[1](urn.agency) and fits[2](urn.id) and fits[3](urn.version)
        ]

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

    def _typed(self, class_: str, kind: type[T], reference: Reference) -> T:
        if isinstance(reference, Urn):
            urn = reference
        elif reference.startswith("urn:"):
            urn = Urn.parse(reference)
        else:
            urn = Urn.of_reference(class_, reference)
        if urn.item is not None or urn.cls not in {class_, *_ALIASES.get(class_, ())}:
            raise UrnError(f"looking up a {class_}: {urn} names a {urn.cls}; use get()")
        found = self._artefact(urn)
        if not isinstance(found, kind):
            raise UnreadableContentError(
                f"looking up {urn} in version {self.version}: artefacts of class {found.urn.cls} cannot be read yet; "
                "get() gives its bytes"
            )
        return found

    def _record(self, urn: Urn) -> Record | None:
        record = self._snapshot.get(str(urn))
        return record if record is not None and record.value is not None else None

    def _artefact(self, urn: Urn) -> Artefact:
        if is_wildcard(urn.version):
            urn = self._newest(urn)
        for one in _spellings(urn):
            entry = self._entries.get(one)
            if entry is None:
                record = self._record(one)
                if record is None:
                    continue
                entry = self._entries.setdefault(one, _Entry())
            with entry.lock:
                if entry.artefact is None:
                    entry.artefact = self._decoded(one)
                return entry.artefact
        raise self._not_found(urn)

    def _newest(self, urn: Urn) -> Urn:
        classes = {urn.cls, *_ALIASES.get(urn.cls, ())}
        same = [one for one in self.urns if one.cls in classes and (one.agency, one.id) == (urn.agency, urn.id)]
        version = newest(urn.version, [one.version for one in same])
        if version is None:
            raise self._not_found(urn)
        return next(one for one in same if one.version == version)

    def _decoded(self, urn: Urn) -> Artefact:
        record = self._record(urn)
        if record is None or record.value is None:
            raise self._not_found(urn)
        content_type = (record.header(CONTENT_TYPE) or b"").decode("latin-1") or None
        try:
            message = read_message(record.value, content_type)
            for one in _spellings(urn):
                if one in message.artefacts:
                    return message.artefacts[one]
            held = ", ".join(str(one) for one in list(message.artefacts)[:3]) or "no artefact"
            raise MessageError(f"the key disagrees with the content, which holds {held}; have it published again")
        except SdmxError as error:
            place = f"record at {record.source}, offset {record.offset}, key {record.key[:200]!r}"
            raise type(error)(f"{place}: {error}") from error

    def _item(self, artefact: Artefact, urn: Urn) -> Item:
        item = urn.item or ""
        if isinstance(artefact, OpaqueArtefact):
            raise UnreadableContentError(
                f"looking up {urn} in version {self.version}: items of class {artefact.urn.cls} cannot be read yet"
            )
        found = _item_of(artefact, urn.cls, item)
        if found is None:
            raise ArtefactNotFoundError(
                f"looking up {urn}: {artefact.urn} has no {urn.cls} {item!r} in version {self.version}; "
                "check the id, or whether the list is partial"
            )
        return found

    def _not_found(self, urn: Urn) -> ArtefactNotFoundError:
        near = [one for one in self.urns if one.id == urn.id]
        same = [one.version for one in near if (one.cls, one.agency) == (urn.cls, urn.agency)]
        if same:
            hint = f"there is version {', '.join(same[:5])} of it"
        elif near:
            hint = f"there is {', '.join(str(one) for one in near[:3])}"
        else:
            hint = "nothing here has this id"
        return ArtefactNotFoundError(f"looking up {urn}: it is not in version {self.version}; {hint}")


def _spellings(urn: Urn) -> Iterator[Urn]:
    """The URN, and the same under the names other editions give its class."""
    yield urn
    for alias in _ALIASES.get(urn.cls, ()):
        yield Urn(urn.package, alias, urn.agency, urn.id, urn.version)


def _item_of(artefact: Artefact, class_: str, item: str) -> Item | None:
    if isinstance(artefact, Codelist):
        return artefact.codes.get(item)
    if isinstance(artefact, ConceptScheme):
        # A path of concepts is written by some; ids are unique in the scheme.
        return artefact.concepts.get(item) or artefact.concepts.get(item.rpartition(".")[2])
    if isinstance(artefact, DataStructure):
        if class_ == "GroupDimensionDescriptor":
            return artefact.groups.get(item)
        return next((one for one in artefact.components if one.id == item), None)
    return None


def _wildcard(pattern: str) -> Callable[[str], re.Match[str] | None]:
    fits = re.compile(".*".join(re.escape(part) for part in re.split(r"\*+", pattern)))
    return fits.fullmatch
