"""An interchange as structure messages: the header, and the segments that describe each artefact.

Source: SDMX 2.1 Section 4, "SDMX-EDI: Syntax and Documentation", message structure (BGM+73).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final, Literal, NamedTuple, NoReturn

from kafka_replica.sdmx.errors import MessageError, UrnError
from kafka_replica.sdmx.formats.edi.reading.apostrophes import structure_segments
from kafka_replica.sdmx.formats.edi.reading.syntax import Interchange, Segment, fail
from kafka_replica.sdmx.formats.shared.reading.error_collector import ErrorCollector, Identity, unreadable
from kafka_replica.sdmx.formats.shared.reading.identity import DEFAULT_VERSION
from kafka_replica.sdmx.formats.shared.reading.standalone_items import concept_scheme_urn
from kafka_replica.sdmx.messages.message import Header, UnreadableArtefact
from kafka_replica.sdmx.urns.urn import Urn

_STARTS: Final = {"VLI": "Codelist", "STC": "ConceptScheme", "ASI": "DataStructure"}
_GROUPS: Final = {"UNG", "UNE"}
"""Messages may be in groups, which have no meaning for structures."""
_PARTS: Final = {"CDV", "SCD", "ATT"}
"""Segments that occur only within a definition."""

STRUCTURES: Final = "73"
DATA: Final = "74"
"""The functions of a message (BGM)."""


class DescribedArtefact(NamedTuple):
    """An artefact: its URN, its segments, and the segments that open its message (UNH, BGM, NAD ...)."""

    urn: Urn
    body: list[Segment]
    opening: list[Segment]

    def unreadable(self, reason: str) -> UnreadableArtefact:
        """Return the entry for the artefact in the list of errors."""
        return UnreadableArtefact(self.urn.cls, self.urn.id, self.urn, f"segment {self.body[0].number}", reason)


class Envelope:
    """The segments around structures or data, with a check of their order."""

    def __init__(self) -> None:
        self.interchange: list[list[str]] | None = None
        self.sender: str | None = None
        self.agency: str | None = None
        self.function: str | None = None
        self.opening: list[Segment] = []
        self.is_open = False
        self.has_structures = False
        self.is_over = False
        self._around = {"UNB": self._begin, "UNH": self._open, "UNT": self._close, "UNZ": self._end}

    def take(self, segment: Segment) -> bool:
        """Record a segment of the envelope; return False if the segment belongs to the structures."""
        tag = segment.tag
        if self.is_over:
            fail(segment.number, f"{tag[:3]!r} after UNZ; a value contains one interchange")
        if tag in self._around:
            self._around[tag](segment)
        elif tag in _GROUPS:
            return True
        elif not self.is_open:
            fail(segment.number, f"{tag[:3]!r} is not in a message (UNH to UNT)")
        elif tag in {"BGM", "NAD"}:
            self.opening.append(segment)
            self._note(segment)
        else:
            return False
        return True

    def _begin(self, segment: Segment) -> None:
        if self.interchange is not None:
            fail(segment.number, "a second UNB; a value contains one interchange")
        self.interchange = segment.elements()

    def _end(self, segment: Segment) -> None:
        if self.is_open:
            fail(segment.number, "UNZ before UNT, so the message is truncated")
        self.is_over = True

    def _open(self, segment: Segment) -> None:
        if self.is_open:
            fail(segment.number, "UNH before UNT, so the message before is truncated")
        kind = part(segment.elements(), 1)
        if kind != "GESMES":
            fail(segment.number, f"a message of type {kind!r}; SDMX-EDI is GESMES")
        self.is_open, self.opening = True, [segment]
        self.agency = self.function = None

    def _close(self, segment: Segment) -> None:
        # The segment count in UNT is not checked: real messages have wrong counts.
        if not self.is_open:
            fail(segment.number, "UNT without UNH")
        self.is_open = False

    def _note(self, segment: Segment) -> None:
        elements = segment.elements()
        if segment.tag == "BGM":
            self._must_agree(segment, self.function, part(elements, 0))
            self.function = part(elements, 0)
            self.has_structures |= self.function == STRUCTURES
            if self.function not in {STRUCTURES, DATA}:
                fail(segment.number, f"message function {self.function!r} is neither 73 (structures) nor 74 (data)")
        elif part(elements, 0) == "Z02":
            self._must_agree(segment, self.agency, part(elements, 1))
            self.agency = part(elements, 1)
        elif part(elements, 0) == "MS":
            self.sender = self.sender or part(elements, 1) or None

    def _must_agree(self, segment: Segment, known: str | None, new: str) -> None:
        # Otherwise structures before and after this segment would be of different agencies under one header.
        if known is not None and known != new:
            fail(segment.number, f"a second {segment.tag} in one message, {new[:40]!r} after {known[:40]!r}")

    def check_end(self, *, has_envelope: bool) -> None:
        """Check that the interchange and its messages are complete. Raises MessageError."""
        if has_envelope and not self.is_over:
            raise MessageError("reading SDMX-EDI: there is no UNZ at the end, so it is truncated; send it again")
        if self.is_open:
            raise MessageError("reading SDMX-EDI: there is no UNT at the end, so it is truncated; send it again")

    def header(self) -> Header:
        """The header, from UNB and NAD."""
        elements = self.interchange or []
        return Header(
            id=part(elements, 4) or None,
            sender=self.sender or part(elements, 1) or None,
            prepared=":".join(elements[3]) if len(elements) > 3 else None,
            test=part(elements, 10) == "1",
        )


def part(elements: list[list[str]], element: int, component: int = 0) -> str:
    """Return a component of a segment without blanks around it, or an empty text if the component is missing."""
    if element < len(elements) and component < len(elements[element]):
        return elements[element][component].strip()
    return ""


def refuse_segment(segment: Segment, artefact: Urn) -> NoReturn:
    """Raise MessageError for a segment that a definition must not have: its content would be lost."""
    reason = f"{segment.raw[:60]!r} is not allowed here, in the {artefact.cls} {artefact.reference}"
    if segment.separators.release:
        reason += f"; if it is part of a text, write {segment.separators.release}{segment.separators.terminator} there"
    fail(segment.number, reason)


def described(interchange: Interchange, collector: ErrorCollector) -> tuple[Header, list[DescribedArtefact]]:
    """Return the header and the artefacts in their order; the concepts of an agency are one scheme.

    Raises MessageError.
    """
    envelope = Envelope()
    found = list(_artefacts(interchange, envelope, collector))
    envelope.check_end(has_envelope=interchange.has_envelope)
    if not envelope.has_structures:
        raise MessageError("reading SDMX-EDI: it contains no structure message (BGM+73), only data or nothing")
    return envelope.header(), _once(found)


def _once(found: list[DescribedArtefact]) -> list[DescribedArtefact]:
    """Drop exact duplicates: several messages may repeat the codelists they need."""
    seen: dict[Urn, list[str]] = {}
    kept: list[DescribedArtefact] = []
    for one in found:
        words = [segment.raw for segment in one.body]
        if seen.setdefault(one.urn, words) is words or seen[one.urn] != words:
            kept.append(one)
    return kept


def _artefacts(interchange: Interchange, envelope: Envelope, collector: ErrorCollector) -> Iterator[DescribedArtefact]:
    schemes: dict[Urn, DescribedArtefact] = {}
    body: list[Segment] | None = None
    opening_with_definitions: list[Segment] | None = None
    for segment in structure_segments(interchange):
        if _is_around(segment, envelope):
            body = None
        elif envelope.function is None:
            fail(segment.number, f"{segment.tag[:3]!r} before BGM")
        elif envelope.function == DATA:
            continue
        elif segment.tag in _STARTS:
            opening_with_definitions = envelope.opening
            urn = collector.attempt(partial(_urn, segment, envelope), partial(_unreadable, segment, envelope))
            if urn is None:
                body = []  # the segments that follow describe an artefact that is left out
                continue
            known = schemes.get(urn)
            if known is None:
                known = DescribedArtefact(urn, [], envelope.opening)
                if segment.tag == "STC":
                    schemes[urn] = known
                yield known
            body = known.body
            body.append(segment)
        elif body is not None:
            body.append(segment)
        else:
            is_after = envelope.opening is opening_with_definitions
            body = _outside_definitions(segment, envelope, collector, is_after_definitions=is_after)


def _is_around(segment: Segment, envelope: Envelope) -> bool:
    # UNS, the section control of other messages of EDIFACT, has no content.
    return envelope.take(segment) or segment.tag == "UNS"


def _outside_definitions(
    segment: Segment, envelope: Envelope, collector: ErrorCollector, *, is_after_definitions: bool
) -> list[Segment] | None:
    """Add a segment that describes the message, and return None; for one of an unknown definition, return its body."""
    check = partial(_check_describes_message, segment, is_after_definitions=is_after_definitions)
    if collector.attempt(check, partial(_unreadable_part, segment)):
        envelope.opening.append(segment)
        return None
    return []  # the segments that follow belong to the same definition, which is left out


def _check_describes_message(segment: Segment, *, is_after_definitions: bool) -> Literal[True]:
    """Return True for a segment like CTA, COM or IDE+10 (the sender's name for the message). Raises MessageError."""
    is_part = segment.tag in _PARTS
    if is_after_definitions:
        is_part |= segment.tag == "FTX" or (segment.tag == "IDE" and part(segment.elements(), 0) != "10")
    if is_part:
        fail(segment.number, f"{segment.tag} is not within a definition ({', '.join(_STARTS)})")
    return True


def _unreadable_part(segment: Segment, reason: str) -> UnreadableArtefact:
    return UnreadableArtefact(None, None, None, f"segment {segment.number}", reason)


def _unreadable(segment: Segment, envelope: Envelope, reason: str) -> UnreadableArtefact:
    id_ = part(segment.elements(), 0) or None
    class_ = "Concept" if segment.tag == "STC" else _STARTS[segment.tag]
    return unreadable(class_, Identity(envelope.agency, id_), f"segment {segment.number}", reason)


def _urn(segment: Segment, envelope: Envelope) -> Urn:
    if not envelope.agency:
        fail(segment.number, f"{segment.tag} in a message without its maintenance agency (NAD+Z02)")
    try:
        if segment.tag == "STC":
            return concept_scheme_urn(envelope.agency)
        return Urn.of(_STARTS[segment.tag], envelope.agency, part(segment.elements(), 0), DEFAULT_VERSION)
    except UrnError as error:
        fail(segment.number, str(error))
