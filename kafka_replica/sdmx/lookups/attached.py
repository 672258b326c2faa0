"""Queries for the constraints and hierarchy associations that are attached to an artefact."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Self, TypeVar

from kafka_replica.records import Key
from kafka_replica.sdmx.errors import SdmxError, UnreadableContentError
from kafka_replica.sdmx.lookups.attachments import ATTACHED, CONSTRAINTS, AttachmentIndex, attached_to
from kafka_replica.sdmx.lookups.class_aliases import classes_of
from kafka_replica.sdmx.lookups.companions import companions_in
from kafka_replica.sdmx.lookups.decoding import Snapshot
from kafka_replica.sdmx.lookups.index.kept import Kept, Pending
from kafka_replica.sdmx.lookups.index.keys import urn_of_key
from kafka_replica.sdmx.lookups.query_result import QueryResult, without_traceback
from kafka_replica.sdmx.lookups.references import late_bound
from kafka_replica.sdmx.lookups.related import Reference, RelatedArtefacts
from kafka_replica.sdmx.model import Artefact, Constraint, HierarchyAssociation
from kafka_replica.sdmx.urn import Urn
from kafka_replica.sdmx.versions import is_wildcard, newest

T = TypeVar("T")


class AttachedArtefacts(RelatedArtefacts):
    """The artefacts of one version, and the constraints and associations attached to them.

    The first query decodes only the constraints and hierarchy associations of the version.
    """

    @cached_property
    def _attachments(self) -> Kept[AttachmentIndex]:
        return Kept()

    @abstractmethod
    def find(self, cls: str = "*", agency: str = "*", id: str = "*", version: str = "*") -> list[Urn]:  # noqa: A002
        """Return the matching URNs."""

    def constraints_of(self, reference: Reference) -> QueryResult[Constraint]:
        """Return the constraints attached to exactly this artefact or data provider: all versions, all roles; sorted.

        The first query decodes all constraints of the version, and nothing else. ``unreadable`` of the result lists
        the constraints whose attachments are unknown: stubs, and constraints that cannot be read.
        """
        return self.constraints_on(self._known(reference))

    def constraints_on(self, urn: Urn) -> QueryResult[Constraint]:
        """Return the constraints attached to a URN with a version; its artefact need not be in this version."""
        return self._attached(urn, CONSTRAINTS, Constraint)

    @property
    def unread_constraints(self) -> dict[Urn, SdmxError]:
        """The constraints on data whose attachments are unknown, each with the reason; sorted.

        These are stubs, and constraints that cannot be read.
        """
        return dict(sorted(self._unread(classes_of("DataConstraint")).items()))

    def hierarchies_of(
        self, reference: Reference, context: Reference | None = None
    ) -> QueryResult[HierarchyAssociation]:
        """Return the associations of hierarchies with a codelist, dimension, or anything else with a URN; sorted (3.x).

        Args:
            reference: the artefact, or the item or component.
            context: return only associations for this context, for example a dataflow, or without a context.
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

    def moved_to(self, snapshot: Snapshot, changed: Iterable[Key] | None = None) -> Self:
        """See :meth:`RelatedArtefacts.moved_to`; the index of attachments is carried over, too."""
        keys = None if changed is None else list(changed)
        moved = super().moved_to(snapshot, keys)
        urns = None if keys is None else [urn for key in keys if (urn := urn_of_key(key)) is not None]
        moved._attachments = self._attachments.moved(urns)  # noqa: SLF001 - of its own class
        return moved

    def _attachment_index(self) -> AttachmentIndex:
        return self._attachments.get(self._made_attachments)

    def _made_attachments(self, base: AttachmentIndex | None, pending: Pending) -> AttachmentIndex:
        if base is None or pending is None:
            return AttachmentIndex().moved((urn for cls in ATTACHED for urn in self.find(cls=cls)), self._recorded)
        return base.moved(pending, self._recorded)

    def _recorded(self, key: Urn) -> Artefact | None:
        """Return the artefact of a key's own record; None if the record does not have it."""
        message = self._message(key)
        return None if message is None else self._of_key(key, message)

    def _unread(self, classes: tuple[str, ...]) -> dict[Urn, SdmxError]:
        """Return the artefacts of some classes whose attachments are unknown, and the reasons."""
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
        """Return the key of the record that holds an artefact."""
        holder = self._holder(urn)
        return holder if holder is None or holder in self._keys else self._companions(holder).get(holder)

    def _beside(self, key: Urn) -> Iterator[Artefact]:
        """Yield the artefacts in the message of a key that have no record of their own."""
        message = self._message(key)
        if message is not None:
            yield from (message.artefacts[one] for one in companions_in(key, message) if one not in self._keys)

    def _means(self, target: Urn, wanted: Urn) -> bool:
        """Return whether a reference means this artefact or item of this version."""
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
        return ()  # a stub among the companions: the artefact's own record has more content, if there is one
