"""The artefacts of one version and their items, by URN."""

from __future__ import annotations

from typing import Final, TypeAlias, TypeVar

from kafka_replica.sdmx.errors import ArtefactNotFoundError, SdmxError, UnreadableContentError, UrnError
from kafka_replica.sdmx.lookups.artefact_locator import ArtefactLocator
from kafka_replica.sdmx.lookups.class_aliases import classes_of
from kafka_replica.sdmx.lookups.decoding import RecordDecoder
from kafka_replica.sdmx.lookups.expansions import ExpansionCache
from kafka_replica.sdmx.lookups.extensions import expand
from kafka_replica.sdmx.lookups.items import Item, item_of
from kafka_replica.sdmx.model import Artefact, Codelist, OpaqueArtefact
from kafka_replica.sdmx.urns.urn import Urn

Reference: TypeAlias = Urn | str
"""A URN, parsed or as text."""

T = TypeVar("T")


class ArtefactReader:
    """The artefacts of one version and their items, decoded on demand. Thread-safe.

    Args:
        decoder: the records of the version.
        locator: the keys of the version.
        expansions: the cache of codelists with inherited codes.
    """

    def __init__(self, decoder: RecordDecoder, locator: ArtefactLocator, expansions: ExpansionCache) -> None:
        self.expansions: Final = expansions
        self._decoder = decoder
        self._locator = locator

    def get(self, urn: Reference) -> Artefact | Item:
        """Return the artefact or item of a URN: see ``Structures.get``."""
        wanted = Urn.parse(urn) if isinstance(urn, str) else urn
        artefact = self.artefact(wanted)
        return artefact if wanted.item is None else self._item(artefact, wanted)

    def artefact(self, urn: Urn) -> Artefact:
        """Return the artefact that a URN refers to, or that holds the item the URN refers to."""
        message = self._decoder.cached(urn)
        if message is not None and urn in message.artefacts:  # requested before, and still in the cache
            return message.artefacts[urn]
        return self.held(self._locator.existing(urn))

    def held(self, artefact: Urn) -> Artefact:
        """Return an existing artefact, from its own record or from the message of another key."""
        own = self._decoder.message(artefact)
        if own is not None:
            return self._decoder.artefact_of_key(artefact, own)
        key = self._locator.companions(artefact).get(artefact)
        message = None if key is None else self._decoder.message(key)
        if message is None:
            raise self._locator.not_found(artefact)
        return message.artefacts[artefact]

    def of_class(self, class_: str, kind: type[T], reference: Reference) -> T:
        """Return the artefact of a class, given by its URN or a short reference, as its struct."""
        urn = urn_of(class_, reference)
        if urn.item is not None or urn.cls not in classes_of(class_):
            raise UrnError(f"looking up a {class_}: {urn} names a {urn.cls}; use get()")
        found = self.artefact(urn)
        if not isinstance(found, kind):
            raise UnreadableContentError(
                f"looking up {urn} in version {self._version}: artefacts of class {found.urn.cls} cannot be read yet; "
                "get() gives its bytes"
            )
        return found

    def codelist(self, reference: Reference) -> Codelist:
        """Return a codelist as written, without the codes it inherits."""
        return self.of_class("Codelist", Codelist, reference)

    def expand(self, codelist: Codelist) -> Codelist:
        """Return a codelist with the codes it inherits: see ``Structures.expand``."""
        if not codelist.extensions and not codelist.is_stub:
            return codelist
        return self.expansions.get(codelist, self.codelist, expand)

    def known(self, reference: Reference) -> Urn:
        """Return the URN of the artefact that a reference means; for an item the URN itself, if the item exists.

        An item of an unreadable artefact counts as existing.
        """
        urn = Urn.parse(reference) if isinstance(reference, str) else reference
        holder = self._locator.existing(urn)
        if urn.is_maintainable:
            return holder
        item = self._readable(urn, or_raise=True)
        return urn if item is None else item.urn

    def item_or_none(self, urn: Urn) -> Artefact | Item | None:
        """Return the item of a URN; None if it is missing or cannot be read."""
        return self._readable(urn, or_raise=False)

    def _readable(self, urn: Urn, *, or_raise: bool) -> Artefact | Item | None:
        try:
            return self.get(urn)
        except ArtefactNotFoundError:
            if or_raise:
                raise
        except SdmxError:
            pass
        return None

    def _item(self, artefact: Artefact, urn: Urn) -> Item:
        item = urn.item or ""
        if isinstance(artefact, OpaqueArtefact):
            raise UnreadableContentError(
                f"looking up {urn} in version {self._version}: items of class {artefact.urn.cls} cannot be read yet"
            )
        found = item_of(artefact, urn.cls, item)
        if not found and isinstance(artefact, Codelist):
            found = item_of(self.expand(artefact), urn.cls, item)
        if found is None:
            raise ArtefactNotFoundError(
                f"looking up {urn}: {artefact.urn} has no {urn.cls} {item!r} in version {self._version}; "
                "check the id, or whether the list is partial"
            )
        return found

    @property
    def _version(self) -> int:
        return self._decoder.snapshot.version


def urn_of(class_: str, reference: Reference) -> Urn:
    """Return the URN that a reference is, or that it means as a short reference to an artefact of a class."""
    if isinstance(reference, Urn):
        return reference
    return Urn.parse(reference) if reference.startswith("urn:") else Urn.of_reference(class_, reference)
