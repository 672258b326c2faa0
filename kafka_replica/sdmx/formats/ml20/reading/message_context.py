"""The message of SDMX-ML 1.0 or 2.0 that is being read, and the names that differ between these editions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from lxml import etree

from kafka_replica.sdmx.formats.ml.reading.foreign_namespaces import is_lost
from kafka_replica.sdmx.formats.ml.reading.tree import Names, header_of
from kafka_replica.sdmx.formats.ml.reading.values import text_of
from kafka_replica.sdmx.formats.shared.reading.error_collector import ErrorCollector
from kafka_replica.sdmx.messages.format import Format
from kafka_replica.sdmx.model.representation import TextFormat

_NO_AGENCY_NEEDED: Final = {"Concept", "StructureSet"}
"""Elements of 2.0 that need no agency; in 1.0 no element needs an agency."""
_OF_SETS: Final = {"ID", "DataSetID", "DataSetAction"}


def stated(element: etree._Element, attribute: str) -> str | None:
    """Return an attribute without blanks around it, which real files have; None if it is missing or blank."""
    return element.get(attribute, "").strip() or None


class Edition(NamedTuple):
    """SDMX-ML 1.0 or 2.0: format, containers, the attributes for an agency and for a concept, text formats."""

    format: Format
    containers: frozenset[str]
    agency: str
    concept: str
    text_format: Callable[[etree._Element, Names], TextFormat]


class MessageContext:
    """A message: its edition, the names of its elements, its sender, and the header's data about metadata sets.

    ``collector`` decides what an error in one of its artefacts means. ``lost`` is a part of the header in another
    namespace, without which metadata sets would have another identity.
    """

    __slots__ = ("collector", "edition", "header", "lost", "names", "of_sets", "sender")

    def __init__(self, root: etree._Element, edition: Edition, collector: ErrorCollector) -> None:
        self.edition = edition
        self.collector = collector
        self.names = Names(edition.format)
        self.header = header_of(root, self.names)
        self.sender: str | None = None
        self.of_sets: dict[str, str] = {}
        self.lost: etree._Element | None = None
        for child in self.header if self.header is not None else ():
            kind = self.names[child.tag]
            if kind == "Sender":
                self.sender = self.sender or stated(child, "id")
            elif kind in _OF_SETS:
                self.of_sets.setdefault(kind, text_of(child).strip())
            elif is_lost(child, self.names, "Sender", *_OF_SETS):
                self.lost = child

    def agency_of(self, element: etree._Element) -> str | None:
        """Return the agency that maintains an element; the sender if the schema makes the attribute optional."""
        found = stated(element, self.edition.agency)
        if found is None and (self.edition.agency == "agency" or self.names[element.tag] in _NO_AGENCY_NEEDED):
            return self.sender
        return found
