"""A representation map in a worksheet, as Fusion Metadata Registry exports and imports it.

Source: the registry's public wiki, "Bulk Editing Of Representation Maps": a header of labels and values; after a blank
row the kinds of source and target, with ``--->`` between them; after another blank row the mapped values, with the same
arrow, followed by dates. ``regex::`` begins a regular expression, ``substr(0,2,IN)`` compares a part of the value.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import date, timedelta
from itertools import count
from typing import Final

from kafka_replica.sdmx.containers import NO_TEXT, InternationalString
from kafka_replica.sdmx.errors import MessageError, UrnError
from kafka_replica.sdmx.formats.shared.reading.identity import artefact_urn
from kafka_replica.sdmx.formats.xlsx.reading.worksheet import Cell, Row
from kafka_replica.sdmx.model import MappedValue, RepresentationMap, RepresentationMapping
from kafka_replica.sdmx.model.base import Annotation
from kafka_replica.sdmx.urns.urn import Urn

# Reading

_ARROW: Final = "--->"
_HEADER_ROWS: Final = 100
"""A map begins within this many rows; the registry's header has eleven."""

_REGEX: Final = "regex::"
_title = re.compile(r"(?:source|target)s?\s*[0-9]*|valid\s*(?:from|to)", re.IGNORECASE).fullmatch
_substring = re.compile(r"substr\(\s*([0-9]{1,9})\s*,\s*([0-9]{1,9})\s*,\s*(.*?)\s*\)", re.DOTALL).fullmatch
_reference = re.compile(r"[A-Za-z0-9_.\-]+:[A-Za-z0-9_@$\-]+\([0-9.+*A-Za-z\-]+\)").fullmatch
_LABELS: Final = {
    "agency": "agency", "agencyid": "agency", "maintenanceagency": "agency", "id": "id", "mapid": "id",
    "version": "version", "name": "name", "namelocale": "name locale", "locale": "name locale",
    "description": "description", "descriptionlocale": "description locale", "startdate": "start",
    "validfrom": "start", "enddate": "end", "validto": "end", "annotations": "annotations",
    "annotation": "annotations", "uri": "uri", "final": "final", "isfinal": "final",
}  # fmt: skip
_SEVERAL: Final = frozenset({"name", "name locale", "description", "description locale", "annotations"})
"""The labels that may have several values; of others only the first counts."""


def read_representation_map(sheet: str, rows: Iterable[Row]) -> RepresentationMap | None:
    """Return the map in the rows of a worksheet, or None if they do not hold a map.

    Raises:
        MessageError: the rows begin like a map, but something is missing or wrong.
    """
    where = f"in worksheet {sheet[:80]!r}"
    header: dict[str, Row] = {}
    arrows: list[tuple[int, Row]] = []
    for number, row in enumerate(rows):
        if number > _HEADER_ROWS and not arrows:
            return None
        arrow = next((at for at, cell in row.items() if cell.text.strip() == _ARROW), None)
        if arrow is not None and (arrows or not _is_title(row)):
            arrows.append((arrow, row))
        elif arrow is None and not arrows and 0 in row:
            label = _LABELS.get(re.sub(r"[^a-z]", "", row[0].text.lower()))
            header.setdefault(label or "", {at: cell for at, cell in _without_helpers(row).items() if at > 0})
    if not arrows or not {"agency", "id"} <= header.keys():
        return None
    arrow, ends = arrows[0][0], _without_helpers(arrows[0][1])
    _check_values([*_header_cells(header), *ends.values()], where)
    urn = _urn(header, where)
    sources = tuple(_end(ends[at], urn) for at in sorted(ends) if at < arrow)
    targets = tuple(_end(ends[at], urn) for at in sorted(ends) if at > arrow and not _title(ends[at].text.strip()))
    if not sources or not targets or sorted(at for at in ends if at < arrow) != list(range(arrow)):
        raise MessageError(f"reading {urn} {where}: the row that names its source and target has gaps")
    for at, _ in arrows:
        if at != arrow:
            raise MessageError(f"reading {urn} {where}: {_ARROW} is in different columns, so its sources are unclear")
    return RepresentationMap(
        urn=urn,
        names=_read_texts(header, "name"),
        descriptions=_read_texts(header, "description"),
        valid_from=_day(header.get("start", {}).get(1)),
        valid_to=_day(header.get("end", {}).get(1)),
        is_final=_text(header, "final").lower() in {"true", "1"},
        uri=_text(header, "uri") or None,
        # The format of several annotations in a cell is not known, so the text is kept whole.
        annotations=tuple(
            Annotation(text=InternationalString([("en", cell.text)])) for cell in header.get("annotations", {}).values()
        ),
        sources=sources,
        targets=targets,
        mappings=tuple(_mapping(row, arrow, len(targets), where) for _, row in arrows[1:]),
    )


def _without_helpers(row: Row) -> Row:
    """Leave out formulas without a saved value to the right of an empty cell: they do not belong to the map."""
    end = next(at for at in count() if at not in row)
    return {at: cell for at, cell in row.items() if at < end or not cell.is_unsaved}


