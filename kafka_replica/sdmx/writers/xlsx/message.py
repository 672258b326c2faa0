"""Workbooks with a worksheet for each representation map, in the layout of Fusion Metadata Registry's exports."""

from __future__ import annotations

import io
from collections.abc import Iterable
from datetime import datetime
from typing import Any, Final

from kafka_replica.errors import MissingExtraError
from kafka_replica.sdmx.containers import InternationalString, StubTuple
from kafka_replica.sdmx.errors import UnwritableError
from kafka_replica.sdmx.message import Header
from kafka_replica.sdmx.message_format import Format
from kafka_replica.sdmx.model import Artefact, MappedValue, RepresentationMap

_ARROW: Final = "--->"
_MADE: Final = datetime(1980, 1, 1)  # noqa: DTZ001 - a workbook has no zones; fixed, so that bytes are
_MAX_NAME: Final = 31


def element_of(artefact: Artefact, format_: Format) -> tuple[str, list[list[str]]]:
    """Return the name of the worksheet and its rows. Raises UnwritableError."""
    if not isinstance(artefact, RepresentationMap):
        raise UnwritableError(f"{format_.title} has a layout for representation maps alone")
    if isinstance(artefact.mappings, StubTuple):
        raise UnwritableError(f"{format_.title} has no place for stubs")
    return artefact.id, [*_header(artefact), [], *_rows(artefact)]


def _header(one: RepresentationMap) -> list[list[str]]:
    final = [["Final", "true"]] if one.is_final else []
    return [
        ["Agency", one.agency],
        ["Id", one.id],
        ["Version", one.version],
        *_texts("Name", one.names),
        *_texts("Description", one.descriptions),
        ["Start Date", one.valid_from or ""],
        ["End Date", one.valid_to or ""],
        ["Annotations", *(each.text.in_language() or "" for each in one.annotations)],
        ["URI", one.uri or ""],
        *final,
    ]


def _texts(label: str, found: InternationalString) -> list[list[str]]:
    return [
        [label, *(text for _, text in found.texts)],
        [f"{label} Locale", *(language for language, _ in found.texts)],
    ]


def _rows(one: RepresentationMap) -> list[list[str]]:
    rows = [["Source"], [*map(str, one.sources), _ARROW, *map(str, one.targets)], []]
    for each in one.mappings:
        targets = [*each.targets, *[""] * (len(one.targets) - len(each.targets))]
        validity = [each.valid_from or "", each.valid_to or ""]
        rows.append([*map(_value, each.sources), _ARROW, *targets, *validity])
    return rows


def _value(one: MappedValue) -> str:
    if one.is_reg_ex:
        return f"regex::{one.value}"
    if one.start_index is not None and one.end_index is not None:
        return f"substr({one.start_index},{one.end_index},{one.value})"
    return one.value


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
