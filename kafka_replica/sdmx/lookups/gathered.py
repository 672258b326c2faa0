"""Look-ups that gather: codelists with what they extend, hierarchies, constraints, all that a dataflow needs."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Self, TypeVar

from kafka_replica.errors import UrnError
from kafka_replica.records import Key
from kafka_replica.sdmx.items import Item, item_of
from kafka_replica.sdmx.lookups.attachments import ATTACHED, CONSTRAINTS, AttachmentIndex, attached_to
from kafka_replica.sdmx.lookups.companions import companions_in
from kafka_replica.sdmx.lookups.decoding import Snapshot
from kafka_replica.sdmx.lookups.expansions import ExpansionCache
from kafka_replica.sdmx.lookups.extensions import expanded
from kafka_replica.sdmx.lookups.hierarchy_tree import AnyHierarchy, HierarchyTree
from kafka_replica.sdmx.lookups.index.kept import Kept, Pending
from kafka_replica.sdmx.lookups.index.keys import urn_of_key
from kafka_replica.sdmx.lookups.related import Reference, RelatedArtefacts
from kafka_replica.sdmx.lookups.resolve import resolve
from kafka_replica.sdmx.lookups.resolved import ResolvedStructure
from kafka_replica.sdmx.lookups.spellings import classes_of
from kafka_replica.sdmx.lookups.typed import TypedLookUps
from kafka_replica.sdmx.model import (
    Artefact,
    Codelist,
    Constraint,
    Dataflow,
    DataStructure,
    Hierarchy,
    HierarchyAssociation,
    HierarchyOfCodelist,
    ProvisionAgreement,
)
from kafka_replica.sdmx.urn import Urn
from kafka_replica.sdmx.versions import is_wildcard, newest

T = TypeVar("T")


class GatheredLookUps(RelatedArtefacts, TypedLookUps):
    """Adds them to the look-ups of one version."""

    @cached_property
    def _attachments(self) -> Kept[AttachmentIndex]:
        return Kept()

    @cached_property
    def _expansions(self) -> ExpansionCache:
        return ExpansionCache()

    @abstractmethod
    def get(self, urn: Reference) -> Artefact | Item:
        """What a URN names."""

    @abstractmethod
    def find(self, cls: str = "*", agency: str = "*", id: str = "*", version: str = "*") -> list[Urn]:  # noqa: A002
        """The URNs that fit."""

    def expanded(self, codelist: Reference | Codelist) -> Codelist:
        """A codelist with the codes of the lists it extends (3.x): prefixed, and chosen as its extensions say.

        It has no extensions then, and its codes that are taken over come first. ``codelist()`` gives the artefact as
        it is.

        Raises:
            ExtensionError: the extensions go in circles, or give ids that no code can have, or too many codes.
            UnreadableContentError: it, or a list it extends, is a stub.
            ArtefactNotFoundError: it, or a list it extends, is not in this version.
        """
        found = codelist if isinstance(codelist, Codelist) else self.codelist(codelist)
        if not found.extensions and not found.is_stub:
            return found
        return self._expansions.get(found, self.codelist, expanded)

    def constraints_of(self, reference: Reference) -> tuple[Constraint, ...]:
        """The constraints that are attached to this very artefact or data provider: all versions, all roles; sorted.

        The first question decodes all constraints of the version, and nothing else.
        """
        return tuple(self._attached(reference, CONSTRAINTS, Constraint))

    @property
    def unread_constraints(self) -> tuple[Urn, ...]:
        """The constraints on data that do not say what they are attached to: stubs, and what cannot be read."""
        found = self._attachment_index().unread
        return tuple(sorted(one for one in found if one.cls in classes_of("DataConstraint")))

    def hierarchies_of(
        self, reference: Reference, context: Reference | None = None
    ) -> tuple[HierarchyAssociation, ...]:
        """The associations of hierarchies with a codelist, a dimension, or whatever else has a URN (3.x); sorted.

        Args:
            reference: the artefact, or the item or component.
            context: take those alone that hold in this context, a dataflow say, or that name none.
        """
        found = self._attached(reference, ("HierarchyAssociation",), HierarchyAssociation)
        if context is None:
            return tuple(found)
        wanted = self.get(context).urn
        return tuple(one for one in found if one.context_object is None or self._means(one.context_object, wanted))

    def hierarchy_tree(self, hierarchy: Reference | AnyHierarchy) -> HierarchyTree:
        """A hierarchy to walk: of 3.x, or by its URN or ``A:HCL(1.0).H`` one within a hierarchical codelist of 2.1.

        Codes are looked up when a place is asked for its code; those that a codelist has by extension are found, too.
        """
        if isinstance(hierarchy, Hierarchy | HierarchyOfCodelist):
            return HierarchyTree(hierarchy, self.get)
        found = self.get(_urn_of("Hierarchy", hierarchy))
        if not isinstance(found, Hierarchy | HierarchyOfCodelist):
            raise UrnError(f"walking {found.urn}: it is no hierarchy; name one, within a list by its id after a dot")
        return HierarchyTree(found, self.get)

    def resolve(self, what: Reference | Dataflow | DataStructure | ProvisionAgreement) -> ResolvedStructure:
        """All that is needed to validate data, in one value: structure, representations, lists, constraints.

        Args:
            what: a dataflow, data structure or provision agreement, or its URN. A short reference,
                ``SDMX:DF(1.0)``, means a dataflow.

        Raises:
            IncompleteStructureError: something that is needed is not in this version, or cannot be used (stubs,
                records that cannot be read); its message and its ``missing`` list all of it.
            ArtefactNotFoundError: what was asked for is not in this version.
            UrnError: it is of another class.
        """
        if isinstance(what, Dataflow | DataStructure | ProvisionAgreement):
            return resolve(self, what.urn)
        return resolve(self, _urn_of("Dataflow", what))

    def moved_to(self, snapshot: Snapshot, changed: Iterable[Key] | None = None) -> Self:
        """See :meth:`RelatedArtefacts.moved_to`; what constraints are attached to is taken along, too."""
        keys = None if changed is None else list(changed)
        moved = super().moved_to(snapshot, keys)
        urns = None if keys is None else [urn for key in keys if (urn := urn_of_key(key)) is not None]
        moved._attachments = self._attachments.moved(urns)  # noqa: SLF001 - of its own class
        moved._expansions = self._expansions  # noqa: SLF001 - it checks that what it gives out is still so
        return moved

    def _inherited(self, artefact: Artefact, urn: Urn) -> Item | None:
        """The code that a codelist has from one it extends."""
        if not isinstance(artefact, Codelist):
            return None
        return item_of(self.expanded(artefact), urn.cls, urn.item or "")

    def _attachment_index(self) -> AttachmentIndex:
        return self._attachments.get(self._made_attachments)

    def _made_attachments(self, base: AttachmentIndex | None, pending: Pending) -> AttachmentIndex:
        if base is None or pending is None:
            return AttachmentIndex().moved((urn for cls in ATTACHED for urn in self.find(cls=cls)), self._recorded)
        return base.moved(pending, self._recorded)

    def _recorded(self, key: Urn) -> Artefact | None:
        """The artefact of a key's own record; None where it has none."""
        message = self._message(key)
        return None if message is None else self._of_key(key, message)

    def _attached(self, reference: Reference, classes: tuple[str, ...], kind: type[T]) -> Iterator[T]:
        wanted = self.get(reference).urn
        found: dict[Urn, object] = {
            own: self.get(own)
            for own, targets in self._attachment_index().candidates(wanted.agency, wanted.id)
            if own.cls in classes and any(self._means(target, wanted) for target in targets)
        }
        for beside in self._beside(wanted):
            if beside.urn.cls in classes and any(self._means(target, wanted) for target in attached_to(beside) or ()):
                found.setdefault(beside.urn, beside)
        for own in sorted(found):
            one = found[own]
            if isinstance(one, kind):
                yield one

    def _beside(self, wanted: Urn) -> Iterator[Artefact]:
        """What came in the message of an artefact, and has no record of its own."""
        holder = self._holder(wanted.maintainable)
        key = holder if holder is None or holder in self._keys else self._companions(holder).get(holder)
        message = self._message(key) if key is not None and self._has_companions else None
        if key is not None and message is not None:
            yield from (message.artefacts[one] for one in companions_in(key, message) if one not in self._keys)

    def _means(self, target: Urn, wanted: Urn) -> bool:
        """Whether a reference means this artefact or item of this version."""
        holder = wanted.maintainable
        same = [one for one in target.maintainables if one.cls in classes_of(holder.cls)]
        if not same or (target.agency, target.id, target.item) != (wanted.agency, wanted.id, wanted.item):
            return False
        if not is_wildcard(target.version):
            return target.version == wanted.version
        there = (urn for cls in classes_of(holder.cls) for urn in self.find(cls, holder.agency, holder.id))
        return newest(target.version, [one.version for one in there]) == wanted.version


def _urn_of(class_: str, reference: Reference) -> Urn:
    if isinstance(reference, Urn) or reference.startswith("urn:"):
        return _urn(reference)
    return Urn.of_reference(class_, reference)


def _urn(reference: Reference) -> Urn:
    return Urn.parse(reference) if isinstance(reference, str) else reference
