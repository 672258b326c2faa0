"""Look-ups of artefacts in one version of a replica."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple, Self, TypeVar

from kafka_replica.common.html_tables import html_table
from kafka_replica.common.wording import counted
from kafka_replica.records import Key
from kafka_replica.sdmx.errors import SdmxError, UrnError
from kafka_replica.sdmx.lookups.artefact_locator import ArtefactLocator
from kafka_replica.sdmx.lookups.artefacts import ArtefactReader, Reference, urn_of
from kafka_replica.sdmx.lookups.attached_artefacts import AttachedArtefacts
from kafka_replica.sdmx.lookups.cache import Content, DecodeCache, decode_cache
from kafka_replica.sdmx.lookups.categories import category_urn, dataflows_in
from kafka_replica.sdmx.lookups.decoding import CONTENT_TYPE, RecordDecoder, Snapshot
from kafka_replica.sdmx.lookups.effective_components import enumeration_target
from kafka_replica.sdmx.lookups.expansions import ExpansionCache
from kafka_replica.sdmx.lookups.hierarchy_tree import AnyHierarchy, HierarchyTree
from kafka_replica.sdmx.lookups.index.indexes import Indexes
from kafka_replica.sdmx.lookups.index.keys import urn_of_key
from kafka_replica.sdmx.lookups.item_schemes import hierarchy_tree, scheme_of
from kafka_replica.sdmx.lookups.items import Item
from kafka_replica.sdmx.lookups.query_result import QueryResult
from kafka_replica.sdmx.lookups.reference_graph import ReferenceGraph, ReferenceStats
from kafka_replica.sdmx.lookups.references import DanglingReference, walk
from kafka_replica.sdmx.lookups.resolution import resolve
from kafka_replica.sdmx.lookups.resolved_structure import ResolvedStructure
from kafka_replica.sdmx.lookups.stored_message import StoredMessage, stored_message
from kafka_replica.sdmx.lookups.typed_lookups import TypedLookUps
from kafka_replica.sdmx.model import (
    Artefact,
    Codelist,
    Component,
    Concept,
    Constraint,
    Dataflow,
    DataStructure,
    HierarchyAssociation,
    ProvisionAgreement,
)
from kafka_replica.sdmx.model.representation import effective_representation, says_values
from kafka_replica.sdmx.urns.urn import Urn, order_of
from kafka_replica.sdmx.urns.versions import LATEST, LATEST_STABLE

__all__ = ["CONTENT_TYPE", "DanglingReference", "Item", "Reference", "ResolvedComponent", "Snapshot", "Structures"]

T = TypeVar("T")


class ResolvedComponent(NamedTuple):
    """A component and the codelist or value list of its values; None if the component is not coded."""

    component: Component
    enumeration: Urn | None


class Structures(TypedLookUps):
    """The artefacts of one version, by URN. Thread-safe.

    Artefacts are decoded when they are requested; identical content is decoded once for all versions, as long as the
    cache has room. A key that is not a URN is not an artefact. All results come from this version, even after the
    replica has advanced. An artefact without a record of its own is found in the message of another key that contains
    it.

    All look-ups raise ArtefactNotFoundError if there is no such artefact or item, UrnError for
    text that is not a URN or reference, and MessageError or UnreadableContentError, which name topic,
    partition, offset and key, for a record that cannot be read.

    The first query for references (children, parents, dangling references, dataflows of a category) decodes all
    artefacts and builds an index, which :meth:`moved_to` carries over; see :class:`QueryResult` for unreadable records.

    Args:
        snapshot: the version.
        cache: the cache of decoded messages; ``decode_cache``, shared by the process, by default.
        companions: False if each message is known to hold only its key's artefact: then a look-up need not search
            all messages before it reports that an artefact is missing.
    """

    def __init__(self, snapshot: Snapshot, *, cache: DecodeCache | None = None, companions: bool = True) -> None:
        self._snapshot = snapshot
        self._decoder = RecordDecoder(snapshot, decode_cache if cache is None else cache)
        self._has_companions = companions
        self._connect(Indexes.empty(), ExpansionCache())

    def _connect(self, indexes: Indexes, expansions: ExpansionCache) -> None:
        self._indexes = indexes
        self._locator = ArtefactLocator(self._decoder, indexes, has_companions=self._has_companions)
        self._artefacts = ArtefactReader(self._decoder, self._locator, expansions)
        self._graph = ReferenceGraph(self._decoder, self._locator, self._artefacts, indexes)
        self._attached = AttachedArtefacts(self._decoder, self._locator, self._artefacts, indexes)
        self._decoder.indexed = indexes.content_of_key

    def moved_to(self, snapshot: Snapshot, changed: Iterable[Key] | None = None) -> Self:
        """Return look-ups in another version that differs from this version in the records of some keys.

        The indexes that were built are carried over: the next query updates them, which costs as much as
        the changed artefacts hold and the references to them. This object keeps working for its own version.

        Args:
            snapshot: the other version.
            changed: at least all keys whose records differ between the versions, as a delta names them. None if any may
                differ: then all records are checked, but only new contents are decoded.
        """
        urns = None if changed is None else {urn for key in changed if (urn := urn_of_key(key)) is not None}
        later = type(self)(snapshot, cache=self._decoder.cache, companions=self._has_companions)
        # The cache of expanded lists compares the lists it was built from, so it is valid for all versions.
        later._connect(self._indexes.updated(urns), self._artefacts.expansions)  # noqa: SLF001 - of the same class
        return later

    def __repr__(self) -> str:
        keys = self._indexes.keys.made
        held = "" if keys is None else f", {counted(len(keys), 'artefact')}"
        return f"<{type(self).__name__} of version {self.version}{held}>"

    def _repr_html_(self) -> str:
        keys = self._indexes.keys.made
        # Without the index, sorting would require reading all keys.
        rows = ((urn.cls, urn.agency, urn.id, urn.version) for urn in (self._decoder.keys() if keys is None else self))
        columns = ("class", "agency", "id", "version")
        return html_table(repr(self)[1:-1], columns, rows, None if keys is None else len(keys), "artefact")

    # --- artefacts and items ---

    @property
    def version(self) -> int:
        """The version that all results come from."""
        return self._snapshot.version

    @cached_property
    def urns(self) -> tuple[Urn, ...]:
        """The URNs of all artefacts that have a record of their own, sorted."""
        return tuple(sorted(self._locator.keys))

    def __len__(self) -> int:
        return len(self._locator.keys)

    def __iter__(self) -> Iterator[Urn]:
        return iter(self.urns)

    def __contains__(self, urn: object) -> bool:
        if not isinstance(urn, (Urn, str)):
            return False
        try:
            wanted = Urn.parse(urn) if isinstance(urn, str) else urn
        except UrnError:
            return False
        return wanted.is_maintainable and self._locator.holder(wanted) is not None

    def get(self, urn: Reference) -> Artefact | Item:
        """Return the artefact of a URN, or the item if the URN names an item.

        A version with a wildcard (``1.0+``, ``*``) means the newest match.
        """
        return self._artefacts.get(urn)

    def _typed(self, class_: str, kind: type[T], reference: Reference) -> T:
        return self._artefacts.of_class(class_, kind, reference)

    def find(self, cls: str = "*", agency: str = "*", id: str = "*", version: str = "*") -> list[Urn]:  # noqa: A002
        """Return the matching URNs, sorted; ``*`` in any of the four arguments matches any text. Decodes nothing.

        ``version`` may be a rule of SDMX 3 (``1.0+``, ``2+.0.0``), ``+`` for the latest stable version or ``~`` for the
        latest: then each artefact is returned once, in the version that the rule selects.
        """
        return self._locator.find(cls, agency, id, version)

    def exact(self, cls: str, agency: str, id: str, version: str) -> Urn | None:  # noqa: A002
        """Return the URN of the artefact with exactly this class and version, neither a rule; None if it is missing.

        Unlike :meth:`locate`, this method does not accept the class name of another edition of SDMX.
        """
        return self._locator.exact(cls, agency, id, version)

    def locate(self, reference: Reference) -> Urn | None:
        """Return the URN of the artefact that a reference means, or that holds the referenced item; None if missing.

        A version with a wildcard means the newest match, and the class may have the name of another edition of SDMX.
        The method does not check whether the item exists.
        """
        return self._locator.holder(Urn.parse(reference) if isinstance(reference, str) else reference)

    def stored_message(self, reference: Reference) -> StoredMessage | None:
        """Return the bytes of an artefact's record, if they are a structure message with this artefact alone.

        Raises:
            MessageError: the record cannot be read.
        """
        urn = Urn.parse(reference) if isinstance(reference, str) else reference
        return stored_message(self._decoder, urn)

    def complete_message(self, urns: Sequence[Urn]) -> StoredMessage | None:
        """Return the stored bytes of the only existing artefact among some, if they are known to lack nothing of it.

        Nothing is decoded. The result is None if none or several of the artefacts exist; if the references have not
        been looked up, which decodes everything (:meth:`children`, :meth:`follow_references`); if the artefact inherits
        codes; and if its record is compressed, unreadable, or not a structure message with this artefact alone.

        Args:
            urns: URNs, at least one, with the same agency, id and version.
        """
        return self._graph.complete_message(urns)

    def content_id(self, urn: Urn) -> Content | None:
        """Return the identity of the message that holds an artefact: equal in all versions with the same bytes.

        The identity is known once the references have been looked up, which decodes everything (:meth:`children`,
        :meth:`unreadable`); before that, and for an artefact that is not in this version, it is None.
        """
        return self._graph.content_id(urn)

    def latest(self, reference: Reference, *, stable: bool = True) -> Urn:
        """Return the URN of the newest version of an artefact, regardless of the version in the URN ``reference``.

        Args:
            reference: the URN of the artefact in any version, existing or not.
            stable: whether to exclude drafts (``2.0.0-draft``).
        """
        urn = (Urn.parse(reference) if isinstance(reference, str) else reference).maintainable
        newest_one = Urn(urn.package, urn.cls, urn.agency, urn.id, LATEST_STABLE if stable else LATEST)
        found = self._locator.holder(newest_one)
        if found is None:
            raise self._locator.not_found(newest_one)
        return found

    # --- codes, hierarchies, categories ---

    def expand(self, codelist: Reference | Codelist) -> Codelist:
        """Return a codelist with the codes of the lists it extends (3.x), selected and prefixed by its extensions.

        The result has no extensions, and its inherited codes come first. ``codelist()`` returns the artefact
        unchanged.

        Raises:
            ExtensionError: the extensions form a cycle, or produce invalid ids, or too many codes.
            UnreadableContentError: the codelist, or a list it extends, is a stub.
            ArtefactNotFoundError: the codelist, or a list it extends, is not in this version.
        """
        return self._artefacts.expand(codelist if isinstance(codelist, Codelist) else self.codelist(codelist))

    def hierarchy_tree(self, hierarchy: Reference | AnyHierarchy) -> HierarchyTree:
        """Return a hierarchy to traverse.

        The hierarchy is one of 3.x, or one within a hierarchical codelist of 2.1, given by its URN or ``A:HCL(1.0).H``.
        Codes are looked up when a node's code is requested; codes that a codelist inherits are found, too.
        """
        return hierarchy_tree(self._artefacts, hierarchy)

    def child_items(self, reference: Reference) -> tuple[Item, ...]:
        """Return the items directly below an item: codes, concepts, categories, hierarchical codes.

        Codes and concepts are below the code or concept that they name as their parent. Inherited codes of a codelist
        are included. The scheme itself has methods for its own items: ``codelist.children_of("EU")``.

        Raises:
            UrnError: the reference is not an item of a scheme.
        """
        scheme, path = scheme_of(self._artefacts, reference)
        return scheme.children_of(path)

    def descendant_items(self, reference: Reference) -> tuple[Item, ...]:
        """Return all items below an item, parents first. Raises the errors of :meth:`child_items`."""
        scheme, path = scheme_of(self._artefacts, reference)
        return scheme.descendants_of(path)

    def ancestor_items(self, reference: Reference) -> tuple[Item, ...]:
        """Return the items above an item, nearest first. Raises the errors of :meth:`child_items`."""
        scheme, path = scheme_of(self._artefacts, reference)
        return scheme.ancestors_of(path)

    def dataflows_of(self, category: Reference, *, children: bool = True) -> QueryResult[Urn]:
        """Return the dataflows of this version that are in a category, sorted.

        Categorisations assign dataflows to categories; in 2.0, and in reporting taxonomies, the dataflows or categories
        themselves contain the references.

        Args:
            category: the URN of a category, reporting category, category scheme or reporting taxonomy, or a short
                reference: ``A:CS(1.0)`` is a category scheme, ``A:CS(1.0).ECO.PRICES`` a category in it.
            children: include dataflows in the categories below.

        Raises:
            UrnError: the URN is of another class.
        """
        known = self._artefacts.known(category_urn(category))
        holder = self._locator.holder(known) or known.maintainable
        found = self._artefacts.item_or_none(known)
        return self._graph.result(
            sorted(dataflows_in(self._graph.relations, holder, known.item, found, children=children))
        )

    # --- references ---

    def children(self, reference: Reference) -> QueryResult[Urn]:
        """Return the artefacts of this version that an artefact, or an item, refers to, sorted.

        A version rule in a reference means the version that it selects. For the codes below a code, see
        :meth:`child_items`.
        """
        return self._graph.result(self._graph.children(self._artefacts.known(reference)))

    def parents(self, reference: Reference) -> QueryResult[Urn]:
        """Return the artefacts that refer to an artefact or to any item in it, or to exactly the given item, sorted.

        For the codes above a code see :meth:`ancestor_items`.
        """
        return self._graph.result(self._graph.parents(self._artefacts.known(reference)))

    def descendants(self, reference: Reference) -> QueryResult[Urn]:
        """Return the children of an artefact or item, their children, and so on; each once, nearest first."""
        return self._graph.result(walk(self._artefacts.known(reference), self._graph.children))

    def ancestors(self, reference: Reference) -> QueryResult[Urn]:
        """Return the parents of an artefact or item, their parents, and so on; each once, nearest first."""
        return self._graph.result(walk(self._artefacts.known(reference), self._graph.parents))

    def dangling_references(self) -> QueryResult[DanglingReference]:
        """Return the references to an artefact or item that is not in this version, sorted.

        Items of stubs, of partial lists and of extended codelists are not reported, because they may exist elsewhere.
        """
        found = sorted(self._graph.dangling, key=lambda one: (order_of(one.source), order_of(one.target)))
        return self._graph.result(found)

    def companions(self) -> dict[Urn, Urn]:
        """Return the artefacts without a record of their own, each with the key of its message; sorted.

        Their look-ups work like those of other artefacts, but :meth:`find`, iteration over this object and its length
        cover only keys. A companion disappears when that key is deleted, or written again without the companion.
        """
        return self._graph.companions()

    def unreadable_records(self) -> dict[Urn, SdmxError]:
        """Return the keys of unreadable records, each with the error that a look-up of the key raises; sorted."""
        return dict(sorted(self._graph.contents.unreadable.items()))

    @property
    def reference_stats(self) -> ReferenceStats | None:
        """The counts of dangling references and unreadable records; None if :meth:`dangling` was not called before.

        The counts are for metrics. :meth:`dangling` may have been called on this version, or on a version that this
        object was moved from. References of unreadable artefacts are not counted.
        """
        return self._graph.stats

    def count_references(self) -> ReferenceStats:
        """Return the counts of :attr:`reference_stats`; decodes everything if that has not happened before."""
        return self._graph.count()

    @property
    def is_indexed(self) -> bool:
        """True if this version's keys and messages are indexed, so that the look-up of one artefact reads no others."""
        return self._indexes.keys.made is not None and self._indexes.contents.made is not None

    @property
    def has_pending_references(self) -> bool:
        """True if an earlier version has found out what queries for references need, and this version has not yet."""
        return self._graph.is_pending

    def follow_references(self) -> None:
        """Find out what queries for references need, if an earlier version has; the cost depends on the changes only.

        Queries do this by themselves; a service can do it before they come.
        """
        if self._graph.is_pending:
            _ = self._graph.contents

    # --- constraints and hierarchy associations ---

    def constraints_of(self, reference: Reference) -> QueryResult[Constraint]:
        """Return the constraints attached to exactly this artefact or data provider: all versions, all roles; sorted.

        The first query decodes all constraints of the version, and nothing else. ``unreadable`` of the result lists
        the constraints whose attachments are unknown: stubs, and constraints that cannot be read.
        """
        return self._attached.constraints_on(self._artefacts.known(reference))

    def constraints_on(self, urn: Urn) -> QueryResult[Constraint]:
        """Return the constraints attached to a URN with a version; its artefact need not be in this version."""
        return self._attached.constraints_on(urn)

    @property
    def unread_constraints(self) -> dict[Urn, SdmxError]:
        """The constraints on data whose attachments are unknown, each with the reason; sorted.

        These are stubs, and constraints that cannot be read.
        """
        return self._attached.unread_constraints()

    def hierarchies_of(
        self, reference: Reference, context: Reference | None = None
    ) -> QueryResult[HierarchyAssociation]:
        """Return the associations of hierarchies with a codelist, dimension, or anything else with a URN; sorted (3.x).

        Args:
            reference: the artefact, or the item or component.
            context: return only associations for this context, for example a dataflow, or without a context.
        """
        known = self._artefacts.known(reference)
        return self._attached.hierarchies_on(known, None if context is None else self._artefacts.known(context))

    # --- data structures ---

    def resolve(
        self,
        what: Reference | Dataflow | DataStructure | ProvisionAgreement,
        *,
        metadata: bool = True,
        allow_missing: bool = False,
    ) -> ResolvedStructure:
        """Return everything that is needed to validate data: structure, representations, lists, constraints.

        Args:
            what: a dataflow, data structure or provision agreement, or its URN. A short reference,
                ``SDMX:DF(1.0)``, means a dataflow.
            metadata: resolve the metadata attributes that data may carry (3.x), too; otherwise the metadata
                structure need not exist.
            allow_missing: lists and concepts may be missing or unusable; ``missing_lists`` names them, and their
                components accept any text.

        Raises:
            IncompleteStructureError: a required artefact is not in this version, or cannot be used (stubs,
                unreadable records); the message and ``missing`` list all such artefacts.
            ArtefactNotFoundError: the requested artefact is not in this version.
            UrnError: the URN is of another class.
        """
        urn = what.urn if isinstance(what, Dataflow | DataStructure | ProvisionAgreement) else urn_of("Dataflow", what)
        return resolve(self, urn, metadata=metadata, allow_missing=allow_missing)

    def enumeration_of(self, component: Component) -> Urn | None:
        """Return the codelist or value list of a component's values; None if the component is not coded.

        The component's own representation takes precedence over its concept's.
        """
        found = None
        if component.concept is not None and not says_values(component.representation):
            found = self.get(component.concept)
        concept = found if isinstance(found, Concept) else None
        core = None if concept is None else concept.core_representation
        representation = effective_representation(component.representation, core)
        target = enumeration_target(component, concept, representation)
        if representation is None or target is None or target == representation.enumeration:
            return target
        # A rule in a draft may select a draft; a URN cannot express that, so return the selected version.
        return self._locator.holder(target) or representation.enumeration

    def components(self, reference: Reference | DataStructure) -> tuple[ResolvedComponent, ...]:
        """Return the components of a data structure in order, each with the list of its values."""
        found = reference if isinstance(reference, DataStructure) else self.data_structure(reference)
        return tuple(ResolvedComponent(component, self.enumeration_of(component)) for component in found.components)
