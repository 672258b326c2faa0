"""References between the artefacts of one version, and the transfer of their indexes to another version."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from typing import NamedTuple, Self, TypeAlias, TypeVar

from kafka_replica.records import Key
from kafka_replica.sdmx.errors import ArtefactNotFoundError, SdmxError
from kafka_replica.sdmx.items import Item
from kafka_replica.sdmx.lookups.cache import Content, content_of
from kafka_replica.sdmx.lookups.companions import companions_in
from kafka_replica.sdmx.lookups.decoding import DecodedArtefacts, Snapshot, media_type, partly_unreadable
from kafka_replica.sdmx.lookups.index.contents import ContentIndex, Facts
from kafka_replica.sdmx.lookups.index.dangling import DanglingIndex
from kafka_replica.sdmx.lookups.index.kept import Pending
from kafka_replica.sdmx.lookups.index.keys import urn_of_key
from kafka_replica.sdmx.lookups.index.relations import Relations
from kafka_replica.sdmx.lookups.query_result import QueryResult, without_traceback
from kafka_replica.sdmx.lookups.references import Dangling, late_bound, references_in, references_of, walk
from kafka_replica.sdmx.model import Artefact, OpaqueArtefact
from kafka_replica.sdmx.urn import Urn

Reference: TypeAlias = Urn | str
T = TypeVar("T")


class ReferenceStats(NamedTuple):
    """Counts of one version."""

    dangling: int
    """Dangling references of the readable artefacts."""
    unreadable: int
    """Records that cannot be read."""


class RelatedArtefacts(DecodedArtefacts):
    """The artefacts of one version, and the references between them.

    The first query decodes all artefacts and builds an index of their references, which :meth:`moved_to` carries over.
    An unreadable record does not stop a query: ``unreadable`` of the result lists all such records, because
    each may hold more matches. The references of artefacts of unknown classes are not known.

    Each query takes a URN with a version or a version rule, of an artefact or of an item in an artefact, and raises
    ArtefactNotFoundError if the artefact or item is not in this version.
    """

    @abstractmethod
    def get(self, urn: Reference) -> Artefact | Item:
        """Return the artefact or item of a URN."""

    def children(self, reference: Reference) -> QueryResult[Urn]:
        """Return the artefacts of this version that an artefact, or an item, refers to, sorted.

        A version rule in a reference counts as the version that it selects. For the codes below a code see
        :meth:`child_items`.
        """
        return self._result(self._children(self._known(reference)))

    def parents(self, reference: Reference) -> QueryResult[Urn]:
        """Return the artefacts that refer to an artefact or to any item in it, or to exactly the given item, sorted.

        For the codes above a code see :meth:`ancestor_items`.
        """
        return self._result(self._parents(self._known(reference)))

    def descendants(self, reference: Reference) -> QueryResult[Urn]:
        """Return the children of an artefact or item, their children, and so on; each once, nearest first."""
        return self._result(walk(self._known(reference), self._children))

    def ancestors(self, reference: Reference) -> QueryResult[Urn]:
        """Return the parents of an artefact or item, their parents, and so on; each once, nearest first."""
        return self._result(walk(self._known(reference), self._parents))

    def dangling(self) -> QueryResult[Dangling]:
        """Return the references to an artefact or item that is not in this version, sorted.

        Items of stubs, of partial lists and of extended codelists are not reported, because they may exist elsewhere.
        """
        return self._result(sorted(self._dangling()))

    def companions(self) -> dict[Urn, Urn]:
        """Return the artefacts without a record of their own, each with the key of its message; sorted.

        Their look-ups work like those of other artefacts, but :meth:`find`, iteration over this object and its length
        cover only keys. A companion disappears when that key is deleted, or written again without the companion.
        """
        relations = self._relations()
        if not self._has_companions:
            return {}
        names = {(place.artefact.agency, place.artefact.id) for place in relations.contents.all_companions()}
        found: dict[Urn, Urn] = {}
        for name in names:
            for place in sorted(relations.contents.companions(name)):
                if place.artefact not in self._keys:
                    found.setdefault(place.artefact, place.key)
        return dict(sorted(found.items()))

    def unreadable(self) -> dict[Urn, SdmxError]:
        """Return the keys of unreadable records, each with the error that a look-up of the key raises; sorted."""
        return dict(sorted(self._read().unreadable.items()))

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
        moved = type(self)(snapshot, cache=self._cache, companions=self._has_companions)
        moved._indexes = self._indexes.moved(urns)  # noqa: SLF001 - of the same class
        return moved

    @property
    def reference_stats(self) -> ReferenceStats | None:
        """The counts of dangling references and unreadable records; None if :meth:`dangling` was not called before.

        The counts are for metrics. The call may have been in this version, or in a version that this object was moved
        from. References of unreadable artefacts are not counted.
        """
        return self.count_references() if self._indexes.dangling.is_begun else None

    def count_references(self) -> ReferenceStats:
        """Return the counts of :attr:`reference_stats`; decodes everything if that has not happened before."""
        return ReferenceStats(self._dangling().count, len(self._read().unreadable))

    # --- queries ---

    def _result(self, found: Iterable[T]) -> QueryResult[T]:
        return QueryResult(found, self._read().unreadable)

    def _children(self, urn: Urn) -> tuple[Urn, ...]:
        if urn.is_maintainable:
            return self._relations().children(urn)
        item = self._item_or_none(urn)
        if item is None:
            return ()
        targets = references_in(item, urn.maintainable)
        return self._relations().meant_by(late_bound(one, item.urn) for one in targets)

    def _parents(self, urn: Urn) -> tuple[Urn, ...]:
        if urn.is_maintainable:
            return self._relations().parents(urn)
        wanted = self._item_or_none(urn)

        def is_wanted(target: Urn) -> bool:
            if wanted is None:
                return (target.cls, target.item) == (urn.cls, urn.item)
            found = self._item_or_none(target)
            return found is not None and found.urn == wanted.urn

        holder = self._holder(urn)
        return () if holder is None else self._relations().parents_of_item(holder, urn.item or "", is_wanted)

    def _known(self, reference: Reference) -> Urn:
        """Return the URN of the artefact that a reference means; for an item the URN itself, if the item exists.

        An item of an unreadable artefact counts as existing.
        """
        urn = Urn.parse(reference) if isinstance(reference, str) else reference
        holder = self._holder(urn)
        if holder is None:
            raise self._unreadable_companion(urn.maintainable) or self._not_found(urn.maintainable)
        if urn.is_maintainable:
            return holder
        item = self._item_or_none(urn, or_raise=True)
        return urn if item is None else item.urn

    def _item_or_none(self, urn: Urn, *, or_raise: bool = False) -> Artefact | Item | None:
        """Return the item of a URN; None if it is missing (unless ``or_raise`` is set) or cannot be read."""
        try:
            return self.get(urn)
        except ArtefactNotFoundError:
            if or_raise:
                raise
        except SdmxError:
            pass
        return None

    # --- the indexes ---

    def _relations(self) -> Relations:
        return Relations(self._keys, self._read())

    def _read(self) -> ContentIndex:
        """Return the contents of all records."""
        return self._indexes.contents.get(self._make_contents)

    def _make_contents(self, older: ContentIndex | None, changed: Pending) -> ContentIndex:
        return (older or ContentIndex()).moved(self._touched(older, changed), self._facts)

    def _touched(self, older: ContentIndex | None, changed: Pending) -> Iterable[Urn]:
        if older is None:
            return self._keys
        return {*older, *self._keys} if changed is None else changed

    def _dangling(self) -> DanglingIndex:
        return self._indexes.dangling.get(self._make_dangling)

    def _make_dangling(self, older: DanglingIndex | None, changed: Pending) -> DanglingIndex:
        relations = self._relations()
        if changed is None or older is None:
            return DanglingIndex().moved(relations, self._keys, self._held)
        return older.moved(relations, changed, self._held)

    def _facts(self, key: Urn, known: Content | None) -> Facts | None:
        """Return the contents of the record of a key; decode the record only if its content is not the known one."""
        record = self._record(key)
        if record is None:
            return None
        content = content_of(record.value or b"", media_type(record))
        if content == known:
            return Facts(content, {})
        try:
            message = self._message_of(record, content)
        except SdmxError as error:
            return Facts(content, {}, without_traceback(error))
        held = [(one, message.artefacts[one]) for one in companions_in(key, message)] if self._has_companions else []
        unreadable: SdmxError | None = None
        try:
            held.append((key, self._of_key(key, message)))
        except SdmxError as error:
            unreadable = without_traceback(error)
        if message.errors and unreadable is None and self._has_companions:
            unreadable = partly_unreadable(record, message)
        references = {urn: () if isinstance(one, OpaqueArtefact) else references_of(one) for urn, one in held}
        return Facts(content, references, unreadable)
