"""Who refers to whom in one version; and taking what is known of it along to another one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, Self, TypeAlias

from kafka_replica.errors import SdmxError
from kafka_replica.records import Key
from kafka_replica.sdmx.lookups.cache import Content, content_of
from kafka_replica.sdmx.lookups.companions import companions_in
from kafka_replica.sdmx.lookups.decoding import DecodedArtefacts, Snapshot, media_type, partly_unreadable
from kafka_replica.sdmx.lookups.index.contents import ContentIndex, Facts
from kafka_replica.sdmx.lookups.index.dangling import DanglingIndex
from kafka_replica.sdmx.lookups.index.kept import Pending
from kafka_replica.sdmx.lookups.index.keys import urn_of_key
from kafka_replica.sdmx.lookups.index.relations import Relations
from kafka_replica.sdmx.lookups.references import Dangling, references_of
from kafka_replica.sdmx.model import OpaqueArtefact
from kafka_replica.sdmx.urn import Urn

Reference: TypeAlias = Urn | str


class ReferenceStats(NamedTuple):
    """Counts of one version."""

    dangling: int
    """References that lead nowhere, in what can be read."""
    unreadable: int
    """Records that cannot be read."""


class RelatedArtefacts(DecodedArtefacts):
    """The artefacts of one version, and what refers to what.

    The questions of this class decode all artefacts at their first use and keep an index of what they found, which
    :meth:`moved_to` takes along. What artefacts of unknown classes refer to is not known; a record that cannot be read
    raises its error, for then the question has no answer.
    """

    def children(self, reference: Reference) -> tuple[Urn, ...]:
        """The artefacts of this version that an artefact refers to, by URN; of a version rule the one it means."""
        return self._relations().children(self._own(reference))

    def parents(self, reference: Reference) -> tuple[Urn, ...]:
        """The artefacts that refer to an artefact, or to an item in it."""
        return self._relations().parents(self._own(reference))

    def descendants(self, reference: Reference) -> tuple[Urn, ...]:
        """The children of an artefact, theirs, and so on; nearest first."""
        return self._relations().descendants(self._own(reference))

    def dangling(self) -> tuple[Dangling, ...]:
        """The references that lead nowhere, to an artefact or an item that is not in this version; sorted.

        Items of stubs, of partial lists and of extended codelists are not missed, for they may be elsewhere.
        """
        self._relations()
        return tuple(sorted(self._dangling()))

    def companions(self) -> dict[Urn, Urn]:
        """The artefacts without a record of their own, each with the key whose message it came in; sorted.

        Their look-ups work as those of others do; :meth:`find`, going through this object and its length are of keys
        alone. They are gone when that key is deleted, or written again without them.
        """
        relations = Relations(self._keys, self._read())
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
        """The keys of records that cannot be read, each with the error that asking for it raises; sorted."""
        return dict(sorted(self._read().unreadable.items()))

    def moved_to(self, snapshot: Snapshot, changed: Iterable[Key] | None = None) -> Self:
        """Look-ups in another version that differs from this one by the records of some keys.

        The indexes that were made are taken along: when they are next asked, they are brought up to date, which costs
        what the changed artefacts hold and what refers to them. This object still answers for its own version.

        Args:
            snapshot: the other version.
            changed: at least all keys whose records are not the same in both, as a delta names them. None where any may
                differ: then all records are looked at, but only contents that are new are decoded.
        """
        urns = None if changed is None else {urn for key in changed if (urn := urn_of_key(key)) is not None}
        indexes = self._indexes.moved(urns)
        return type(self)(snapshot, cache=self._cache, companions=self._has_companions, _indexes=indexes)

    @property
    def reference_stats(self) -> ReferenceStats | None:
        """How many references lead nowhere, for metrics; None where nobody has asked :meth:`dangling` before.

        Before means in this version, or in one that this was moved from. What cannot be read is left out.
        """
        return self.count_references() if self._indexes.dangling.is_begun else None

    def count_references(self) -> ReferenceStats:
        """The counts of :attr:`reference_stats`, for which everything is decoded if it was not before."""
        return ReferenceStats(self._dangling().count, len(self._read().unreadable))

    # --- the indexes ---

    def _relations(self) -> Relations:
        contents = self._read()
        if len(contents.unreadable):
            first = contents.unreadable.get(min(contents.unreadable))
            raise _same(first or SdmxError("a record cannot be read"))
        return Relations(self._keys, contents)

    def _read(self) -> ContentIndex:
        """What all records hold."""
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
        relations = Relations(self._keys, self._read())
        if changed is None or older is None:
            return DanglingIndex().moved(relations, self._keys, self._held)
        return older.moved(relations, changed, self._held)

    def _facts(self, key: Urn, known: Content | None) -> Facts | None:
        """What the record of a key holds, decoded only if it is not what is known already."""
        record = self._record(key)
        if record is None:
            return None
        content = content_of(record.value or b"", media_type(record))
        if content == known:
            return Facts(content, {})
        try:
            message = self._message_of(record, content)
        except SdmxError as error:
            return Facts(content, {}, _same(error))
        held = [(one, message.artefacts[one]) for one in companions_in(key, message)] if self._has_companions else []
        unreadable: SdmxError | None = None
        try:
            held.append((key, self._of_key(key, message)))
        except SdmxError as error:
            unreadable = _same(error)
        if message.errors and unreadable is None and self._has_companions:
            unreadable = partly_unreadable(record, message)
        references = {urn: () if isinstance(one, OpaqueArtefact) else references_of(one) for urn, one in held}
        return Facts(content, references, unreadable)

    def _own(self, reference: Reference) -> Urn:
        urn = (Urn.parse(reference) if isinstance(reference, str) else reference).maintainable
        found = self._holder(urn)
        if found is None:
            raise self._not_found(urn)
        return found


def _same(error: SdmxError) -> SdmxError:
    """The same error without its traceback, which would keep a version alive."""
    return type(error)(str(error))
