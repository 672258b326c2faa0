"""The components of a key family in SDMX-EDI, as their segments (SCD, ATT, IDE) describe them."""

from __future__ import annotations

from kafka_replica.sdmx.errors import UrnError
from kafka_replica.sdmx.formats.edi.reading.messages import part
from kafka_replica.sdmx.formats.edi.reading.syntax import Segment, fail
from kafka_replica.sdmx.formats.edi.reading.texts import text_format
from kafka_replica.sdmx.formats.shared.reading.identity import DEFAULT_VERSION
from kafka_replica.sdmx.formats.shared.reading.standalone_items import concept_urn
from kafka_replica.sdmx.model.representation import Representation, TextFormat
from kafka_replica.sdmx.urns.urn import Urn


class WrittenComponent:
    """An SCD segment with the ATT and IDE segments that follow; ``kind`` is 13, 4, 1, 3 or Z09."""

    def __init__(self, agency: str, segment: Segment) -> None:
        elements = segment.elements()
        self.segment, self._agency = segment, agency
        self.kind = part(elements, 0)
        self.concept_id = part(elements, 1)
        position = part(elements, 5, 1)
        # A position has at most nine digits; a longer number is an attack on int().
        self.position = int(position) if position.isascii() and position.isdecimal() and len(position) < 10 else None
        self.format: TextFormat | None = None
        self.usage: str | None = None
        self.level: str | None = None
        self._codelist: Urn | None = None

    def add(self, segment: Segment) -> None:
        """Add an ATT or IDE segment. Raises MessageError."""
        elements = segment.elements()
        if segment.tag == "IDE":
            # Converters write an empty id for a component without a codelist.
            if part(elements, 0) == "1" and part(elements, 1):
                self._codelist = self._codelist_urn(segment, part(elements, 1))
        elif part(elements, 1) == "5":
            self.format = text_format(segment, part(elements, 2, 3))
        elif part(elements, 1) == "35":
            self.usage = part(elements, 2)
        elif part(elements, 1) == "32":
            self.level = part(elements, 2)

    def _codelist_urn(self, segment: Segment, id_: str) -> Urn:
        try:
            return Urn.of("Codelist", self._agency, id_, DEFAULT_VERSION)
        except UrnError as error:
            fail(segment.number, str(error))

    @property
    def concept(self) -> Urn:
        """The component's concept, in the agency's scheme of standalone concepts. Raises MessageError."""
        try:
            return concept_urn(self._agency, self.concept_id)
        except UrnError as error:
            fail(self.segment.number, str(error))

    def representation(self, text_type: str | None = None) -> Representation | None:
        """Return codelist and format, or None if the segments have neither; ``text_type`` overrides the type."""
        format_ = self.format
        if text_type is not None:
            longest = format_.max_length if format_ else None
            format_ = TextFormat(text_type=text_type, max_length=longest)
        if self._codelist is None and format_ is None:
            return None
        return Representation(enumeration=self._codelist, format=format_)

    def is_mandatory(self) -> bool:
        """Return True if ATT+3+35 is 2 (mandatory) and False if 1 (conditional). Raises MessageError."""
        if self.usage is not None and self.usage not in {"1", "2"}:
            fail(self.segment.number, f"usage status {self.usage[:20]!r} of {self.concept_id[:40]!r} is not 1 or 2")
        return self.usage == "2"
