"""Read a workbook into the model."""

from __future__ import annotations

import io
from collections.abc import Iterator

from kafka_replica.sdmx.errors import UnreadableContentError
from kafka_replica.sdmx.formats.shared.reading.error_collector import NO_IDENTITY, STRICT, ErrorCollector, unreadable
from kafka_replica.sdmx.formats.xlsx.maps import read_representation_map
from kafka_replica.sdmx.formats.xlsx.reading.package import Package
from kafka_replica.sdmx.formats.xlsx.reading.worksheet import Cells
from kafka_replica.sdmx.messages.format import Format
from kafka_replica.sdmx.messages.message import Header, Message, UnreadableArtefact
from kafka_replica.sdmx.urns.urn import Urn


def read_message(data: bytes, collector: ErrorCollector = STRICT) -> Message:
    """Return the representation maps of a workbook; worksheets without a map are ignored.

    Raises:
        MessageError: the file is damaged or hostile, or a map in it is.
        UnreadableContentError: the workbook holds no representation map as Fusion writes it.
    """
    package = Package(io.BytesIO(data))
    cells = Cells(package)
    artefacts = collector.read_all(
        package.sheets(), lambda sheet: read_representation_map(sheet[0], cells.rows(sheet[1])), _unreadable
    )
    if not artefacts and not collector.errors:
        raise UnreadableContentError(
            "reading XLSX: no worksheet contains a representation map as Fusion Metadata Registry exports it (Agency "
            "and "
            "Id in column A, then rows with '--->'), and no other structure is known to be written as XLSX; the bytes "
            "are kept"
        )
    return Message(Format.XLSX, Header(), artefacts, errors=collector.errors)


def _unreadable(sheet: tuple[str, str], reason: str) -> UnreadableArtefact:
    return unreadable("RepresentationMap", NO_IDENTITY, f"worksheet {sheet[0][:80]!r}", reason)


def split_message(data: bytes, _: ErrorCollector = STRICT) -> tuple[Format, Iterator[tuple[Urn, bytes]]]:
    """Return the format, and the artefact with the workbook itself.

    The iterator raises the errors of :func:`read_message`, and an error if the workbook holds several artefacts.
    """
    return Format.XLSX, _parts(data)


def _parts(data: bytes) -> Iterator[tuple[Urn, bytes]]:
    [urn, *others] = read_message(data).artefacts
    if others:
        raise UnreadableContentError(
            f"splitting XLSX: the workbook contains {len(others) + 1} representation maps, and workbooks are not "
            "split; "
            "export each map separately"
        )
    yield urn, data