def _header_cells(header: dict[str, Row]) -> Iterator[Cell]:
    """Yield the cells of the header that are read."""
    for label, row in header.items():
        if label:
            yield from (cell for at, cell in row.items() if at == 1 or label in _SEVERAL)


def _check_values(cells: Iterable[Cell], where: str) -> None:
    problem = next((cell.problem for cell in cells if cell.problem), None)
    if problem is not None:
        raise MessageError(f"reading XLSX {where}: {problem}")


def _is_title(row: Row) -> bool:
    """Return True if the row only states which side is the source."""
    texts = [cell.text.strip() for cell in row.values() if not cell.is_unsaved]
    return all(text == _ARROW or _title(text) for text in texts)


def _text(header: dict[str, Row], label: str) -> str:
    cell = header.get(label, {}).get(1)
    return cell.text.strip() if cell else ""


def _urn(header: dict[str, Row], where: str) -> Urn:
    version = header.get("version", {}).get(1)
    text = version.text.strip() if version else None
    if version is not None and version.is_number and text is not None and text.isdecimal():
        text += ".0"  # spreadsheets turn version 1.0 into the number 1
    return artefact_urn("RepresentationMap", _text(header, "agency"), _text(header, "id"), text, None, where)


def _read_texts(header: dict[str, Row], label: str) -> InternationalString:
    texts, locales = header.get(label, {}), header.get(f"{label} locale", {})
    pairs = [(locales[at].text.strip() if at in locales else "en", cell.text) for at, cell in sorted(texts.items())]
    return InternationalString(pairs) if pairs else NO_TEXT


def _end(cell: Cell, urn: Urn) -> Urn | str:
    """Return a codelist or value list by URN or short reference, or the name of a data type."""
    text = cell.text.strip()
    try:
        if text.startswith("urn:"):
            return Urn.parse(text)
        return Urn.of_reference("Codelist", text) if _reference(text) else text
    except UrnError as error:
        raise MessageError(f"reading {urn}, its source or target: {error}") from None


def _mapping(row: Row, arrow: int, width: int, where: str) -> RepresentationMapping:
    """Return the mapping in a row, whose ``width`` targets are followed by two dates. Raises MessageError."""
    first = arrow + 1
    _check_values([cell for at, cell in row.items() if at < first + width + 2], where)
    targets = [row[at].text if at in row else "" for at in range(first, first + width)]
    return RepresentationMapping(
        sources=tuple(_mapped(row[at].text if at in row else "") for at in range(arrow)),
        targets=tuple(targets) if any(targets) else (),
        valid_from=_day(row.get(first + width)),
        valid_to=_day(row.get(first + width + 1)),
    )


def _mapped(text: str) -> MappedValue:
    if text.startswith(_REGEX):
        return MappedValue(value=text.removeprefix(_REGEX), is_reg_ex=True)
    found = _substring(text)
    if found is None:
        return MappedValue(value=text)
    return MappedValue(value=found[3], start_index=int(found[1]), end_index=int(found[2]))


def _day(cell: Cell | None) -> str | None:
    """Return a date as text; a number counts days as spreadsheets do (1 is 1900-01-01, and 1900 is a leap year)."""
    if cell is None:
        return None
    text = cell.text.strip()
    days = text.partition(".")[0]
    if cell.is_number and days.isdecimal() and 60 < int(days[:7]) < 2_958_466:
        return (date(1899, 12, 30) + timedelta(days=int(days[:7]))).isoformat()
    return text or None


# Writing


def write_representation_map(representation_map: RepresentationMap) -> list[list[str]]:
    """Return the rows of a worksheet."""
    return [*_header(representation_map), [], *_rows(representation_map)]


def _header(representation_map: RepresentationMap) -> list[list[str]]:
    final = [["Final", "true"]] if representation_map.is_final else []
    return [
        ["Agency", representation_map.agency],
        ["Id", representation_map.id],
        ["Version", representation_map.version],
        *_write_texts("Name", representation_map.names),
        *_write_texts("Description", representation_map.descriptions),
        ["Start Date", representation_map.valid_from or ""],
        ["End Date", representation_map.valid_to or ""],
        ["Annotations", *(each.text.in_language() or "" for each in representation_map.annotations)],
        ["URI", representation_map.uri or ""],
        *final,
    ]


def _write_texts(label: str, found: InternationalString) -> list[list[str]]:
    return [
        [label, *(text for _, text in found.texts)],
        [f"{label} Locale", *(language for language, _ in found.texts)],
    ]


def _rows(representation_map: RepresentationMap) -> list[list[str]]:
    rows = [["Source"], [*map(str, representation_map.sources), _ARROW, *map(str, representation_map.targets)], []]
    for each in representation_map.mappings:
        targets = [*each.targets, *[""] * (len(representation_map.targets) - len(each.targets))]
        validity = [each.valid_from or "", each.valid_to or ""]
        rows.append([*map(_value, each.sources), _ARROW, *targets, *validity])
    return rows


def _value(mapped_value: MappedValue) -> str:
    if mapped_value.is_reg_ex:
        return f"{_REGEX}{mapped_value.value}"
    if mapped_value.start_index is not None and mapped_value.end_index is not None:
        return f"substr({mapped_value.start_index},{mapped_value.end_index},{mapped_value.value})"
    return mapped_value.value
