"""The modules that read and write each format; a module is imported when its format is first read or written.

To add a format, add its package to ``formats`` with the modules ``reader`` and ``writer``, and name them here. Also add
its name and media types to ``sdmx.messages.format``, its detection to ``sdmx.reading.messages`` (if its syntax is new),
the limits of what it can represent to ``shared.writing.format_rules``, and its names in HTTP requests to
``server.rest.negotiation``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, TypeAlias, cast

from kafka_replica.sdmx.messages.format import Format

if TYPE_CHECKING:
    from kafka_replica.sdmx.formats.json_shared.format_detection import JsonMessage
    from kafka_replica.sdmx.formats.ml.reading.parsing import ParsedDocument
    from kafka_replica.sdmx.formats.shared.reading.error_collector import ErrorCollector
    from kafka_replica.sdmx.messages.message import Header, Message
    from kafka_replica.sdmx.model import Artefact
    from kafka_replica.sdmx.urns.urn import Urn

MessageParts: TypeAlias = "tuple[Format, Iterator[tuple[Urn, bytes]]]"
"""The format of a message, and the URN and message of each artefact in it."""


class Reader(Protocol):
    """A module that reads messages from bytes: all SDMX-ML, SDMX-EDI, XLSX."""

    def read_message(self, data: bytes, collector: ErrorCollector) -> Message:
        """Return the message in these bytes. Raises MessageError."""

    def split_message(self, data: bytes, collector: ErrorCollector) -> MessageParts:
        """Return the parts of a message. Raises MessageError."""


class XmlReader(Reader, Protocol):
    """The module that reads SDMX-ML of every edition."""

    def read_fast(self, data: bytes) -> Message | None:
        """Return the message, or None if ``read_message`` has to read it."""


class TreeReader(Protocol):
    """A module that reads some editions of SDMX-ML from a parsed document."""

    def read_tree(self, document: ParsedDocument, collector: ErrorCollector) -> Message:
        """Return the message of a document. Raises MessageError."""

    def split_tree(self, document: ParsedDocument, collector: ErrorCollector) -> MessageParts:
        """Return the parts of a message. Raises MessageError."""


class JsonReader(Protocol):
    """A module that reads one of the formats in JSON."""

    read_fast: Callable[[bytes, Format | None], Message]

    def read_message(self, message: JsonMessage, collector: ErrorCollector) -> Message:
        """Return the message whose outermost levels are known. Raises MessageError."""


class Writer(Protocol):
    """A module that writes a format: each artefact separately, then the message around them."""

    def element_of(self, artefact: Artefact, format_: Format) -> Any:
        """Return an artefact as an element of a message. Raises UnwritableError."""

    def message_of(self, elements: Iterable[Any], header: Header, format_: Format) -> bytes:
        """Return the message of these elements. Raises UnwritableError."""


class KeepingWriter(Writer, Protocol):
    """A module that writes a format in which elements can be kept for several messages."""

    def encode_element(self, element: Any) -> tuple[Any, int]:
        """Return an element that ``message_of`` takes without encoding it again, and its size in bytes.

        Raises UnwritableError.
        """


_FORMATS: Final = "kafka_replica.sdmx.formats"
_PACKAGES: Final = {
    **dict.fromkeys((Format.SDMX_ML_2_1, Format.SDMX_ML_3_0, Format.SDMX_ML_3_1), "ml"),
    **dict.fromkeys((Format.SDMX_JSON_1_0, Format.SDMX_JSON_2_0, Format.SDMX_JSON_2_1), "sdmx_json"),
    **dict.fromkeys((Format.SDMX_ML_1_0, Format.SDMX_ML_2_0), "ml20"),
    Format.EDI: "edi",
    Format.XLSX: "xlsx",
    Format.FUSION_JSON: "fusion",
}

WRITTEN: Final = tuple(_PACKAGES)
"""The formats that can be written."""

KEEPABLE: Final = frozenset(one for one, package in _PACKAGES.items() if package in {"ml", "sdmx_json", "fusion"})
"""The formats in which an element means the same in each message: its writer is a ``KeepingWriter``."""


@cache
def xml_reader() -> XmlReader:
    """Return the module that reads SDMX-ML."""
    return cast("XmlReader", import_module(f"{_FORMATS}.sdmx_ml"))


@cache
def reader(kind: Literal["edi", "xlsx"]) -> Reader:
    """Return the module that reads SDMX-EDI or XLSX."""
    return cast("Reader", import_module(f"{_FORMATS}.{kind}.reader"))


@cache
def json_reader(kind: Literal["sdmx_json", "fusion"]) -> JsonReader:
    """Return the module that reads SDMX-JSON or Fusion-JSON."""
    return cast("JsonReader", import_module(f"{_FORMATS}.{kind}.reader"))


@cache
def tree_reader(format_: Format) -> TreeReader:
    """Return the module that reads an edition of SDMX-ML."""
    return cast("TreeReader", import_module(f"{_FORMATS}.{_PACKAGES[format_]}.reader"))


@cache
def writer(format_: Format) -> Writer:
    """Return the module that writes a format."""
    return cast("Writer", import_module(f"{_FORMATS}.{_PACKAGES[format_]}.writer"))


def keeping_writer(format_: Format) -> KeepingWriter:
    """Return the module that writes one of the formats in ``KEEPABLE``."""
    return cast("KeepingWriter", writer(format_))
