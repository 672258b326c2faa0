"""A structure message after reading: header, format, artefacts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from kafka_replica.common.wording import counted
from kafka_replica.sdmx.errors import MessageError
from kafka_replica.sdmx.messages.format import Format
from kafka_replica.sdmx.model import Artefact, AvailabilityConstraint
from kafka_replica.sdmx.model.value_object import ValueObject
from kafka_replica.sdmx.urns.urn import Urn


class Header(ValueObject, frozen=True, kw_only=True):
    """The kept part of a message's header; ``prepared`` is as written, because registries omit the time zone."""

    id: str | None = None
    sender: str | None = None
    prepared: str | None = None
    test: bool = False


class UnreadableArtefact(NamedTuple):
    """An artefact of a message that could not be read, and the reason.

    ``urn`` is None if the message does not identify the artefact, ``cls`` if even its class is unknown.
    """

    cls: str | None
    id: str | None
    urn: Urn | None
    place: str
    """The artefact's position: ``line 12`` (SDMX-ML), ``codelists[3]`` (JSON), ``segment 40``, ``worksheet 'A'``."""
    reason: str

    def __str__(self) -> str:
        name = self.urn or " ".join(part for part in (self.cls, self.id) if part) or "an artefact"
        return f"{name} ({self.place}): {self.reason}"


class Message:
    """A structure message. Iteration yields its artefacts in order; ``artefacts`` is by URN. Immutable.

    ``availability_constraints`` (3.1) are separate: they have no id, so no URN. ``errors`` lists the artefacts
    that could not be read; it is empty unless the message was read with ``on_error="collect"``.
    """

    __slots__ = ("artefacts", "availability_constraints", "errors", "format", "header")

    artefacts: Mapping[Urn, Artefact]
    format: Format
    availability_constraints: tuple[AvailabilityConstraint, ...]
    errors: tuple[UnreadableArtefact, ...]
    header: Header

    def __init__(
        self,
        format_: Format,
        header: Header,
        artefacts: Iterable[Artefact],
        availability_constraints: Iterable[AvailabilityConstraint] = (),
        errors: Iterable[UnreadableArtefact] = (),
    ) -> None:
        """Create the message. Raises MessageError if an artefact occurs twice."""
        by_urn: dict[Urn, Artefact] = {}
        for artefact in artefacts:
            urn = artefact.urn
            if by_urn and urn in by_urn:
                raise twice(urn)
            by_urn[urn] = artefact
        self.format, self.header, self.artefacts = format_, header, MappingProxyType(by_urn)
        self.availability_constraints = tuple(availability_constraints)
        self.errors = tuple(errors)

    def holds(self, urn: Urn) -> bool:
        """Return whether the message holds an artefact with this URN, readable or not."""
        return urn in self.artefacts or any(error.urn == urn for error in self.errors)

    def __iter__(self) -> Iterator[Artefact]:
        return iter(self.artefacts.values())

    def __len__(self) -> int:
        return len(self.artefacts)

    def __repr__(self) -> str:
        bad = f", {len(self.errors)} unreadable" if self.errors else ""
        return f"<{self.format.title} message of {counted(len(self), 'artefact')}{bad}>"


def twice(urn: Urn) -> MessageError:
    """Return the error for a message that holds an artefact twice."""
    return MessageError(f"reading a message: {urn} is duplicated, so its meaning is ambiguous; remove one")
