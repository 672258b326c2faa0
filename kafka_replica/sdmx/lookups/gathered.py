"""Look-ups that gather: codelists with what they extend, hierarchies, constraints, all that a dataflow needs."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Self, TypeVar

from kafka_replica.errors import SdmxError, UnreadableContentError, UrnError
from kafka_replica.records import Key
from kafka_replica.sdmx.base import ItemScheme
from kafka_replica.sdmx.items import Item, item_of
from kafka_replica.sdmx.lookups.attachments import ATTACHED, CONSTRAINTS, AttachmentIndex, attached_to
from kafka_replica.sdmx.lookups.categories import CATEGORY_CLASSES, dataflows_in
from kafka_replica.sdmx.lookups.companions import companions_in
from kafka_replica.sdmx.lookups.decoding import Snapshot
from kafka_replica.sdmx.lookups.expansions import ExpansionCache
from kafka_replica.sdmx.lookups.extensions import expanded
from kafka_replica.sdmx.lookups.hierarchy_tree import AnyHierarchy, HierarchyTree
from kafka_replica.sdmx.lookups.index.kept import Kept, Pending
from kafka_replica.sdmx.lookups.index.keys import urn_of_key
from kafka_replica.sdmx.lookups.query_result import QueryResult, without_traceback
from kafka_replica.sdmx.lookups.references import late_bound
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

    def constraints_of(self, reference: Reference) -> QueryResult[Constraint]:
        """The constraints that are attached to this very artefact or data provider: all versions, all roles; sorted.

        The first question decodes all constraints of the version, and nothing else. ``unreadable`` of the result has
        the constraints that do not say what they are attached to: stubs, and what cannot be read.
        """
        return self.constraints_on(self._known(reference))

    def constraints_on(self, urn: Urn) -> QueryResult[Constraint]:
        """Return the same for a URN with a version, of an artefact or provider that need not be in this version."""
        return self._attached(urn, CONSTRAINTS, Constraint)

    @property
    def unread_constraints(self) -> dict[Urn, SdmxError]:
        """The constraints on data that do not say what they are attached to, each with the reason; sorted.

        These are stubs, and what cannot be read.
        """
        return dict(sorted(self._unread(classes_of("DataConstraint")).items()))

    def hierarchies_of(
        self, reference: Reference, context: Reference | None = None
    ) -> QueryResult[HierarchyAssociation]:
        """The associations of hierarchies with a codelist, a dimension, or whatever else has a URN (3.x); sorted.

        Args:
            reference: the artefact, or the item or component.
            context: take those alone that hold in this context, a dataflow say, or that name none.
        """
        found = self._attached(self._known(reference), ("HierarchyAssociation",), HierarchyAssociation)
        if context is None:
            return found
        wanted = self._known(context)
        held = (
            one for one in found
            if one.context_object is None or self._means(late_bound(one.context_object, one.urn), wanted)
        )  # fmt: skip
        return QueryResult(held, found.unreadable)

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

    def child_items(self, reference: Reference) -> tuple[Item, ...]:
        """Return the items right below an item: the codes below a code, concepts, categories, hierarchical codes.

        Codes and concepts are below the one that they name as their parent. Codes that a codelist has by extension
        count. The scheme itself has methods for its own items: ``codelist.children_of("EU")``.

        Raises:
            UrnError: it is no item of a scheme.
        """
        scheme, path = self._scheme_of(reference)
        return scheme.children_of(path)

    def descendant_items(self, reference: Reference) -> tuple[Item, ...]:
        """Return all items below an item, each before those below it. Raises what :meth:`child_items` raises."""
        scheme, path = self._scheme_of(reference)
        return scheme.descendants_of(path)

    def ancestor_items(self, reference: Reference) -> tuple[Item, ...]:
        """Return the items above an item, nearest first. Raises what :meth:`child_items` raises."""
        scheme, path = self._scheme_of(reference)
        return scheme.ancestors_of(path)

    def dataflows_of(self, category: Reference, *, children: bool = True) -> QueryResult[Urn]:
        """Return the dataflows of this version that are in a category, sorted.

        Categorisations put them there; in 2.0, and in reporting taxonomies, the dataflows or categories themselves.

        Args:
            category: the URN of a category, reporting category, category scheme or reporting taxonomy, or a short
                reference: ``A:CS(1.0)`` is a category scheme, ``A:CS(1.0).ECO.PRICES`` a category in it.
            children: count dataflows in the categories below as well.

        Raises:
            UrnError: it is of another class.
        """
        urn = _category_urn(category)
        if urn.cls not in CATEGORY_CLASSES:
            raise UrnError(f"looking for the dataflows of {urn}: name a category, or a scheme of categories")
        known = self._known(urn)
        holder = self._holder(known) or known.maintainable
        found = dataflows_in(self._relations(), holder, known.item, self._item_or_none(known), children=children)
        return self._result(sorted(found))

    def resolve(
        self, what: Reference | Dataflow | DataStructure | ProvisionAgreement, *, metadata: bool = True
    ) -> ResolvedStructure:
        """All that is needed to validate data, in one value: structure, representations, lists, constraints.

        Args:
            what: a dataflow, data structure or provision agreement, or its URN. A short reference,
                ``SDMX:DF(1.0)``, means a dataflow.
            metadata: resolve the metadata attributes that data may carry (3.x), too; without them the metadata
                structure need not be there.

        Raises:
            IncompleteStructureError: something that is needed is not in this version, or cannot be used (stubs,
                records that cannot be read); its message and its ``missing`` list all of it.
            ArtefactNotFoundError: what was asked for is not in this version.
            UrnError: it is of another class.
        """
        if isinstance(what, Dataflow | DataStructure | ProvisionAgreement):
            return resolve(self, what.urn, metadata=metadata)
        return resolve(self, _urn_of("Dataflow", what), metadata=metadata)

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

    def _scheme_of(self, reference: Reference) -> tuple[ItemScheme, str]:
        """The scheme that holds an item, with all its items, and the path of the item."""
        urn = self.get(reference).urn
        found = self._artefact(urn)
        if urn.item is None or not isinstance(found, ItemScheme):
            raise UrnError(f"looking for the items beside {urn}: it is no item of a scheme; name a code, say")
        return (self.expanded(found) if isinstance(found, Codelist) else found), urn.item

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

    def _unread(self, classes: tuple[str, ...]) -> dict[Urn, SdmxError]:
        """The artefacts of some classes that do not say what they are attached to, and why not."""
        return {one: error for one, error in self._attachment_index().unread.items() if one.cls in classes}

    def _attached(self, wanted: Urn, classes: tuple[str, ...], kind: type[T]) -> QueryResult[T]:
        unread = self._unread(classes)
        found: dict[Urn, object] = {
            own: self.get(own)
            for own, targets in self._attachment_index().candidates(wanted.agency, wanted.id)
            if own.cls in classes and any(self._means(late_bound(target, own), wanted) for target in targets)
        }
        key = self._key_of(wanted.maintainable)
        try:
            beside = list(self._beside(key)) if key is not None and self._has_companions else []
        except SdmxError as error:
            unread[key or wanted] = without_traceback(error)
            beside = []
        for one in beside:
            targets = [late_bound(target, one.urn) for target in _attachments(one)]
            if one.urn.cls in classes and any(self._means(target, wanted) for target in targets):
                found.setdefault(one.urn, one)
        return QueryResult((one for _, one in sorted(found.items()) if isinstance(one, kind)), unread)

    def _key_of(self, urn: Urn) -> Urn | None:
        """The key of the record that holds an artefact."""
        holder = self._holder(urn)
        return holder if holder is None or holder in self._keys else self._companions(holder).get(holder)

    def _beside(self, key: Urn) -> Iterator[Artefact]:
        """The artefacts in the message of a key that have no record of their own."""
        message = self._message(key)
        if message is not None:
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


def _attachments(artefact: Artefact) -> tuple[Urn, ...]:
    try:
        return attached_to(artefact)
    except UnreadableContentError:
        return ()  # a stub that came along: the artefact in a record of its own says more, if there is one


def _urn_of(class_: str, reference: Reference) -> Urn:
    if isinstance(reference, Urn) or reference.startswith("urn:"):
        return _urn(reference)
    return Urn.of_reference(class_, reference)


def _category_urn(reference: Reference) -> Urn:
    if isinstance(reference, Urn) or reference.startswith("urn:"):
        return _urn(reference)
    return Urn.of_reference("Category" if ")." in reference else "CategoryScheme", reference)


def _urn(reference: Reference) -> Urn:
    return Urn.parse(reference) if isinstance(reference, str) else reference
