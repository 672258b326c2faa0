"""The references between the artefacts of one version."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeVar

from kafka_replica.sdmx.errors import MessageError, SdmxError
from kafka_replica.sdmx.lookups.artefact_locator import ArtefactLocator
from kafka_replica.sdmx.lookups.artefacts import ArtefactReader
from kafka_replica.sdmx.lookups.cache import Content, content_of
from kafka_replica.sdmx.lookups.companions import companions_in
from kafka_replica.sdmx.lookups.decoding import RecordDecoder, media_type, partly_unreadable
from kafka_replica.sdmx.lookups.index.contents import ContentIndex, RecordFacts
from kafka_replica.sdmx.lookups.index.dangling_references import DanglingIndex
from kafka_replica.sdmx.lookups.index.indexes import Indexes
from kafka_replica.sdmx.lookups.index.lazy_index import Pending
from kafka_replica.sdmx.lookups.index.relations import VersionRelations
from kafka_replica.sdmx.lookups.query_result import QueryResult, without_traceback
from kafka_replica.sdmx.lookups.references import late_bound, references_in, references_of
from kafka_replica.sdmx.lookups.stored_message import StoredMessage, complete_format
from kafka_replica.sdmx.model import OpaqueArtefact
from kafka_replica.sdmx.urns.urn import Urn

T = TypeVar("T")


class ReferenceStats(NamedTuple):
    """Counts of one version."""

    dangling: int
    """Dangling references of the readable artefacts."""
    unreadable: int
    """Records that cannot be read."""


class ReferenceGraph:
    """The references between the artefacts of one version. Thread-safe.

    The first query decodes all artefacts and builds an index of their references, which the next version derives its
    own from. An unreadable record does not stop a query: ``unreadable`` of the result lists all such records, because
    each may hold more matches. The references of artefacts of unknown classes are not known.
    """

    def __init__(
        self, decoder: RecordDecoder, locator: ArtefactLocator, artefacts: ArtefactReader, indexes: Indexes
    ) -> None:
        self._decoder = decoder
        self._locator = locator
        self._artefacts = artefacts
        self._indexes = indexes

    def children(self, urn: Urn) -> tuple[Urn, ...]:
        """Return the artefacts that an existing artefact, or an item, refers to, sorted."""
        if urn.is_maintainable:
            return self.relations.children(urn)
        item = self._artefacts.item_or_none(urn)
        if item is None:
            return ()
        targets = references_in(item, urn.maintainable)
        return self.relations.meant_by(late_bound(target, item.urn) for target in targets)

    def parents(self, urn: Urn) -> tuple[Urn, ...]:
        """Return the artefacts that refer to an artefact or to any item in it, or to exactly the given item, sorted."""
        if urn.is_maintainable:
            return self.relations.parents(urn)
        wanted = self._artefacts.item_or_none(urn)

        def is_wanted(target: Urn) -> bool:
            if target.version == "*":  # which versions it means depends on the artefact that refers
                target = Urn(target.package, target.cls, target.agency, target.id, urn.version, target.item)
            if wanted is None:
                return (target.cls, target.item) == (urn.cls, urn.item)
            found = self._artefacts.item_or_none(target)
            return found is not None and found.urn == wanted.urn

        holder = self._locator.holder(urn)
        return () if holder is None else self.relations.parents_of_item(holder, urn.item or "", is_wanted)

    def companions(self) -> dict[Urn, Urn]:
        """Return the artefacts without a record of their own, each with the key of its message; sorted."""
        relations = self.relations
        if not self._locator.has_companions:
            return {}
        names = {(place.artefact.agency, place.artefact.id) for place in relations.contents.all_companions()}
        found: dict[Urn, Urn] = {}
        for name in names:
            for place in sorted(relations.contents.companions(name)):
                if place.artefact not in relations.keys:
                    found.setdefault(place.artefact, place.key)
        return dict(sorted(found.items()))

    def content_id(self, urn: Urn) -> Content | None:
        """Return the identity of the message that holds an artefact; None if there is none, or no index yet."""
        if not self._indexes.contents.is_begun:
            return None
        facts = self.contents.of(urn)
        if facts is None:
            holders = (place.key for place in self.contents.companions((urn.agency, urn.id)) if place.artefact == urn)
            holder = min(holders, default=None)
            facts = None if holder is None else self.contents.of(holder)
        return None if facts is None else facts.content

    def complete_message(self, urns: Sequence[Urn]) -> StoredMessage | None:
        """Return the message of the only existing artefact: see ``Structures.complete_message``."""
        contents = self._indexes.contents.made
        if contents is None or contents.has_companions((urns[0].agency, urns[0].id)):
            return None
        found = [(urn, facts) for urn in urns if (facts := contents.of(urn)) is not None]
        if len(found) != 1:
            return None
        urn, facts = found[0]
        if facts.complete is None:
            return None
        try:
            record = self._decoder.record(urn)
        except MessageError:
            return None
        return None if record is None else StoredMessage(record.value or b"", facts.complete)

    @property
    def is_pending(self) -> bool:
        """True if the index of the contents was built for an earlier version, and not derived for this one yet."""
        return self._indexes.contents.is_begun and self._indexes.contents.made is None

    def result(self, found: Iterable[T]) -> QueryResult[T]:
        """Return the result of a query over all records, with the records that cannot be read."""
        return QueryResult(found, self.contents.unreadable)

    @property
    def stats(self) -> ReferenceStats | None:
        """The counts of dangling references and unreadable records; None if the former have not been requested."""
        return self.count() if self._indexes.dangling.is_begun else None

    def count(self) -> ReferenceStats:
        """Return the counts; decodes everything if that has not happened before."""
        return ReferenceStats(self.dangling.count, len(self.contents.unreadable))

    # --- the indexes ---

    @property
    def relations(self) -> VersionRelations:
        """The references by artefact, in both directions."""
        return VersionRelations(self._locator.keys, self.contents)

    @property
    def contents(self) -> ContentIndex:
        """The contents of all records."""
        return self._indexes.contents.get(self._make_contents)

    def _make_contents(self, older: ContentIndex | None, changed: Pending) -> ContentIndex:
        return (older or ContentIndex()).updated(self._touched(older, changed), self._facts)

    def _touched(self, older: ContentIndex | None, changed: Pending) -> Iterable[Urn]:
        if older is None:
            return self._locator.keys
        return {*older, *self._locator.keys} if changed is None else changed

    @property
    def dangling(self) -> DanglingIndex:
        """The references to an artefact or item that does not exist."""
        return self._indexes.dangling.get(self._make_dangling)

    def _make_dangling(self, older: DanglingIndex | None, changed: Pending) -> DanglingIndex:
        if changed is None or older is None:
            return DanglingIndex().updated(self.relations, self._locator.keys, self._artefacts.held)
        return older.updated(self.relations, changed, self._artefacts.held)

    def _facts(self, key: Urn, known: Content | None) -> RecordFacts | None:
        """Return the contents of the record of a key; decode the record only if its content is not the known one."""
        try:
            record = self._decoder.record(key)
        except MessageError as error:
            no_content = str(error).encode("utf-8", "replace"), None  # no digest is that long
            return RecordFacts(no_content, {}, without_traceback(error))
        if record is None:
            return None
        content = content_of(record.value or b"", media_type(record))
        if content == known:
            return RecordFacts(content, {})
        try:
            message = self._decoder.message_of(record, content)
        except SdmxError as error:
            return RecordFacts(content, {}, without_traceback(error))
        has_companions = self._locator.has_companions
        held = (
            [(companion, message.artefacts[companion]) for companion in companions_in(key, message)]
            if has_companions
            else []
        )
        unreadable: SdmxError | None = None
        try:
            held.append((key, self._decoder.artefact_of_key(key, message)))
        except SdmxError as error:
            unreadable = without_traceback(error)
        if message.errors and unreadable is None and has_companions:
            unreadable = partly_unreadable(record, message)
        references = {urn: () if isinstance(one, OpaqueArtefact) else references_of(one) for urn, one in held}
        return RecordFacts(content, references, unreadable, complete_format(key, record, message))
