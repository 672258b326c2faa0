"""Look-ups of artefacts in one version of a replica."""

from __future__ import annotations

from typing import NamedTuple, TypeVar

from kafka_replica.sdmx.errors import ArtefactNotFoundError, UnreadableContentError, UrnError
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
    """A component and the codelist or value list of its values; None if the component is not coded."""

    component: Component
    enumeration: Urn | None


class Structures(GatheredLookUps):
    """The artefacts of one version, by URN. Thread-safe.

    Nothing is decoded before it is requested; a content is decoded once for all versions, as long as the cache has
    room. A key that is not a URN is not an artefact. All results come from this version, even after the replica has
    advanced. An artefact without a record of its own is found in the message of another key that contains it.

    All look-ups raise ArtefactNotFoundError if there is no such artefact or item, UrnError for
    text that is not a URN or reference, and MessageError or UnreadableContentError, which name topic,
    partition, offset and key, for a record that cannot be read.

    Args:
        snapshot: the version.
        cache: the cache of decoded messages; ``decode_cache``, shared by the process, by default.
        companions: False if each message is known to hold only its key's artefact: then a look-up need not search
            all messages before it reports that an artefact is missing.
    """

    def get(self, urn: Reference) -> Artefact | Item:
        """Return the artefact of a URN, or the item if the URN names an item.

        A version with a wildcard (``1.0+``, ``*``) means the newest match.
        """
        wanted = Urn.parse(urn) if isinstance(urn, str) else urn
        artefact = self._artefact(wanted)
        return artefact if wanted.item is None else self._item(artefact, wanted)

    def find(self, cls: str = "*", agency: str = "*", id: str = "*", version: str = "*") -> list[Urn]:  # noqa: A002
        """Return the matching URNs, sorted; ``*`` in any of the four arguments matches any text. Decodes nothing.

        ``version`` may be a rule of SDMX 3 (``1.0+``, ``2+.0.0``), ``+`` for the latest stable version or ``~`` for the
        latest: then each artefact is returned once, in the version that the rule selects.
        """
        is_rule = "+" in version or version == LATEST
        found = self._keys.find(pattern(cls), pattern(agency), pattern(id))
        if is_rule:
            return meant(version, found)
        wanted = pattern(version)
        return sorted(urn for urn in found if fitting(wanted, urn.version))

    def latest(self, reference: Reference, *, stable: bool = True) -> Urn:
        """Return the URN of the newest version of an artefact, regardless of the version in the URN ``reference``.

        Args:
            reference: the URN of the artefact in any version, existing or not.
            stable: leave drafts (``2.0.0-draft``) out.
        """
        urn = (Urn.parse(reference) if isinstance(reference, str) else reference).maintainable
        newest_one = Urn(urn.package, urn.cls, urn.agency, urn.id, LATEST_STABLE if stable else LATEST)
        found = self._holder(newest_one)
        if found is None:
            raise self._not_found(newest_one)
        return found

    def enumeration_of(self, component: Component) -> Urn | None:
        """Return the codelist or value list of a component's values; None if the component is not coded.

        The component's own representation takes precedence over its concept's.
        """
        concept = None
        if component.concept is not None and not says_values(component.representation):
            concept = self.get(component.concept)
        core = concept.core_representation if isinstance(concept, Concept) else None
        found = effective_representation(component.representation, core)
        if found is None or found.enumeration is None:
            return None
        target = late_bound(found.enumeration, component.urn if concept is None else concept.urn)
        # A rule in a draft may select a draft; a URN cannot express that, so return the selected version.
        return found.enumeration if target == found.enumeration else self._holder(target) or found.enumeration

    def components(self, reference: Reference | DataStructure) -> tuple[ResolvedComponent, ...]:
        """Return the components of a data structure in order, each with the list of its values."""
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
