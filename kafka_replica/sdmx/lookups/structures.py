"""Look-ups of artefacts in one version of a replica."""

from __future__ import annotations

from typing import NamedTuple, TypeVar

from kafka_replica.errors import ArtefactNotFoundError, UnreadableContentError, UrnError
from kafka_replica.sdmx.items import Item, item_of
from kafka_replica.sdmx.lookups.class_aliases import classes_of
from kafka_replica.sdmx.lookups.composite import GatheredLookUps
from kafka_replica.sdmx.lookups.decoding import CONTENT_TYPE, Snapshot
from kafka_replica.sdmx.lookups.patterns import fitting, meant, pattern
from kafka_replica.sdmx.lookups.references import Dangling, late_bound
from kafka_replica.sdmx.lookups.related import Reference
from kafka_replica.sdmx.model import (
    Artefact,
    Component,
    Concept,
    DataStructure,
    OpaqueArtefact,
)
from kafka_replica.sdmx.representation import effective_representation, says_values
from kafka_replica.sdmx.urn import Urn
from kafka_replica.sdmx.versions import LATEST, LATEST_STABLE

__all__ = ["CONTENT_TYPE", "Dangling", "Item", "Reference", "ResolvedComponent", "Snapshot", "Structures"]

T = TypeVar("T")


class ResolvedComponent(NamedTuple):
    """A component and the codelist or value list its values come from; None if it is not coded."""

    component: Component
    enumeration: Urn | None


class Structures(GatheredLookUps):
    """The artefacts of one version, by URN. Any number of threads may ask.

    Nothing is decoded before it is asked for; a content is decoded once for all versions, as long as the cache has
    room. A key that is not a URN is no artefact. All answers come from the one version, however the replica moves on.
    An artefact without a record of its own is found in the message of another's key, where it came along.

    All look-ups raise ArtefactNotFoundError where there is no such artefact or item, UrnError for
    something that is no URN or reference, and MessageError or UnreadableContentError, which name topic,
    partition, offset and key, for a record that cannot be read.

    Args:
        snapshot: the version.
        cache: where decoded messages are kept; ``decode_cache``, that of the process, by default.
        companions: False where each message is known to hold its key's artefact alone: then nobody has to look through
            all messages to say that something is not there.
    """

    def get(self, urn: Reference) -> Artefact | Item:
        """The artefact of a URN, or the item if the URN names one.

        A version with a wildcard (``1.0+``, ``*``) means the newest that fits.
        """
        wanted = Urn.parse(urn) if isinstance(urn, str) else urn
        artefact = self._artefact(wanted)
        return artefact if wanted.item is None else self._item(artefact, wanted)

    def find(self, cls: str = "*", agency: str = "*", id: str = "*", version: str = "*") -> list[Urn]:  # noqa: A002
        """The URNs that fit, sorted; ``*`` in any of the four stands for any text. Decodes nothing.

        ``version`` may be a rule of SDMX 3 (``1.0+``, ``2+.0.0``), ``+`` for the latest stable version or ``~`` for the
        latest: then each artefact comes once, in the version that is meant.
        """
        is_rule = "+" in version or version == LATEST
        found = self._keys.find(pattern(cls), pattern(agency), pattern(id))
        if is_rule:
            return meant(version, found)
        wanted = pattern(version)
        return sorted(urn for urn in found if fitting(wanted, urn.version))

    def latest(self, reference: Reference, *, stable: bool = True) -> Urn:
        """The URN of the newest version of an artefact, whatever version ``reference``, a URN, says.

        Args:
            reference: the URN of the artefact in any version, be it there or not.
            stable: leave drafts (``2.0.0-draft``) out.
        """
        urn = (Urn.parse(reference) if isinstance(reference, str) else reference).maintainable
        newest_one = Urn(urn.package, urn.cls, urn.agency, urn.id, LATEST_STABLE if stable else LATEST)
        found = self._holder(newest_one)
        if found is None:
            raise self._not_found(newest_one)
        return found

    def enumeration_of(self, component: Component) -> Urn | None:
        """The codelist or value list a component's values come from; None if it is not coded.

        Its own representation counts; where it has none, its concept's does.
        """
        concept = None
        if component.concept is not None and not says_values(component.representation):
            concept = self.get(component.concept)
        core = concept.core_representation if isinstance(concept, Concept) else None
        found = effective_representation(component.representation, core)
        if found is None or found.enumeration is None:
            return None
        target = late_bound(found.enumeration, component.urn if concept is None else concept.urn)
        # A rule in a draft may mean a draft: that cannot be written, so what it means is given.
        return found.enumeration if target == found.enumeration else self._holder(target) or found.enumeration

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
        if urn.item is not None or urn.cls not in classes_of(class_):
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
        found = item_of(artefact, urn.cls, item) or self._inherited(artefact, urn)
        if found is None:
            raise ArtefactNotFoundError(
                f"looking up {urn}: {artefact.urn} has no {urn.cls} {item!r} in version {self.version}; "
                "check the id, or whether the list is partial"
            )
        return found
