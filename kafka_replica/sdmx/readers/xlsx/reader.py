"""Reading a workbook into the model."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_replica.errors import UnreadableContentError
from kafka_replica.sdmx.formats import Format
from kafka_replica.sdmx.message import Header, Message
from kafka_replica.sdmx.readers.xlsx.package import Package
from kafka_replica.sdmx.readers.xlsx.representation_map import representation_map
from kafka_replica.sdmx.readers.xlsx.worksheet import Cells
from kafka_replica.sdmx.urn import Urn


def read_message(data: bytes) -> Message:
    """The representation maps of a workbook; worksheets that hold none are left alone.

    Raises:
        MessageError: the file is damaged or hostile, or a map in it is.
        UnreadableContentError: the workbook holds no representation map as Fusion writes it.
    """
    package = Package(data)
    cells = Cells(package)
    found = [representation_map(name, cells.rows(part)) for name, part in package.sheets()]
    artefacts = [one for one in found if one is not None]
    if not artefacts:
        raise UnreadableContentError(
            "reading XLSX: no worksheet holds a representation map as Fusion Metadata Registry exports it (Agency and "
            "Id in column A, then rows with '--->'), and no other structure is known to be written as XLSX; the bytes "
            "are kept"
        )
    return Message(Format.XLSX, Header(), artefacts)


def cut_message(data: bytes) -> Iterator[tuple[Urn, bytes]]:
    """The artefact and the workbook itself. Raises as :func:`read_message`, and for more artefacts than one."""
    [urn, *others] = read_message(data).artefacts
    if others:
        raise UnreadableContentError(
            f"cutting XLSX: the workbook holds {len(others) + 1} representation maps, and workbooks are not cut; "
            "export each map alone"
        )
    yield urn, data
