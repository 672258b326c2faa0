"""Write workbooks with a worksheet for each representation map, in the layout of Fusion Metadata Registry's exports."""

from __future__ import annotations

import io
from collections.abc import Iterable
from datetime import datetime
from typing import Any, Final

from kafka_replica.errors import MissingExtraError
from kafka_replica.sdmx.containers import StubTuple
from kafka_replica.sdmx.errors import UnwritableError
from kafka_replica.sdmx.formats.xlsx.maps import write_representation_map
from kafka_replica.sdmx.messages.format import Format
from kafka_replica.sdmx.messages.message import Header
from kafka_replica.sdmx.model import Artefact, RepresentationMap

_MADE: Final = datetime(1980, 1, 1)  # noqa: DTZ001 - a workbook has no zones; fixed, so that bytes are
_MAX_NAME: Final = 31


def element_of(artefact: Artefact, format_: Format) -> tuple[str, list[list[str]]]:
    """Return the name of the worksheet and its rows. Raises UnwritableError."""
    if not isinstance(artefact, RepresentationMap):
        raise UnwritableError(f"{format_.title} only supports representation maps")
    if isinstance(artefact.mappings, StubTuple):
        raise UnwritableError(f"{format_.title} cannot represent stubs")
    return artefact.id, write_representation_map(artefact)


def message_of(elements: Iterable[tuple[str, list[list[str]]]], _: Header, __: Format) -> bytes:
    """Return the workbook, without the header. Raises UnwritableError for a text too long for a cell."""
    made = io.BytesIO()
    book = _workbook(made)
    names: dict[str, None] = {}
    for id_, rows in elements:
        name = id_[:_MAX_NAME]
        while name.lower() in names:
            name = f"{id_[: _MAX_NAME - 5]}_{len(names):04}"
        names[name.lower()] = None
        _write(book.add_worksheet(name), rows)
    book.close()
    return made.getvalue()


def _workbook(made: io.BytesIO) -> Any:
    try:
        from xlsxwriter import Workbook  # type: ignore[import-untyped]  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MissingExtraError("writing a workbook", "xlsx") from error
    book: Any = Workbook(made, {"in_memory": True})
    book.set_properties({"created": _MADE})
    return book


def _write(sheet: Any, rows: list[list[str]]) -> None:
    for row, cells in enumerate(rows):
        for column, text in enumerate(cells):
            # write() would convert texts that look like a number, a link or a formula.
            if text and sheet.write_string(row, column, text):
                raise UnwritableError(
                    f"the text {text[:40]!r} is longer than a cell may be, or there are too many rows"
                )
