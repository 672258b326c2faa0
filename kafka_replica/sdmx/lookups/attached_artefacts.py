"""Queries for the constraints and hierarchy associations that are attached to an artefact."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from kafka_replica.sdmx.errors import SdmxError, UnreadableContentError
from kafka_replica.sdmx.lookups.artefact_locator import ArtefactLocator
from kafka_replica.sdmx.lookups.artefacts import ArtefactReader
from kafka_replica.sdmx.lookups.class_aliases import classes_of
from kafka_replica.sdmx.lookups.companions import companions_in
from kafka_replica.sdmx.lookups.decoding import RecordDecoder
from kafka_replica.sdmx.lookups.index.attachments import ATTACHED, CONSTRAINTS, AttachmentIndex, attached_to
from kafka_replica.sdmx.lookups.index.indexes import Indexes
from kafka_replica.sdmx.lookups.index.lazy_index import Pending
from kafka_replica.sdmx.lookups.query_result import QueryResult, without_traceback
from kafka_replica.sdmx.lookups.references import late_bound
from kafka_replica.sdmx.model import Artefact, Constraint, HierarchyAssociation
from kafka_replica.sdmx.urns.urn import Urn

T = TypeVar("T")


class AttachedArtefacts:
    """The constraints and associations attached to the artefacts of one version. Thread-safe.

    The first query decodes only the constraints and hierarchy associations of the version.
    """

    def __init__(
        self, decoder: RecordDecoder, locator: ArtefactLocator, artefacts: ArtefactReader, indexes: Indexes
    ) -> None:
        self._decoder = decoder
        self._locator = locator
        self._artefacts = artefacts
        self._indexes = indexes

    def constraints_on(self, urn: Urn) -> QueryResult[Constraint]:
        """Return the constraints attached to exactly this URN, which has a version; sorted."""
        return self._attached(urn, CONSTRAINTS, Constraint)

    def unread_constraints(self) -> dict[Urn, SdmxError]:
        """Return the constraints on data whose attachments are unknown, each with the reason; sorted."""
        return dict(sorted(self._unread(classes_of("DataConstraint")).items()))

    def hierarchies_on(self, urn: Urn, context: Urn | None) -> QueryResult[HierarchyAssociation]:
        """Return the associations of hierarchies with this URN, for a context or without one; sorted."""
        found = self._attached(urn, ("HierarchyAssociation",), HierarchyAssociation)
        if context is None:
            return found
        held = (
            one for one in found
            if one.context_object is None or self._locator.means(late_bound(one.context_object, one.urn), context)
        )  # fmt: skip
        return QueryResult(held, found.unreadable)

    def _index(self) -> AttachmentIndex:
        return self._indexes.attachments.get(self._make_index)

    def _make_index(self, base: AttachmentIndex | None, pending: Pending) -> AttachmentIndex:
        if base is None or pending is None:
            every = (urn for cls in ATTACHED for urn in self._locator.find(cls=cls))
            return AttachmentIndex().updated(every, self._recorded)
        return base.updated(pending, self._recorded)

    def _recorded(self, key: Urn) -> Artefact | None:
        """Return the artefact of a key's own record; None if there is no record."""
        message = self._decoder.message(key)
        return None if message is None else self._decoder.artefact_of_key(key, message)

    def _unread(self, classes: tuple[str, ...]) -> dict[Urn, SdmxError]:
        """Return the artefacts of some classes whose attachments are unknown, and the reasons."""
        return {one: error for one, error in self._index().unread.items() if one.cls in classes}

    def _attached(self, wanted: Urn, classes: tuple[str, ...], kind: type[T]) -> QueryResult[T]:
        unread = self._unread(classes)
        found: dict[Urn, object] = {
            own: self._artefacts.get(own)
            for own, targets in self._index().candidates(wanted.agency, wanted.id)
            if own.cls in classes and any(self._locator.means(late_bound(target, own), wanted) for target in targets)
        }
        key = self._locator.key_of(wanted.maintainable)
        try:
            beside = list(self._beside(key)) if key is not None and self._locator.has_companions else []
        except SdmxError as error:
            unread[key or wanted] = without_traceback(error)
            beside = []
        for one in beside:
            targets = [late_bound(target, one.urn) for target in _attachments(one)]
            if one.urn.cls in classes and any(self._locator.means(target, wanted) for target in targets):
                found.setdefault(one.urn, one)
        return QueryResult((value for _, value in sorted(found.items()) if isinstance(value, kind)), unread)

    def _beside(self, key: Urn) -> Iterator[Artefact]:
        """Yield the artefacts in the message of a key that have no record of their own."""
        message = self._decoder.message(key)
        if message is not None:
            keys = self._locator.keys
            yield from (
                message.artefacts[companion] for companion in companions_in(key, message) if companion not in keys
            )


def _attachments(artefact: Artefact) -> tuple[Urn, ...]:
    try:
        return attached_to(artefact)
    except UnreadableContentError:
        return ()  # a stub among the companions: the artefact's own record has more content, if there is one
