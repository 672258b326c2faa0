"""An index of the constraints and hierarchy associations attached to artefacts; it decodes nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, TypeAlias

from kafka_replica.common.persistent_map import PersistentMap
from kafka_replica.sdmx.containers import stub_error
from kafka_replica.sdmx.errors import SdmxError, UnreadableContentError
from kafka_replica.sdmx.lookups.query_result import without_traceback
from kafka_replica.sdmx.model import Artefact, Constraint, HierarchyAssociation
from kafka_replica.sdmx.urns.urn import Urn

CONSTRAINTS: Final = ("DataConstraint", "ContentConstraint", "MetadataConstraint", "AttachmentConstraint")
"""The classes of constraints."""

ATTACHED: Final = (*CONSTRAINTS, "HierarchyAssociation")
"""The classes of artefacts that name the artefacts they are attached to."""

FindArtefact: TypeAlias = Callable[[Urn], Artefact | None]
"""A function that returns the artefact of a key's record or None; raises SdmxError if the record cannot be read."""

_Name: TypeAlias = tuple[str, str]
_Sources: TypeAlias = PersistentMap[Urn, None]
_NO_SOURCES: Final[_Sources] = PersistentMap()


class AttachmentIndex:
    """The targets that the constraints and hierarchy associations of a version are attached to. Immutable.

    Only these artefacts are decoded. ``unread`` holds those whose attachments are unknown, each with the reason: the
    artefact is a stub, its content is unknown, or the record cannot be read. Version rules in references are resolved
    on demand.
    """

    __slots__ = ("_attached", "_naming", "unread")

    def __init__(self) -> None:
        """Create an empty index."""
        self._attached: PersistentMap[Urn, tuple[Urn, ...]] = PersistentMap()
        self._naming: PersistentMap[_Name, _Sources] = PersistentMap()
        self.unread: PersistentMap[Urn, SdmxError] = PersistentMap()

    def updated(self, changed: Iterable[Urn], recorded: FindArtefact) -> AttachmentIndex:
        """Return the index of another version that differs in the records of these keys."""
        made = AttachmentIndex()
        made._attached, made._naming, made.unread = self._attached, self._naming, self.unread
        for own in changed:
            if own.cls in ATTACHED:
                made._drop(own)
                made._put(own, recorded)
        return made

    def candidates(self, agency: str, id_: str) -> Iterable[tuple[Urn, tuple[Urn, ...]]]:
        """Yield the attachments to any version of the artefact with this agency and id, or to an item in it."""
        for own in self._naming.get((agency, id_)) or _NO_SOURCES:
            yield own, self._attached.get(own) or ()

    def _put(self, own: Urn, recorded: FindArtefact) -> None:
        try:
            artefact = recorded(own)
            if artefact is None:
                return
            targets = attached_to(artefact)
        except SdmxError as error:
            self.unread = self.unread.set(own, without_traceback(error))
            return
        self._attached = self._attached.set(own, targets)
        for name in {(target.agency, target.id) for target in targets}:
            sources = self._naming.get(name) or _NO_SOURCES
            self._naming = self._naming.set(name, sources.set(own, None))

    def _drop(self, own: Urn) -> None:
        self.unread = self.unread.delete(own)
        for name in {(one.agency, one.id) for one in self._attached.get(own) or ()}:
            sources = (self._naming.get(name) or _NO_SOURCES).delete(own)
            self._naming = self._naming.set(name, sources) if len(sources) else self._naming.delete(name)
        self._attached = self._attached.delete(own)


def attached_to(artefact: Artefact) -> tuple[Urn, ...]:
    """Return the targets that a constraint or an association is attached to."""
    if artefact.is_stub:
        raise stub_error(artefact.urn)
    if isinstance(artefact, Constraint):
        return artefact.attachment.references if artefact.attachment is not None else ()
    if isinstance(artefact, HierarchyAssociation):
        return (artefact.linked_object,) if artefact.linked_object is not None else ()
    raise UnreadableContentError(f"reading {artefact.urn}: its attachments are not known")
