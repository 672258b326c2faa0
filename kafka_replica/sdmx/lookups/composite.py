"""Composite look-ups: codelists with inherited codes, hierarchies, categories, everything that a dataflow needs."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Self, TypeVar

from kafka_replica.records import Key
from kafka_replica.sdmx.base import ItemScheme
from kafka_replica.sdmx.errors import UrnError
from kafka_replica.sdmx.items import Item, item_of
from kafka_replica.sdmx.lookups.attached import AttachedArtefacts
from kafka_replica.sdmx.lookups.categories import CATEGORY_CLASSES, dataflows_in
from kafka_replica.sdmx.lookups.decoding import Snapshot
from kafka_replica.sdmx.lookups.expansions import ExpansionCache
from kafka_replica.sdmx.lookups.extensions import expanded
from kafka_replica.sdmx.lookups.hierarchy_tree import AnyHierarchy, HierarchyTree
from kafka_replica.sdmx.lookups.query_result import QueryResult
from kafka_replica.sdmx.lookups.related import Reference
from kafka_replica.sdmx.lookups.resolve import resolve
from kafka_replica.sdmx.lookups.resolved import ResolvedStructure
from kafka_replica.sdmx.lookups.typed import TypedLookUps
from kafka_replica.sdmx.model import (
    Artefact,
    Codelist,
    Dataflow,
    DataStructure,
    Hierarchy,
    HierarchyOfCodelist,
    ProvisionAgreement,
)
from kafka_replica.sdmx.urn import Urn

T = TypeVar("T")


class GatheredLookUps(AttachedArtefacts, TypedLookUps):
    """Composite look-ups, in addition to the look-ups of one version."""

    @cached_property
    def _expansions(self) -> ExpansionCache:
        return ExpansionCache()

    def expanded(self, codelist: Reference | Codelist) -> Codelist:
        """Return a codelist with the codes of the lists it extends (3.x), selected and prefixed by its extensions.

        The result has no extensions, and its inherited codes come first. ``codelist()`` returns the artefact
        unchanged.

        Raises:
            ExtensionError: the extensions form a cycle, or produce invalid ids, or too many codes.
            UnreadableContentError: the codelist, or a list it extends, is a stub.
            ArtefactNotFoundError: the codelist, or a list it extends, is not in this version.
        """
        found = codelist if isinstance(codelist, Codelist) else self.codelist(codelist)
        if not found.extensions and not found.is_stub:
            return found
        return self._expansions.get(found, self.codelist, expanded)

    def hierarchy_tree(self, hierarchy: Reference | AnyHierarchy) -> HierarchyTree:
        """Return a hierarchy to traverse.

        The hierarchy is one of 3.x, or one within a hierarchical codelist of 2.1, given by its URN or ``A:HCL(1.0).H``.
        Codes are looked up when a node's code is requested; codes that a codelist inherits are found, too.
        """
        if isinstance(hierarchy, Hierarchy | HierarchyOfCodelist):
            return HierarchyTree(hierarchy, self.get)
        found = self.get(_urn_of("Hierarchy", hierarchy))
        if not isinstance(found, Hierarchy | HierarchyOfCodelist):
            raise UrnError(f"walking {found.urn}: it is no hierarchy; name one, within a list by its id after a dot")
        return HierarchyTree(found, self.get)

    def child_items(self, reference: Reference) -> tuple[Item, ...]:
        """Return the items right below an item: the codes below a code, concepts, categories, hierarchical codes.

        Codes and concepts are below the code or concept that they name as their parent. Inherited codes of a codelist
        count. The scheme itself has methods for its own items: ``codelist.children_of("EU")``.

        Raises:
            UrnError: the reference is not an item of a scheme.
        """
        scheme, path = self._scheme_of(reference)
        return scheme.children_of(path)

    def descendant_items(self, reference: Reference) -> tuple[Item, ...]:
        """Return all items below an item, each before those below it. Raises the errors of :meth:`child_items`."""
        scheme, path = self._scheme_of(reference)
        return scheme.descendants_of(path)

    def ancestor_items(self, reference: Reference) -> tuple[Item, ...]:
        """Return the items above an item, nearest first. Raises the errors of :meth:`child_items`."""
        scheme, path = self._scheme_of(reference)
        return scheme.ancestors_of(path)

    def dataflows_of(self, category: Reference, *, children: bool = True) -> QueryResult[Urn]:
        """Return the dataflows of this version that are in a category, sorted.

        Categorisations assign them to categories; in 2.0, and in reporting taxonomies, the dataflows or categories
        themselves do.

        Args:
            category: the URN of a category, reporting category, category scheme or reporting taxonomy, or a short
                reference: ``A:CS(1.0)`` is a category scheme, ``A:CS(1.0).ECO.PRICES`` a category in it.
            children: include dataflows in the categories below.

        Raises:
            UrnError: the URN is of another class.
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
        """Return everything that is needed to validate data: structure, representations, lists, constraints.

        Args:
            what: a dataflow, data structure or provision agreement, or its URN. A short reference,
                ``SDMX:DF(1.0)``, means a dataflow.
            metadata: resolve the metadata attributes that data may carry (3.x), too; otherwise the metadata
                structure need not exist.

        Raises:
            IncompleteStructureError: a required artefact is not in this version, or cannot be used (stubs,
                unreadable records); the message and ``missing`` list all such artefacts.
            ArtefactNotFoundError: the requested artefact is not in this version.
            UrnError: the URN is of another class.
        """
        if isinstance(what, Dataflow | DataStructure | ProvisionAgreement):
            return resolve(self, what.urn, metadata=metadata)
        return resolve(self, _urn_of("Dataflow", what), metadata=metadata)

    def moved_to(self, snapshot: Snapshot, changed: Iterable[Key] | None = None) -> Self:
        """See :meth:`RelatedArtefacts.moved_to`; expanded codelists are carried over, too."""
        moved = super().moved_to(snapshot, changed)
        moved._expansions = self._expansions  # noqa: SLF001 - it checks that what it gives out is still so
        return moved

    def _inherited(self, artefact: Artefact, urn: Urn) -> Item | None:
        """Return the code that a codelist inherits from a list it extends."""
        if not isinstance(artefact, Codelist):
            return None
        return item_of(self.expanded(artefact), urn.cls, urn.item or "")

    def _scheme_of(self, reference: Reference) -> tuple[ItemScheme, str]:
        """Return the scheme that holds an item, with all its items, and the path of the item."""
        urn = self.get(reference).urn
        found = self._artefact(urn)
        if urn.item is None or not isinstance(found, ItemScheme):
            raise UrnError(f"looking for the items beside {urn}: it is no item of a scheme; name a code, say")
        return (self.expanded(found) if isinstance(found, Codelist) else found), urn.item


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
