"""The header row of an SDMX-CSV file, which determines how all other rows are read.

Source: SDMX-CSV field guides 1.0, 2.0 and 2.1 of the SDMX Technical Working Group, "Columns" and "Column headers".
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from kafka_replica.data.errors import DatasetError
from kafka_replica.data.files.csv_layout import CODE_LABEL, LABEL, Field, Form, Labels, Layout
from kafka_replica.data.files.other_formats import encoding_in_words
from kafka_replica.data.validation.model import Column, Rules
from kafka_replica.errors import ConfigurationError, UsageError

FIRST_CELL: Final = re.compile(
    r'(?P<quote>"?)(?P<name>DATAFLOW|STRUCTURE(?:\[(?P<sub>.)\])?)(?P=quote)(?P<separator>[^A-Za-z0-9_@$\-.]|\Z)'
)
"""The beginning of a header: the first cell, and the separator after it."""
_COMPONENT: Final = re.compile(
    r"(?P<id>[A-Za-z0-9_@$\-.]+)(?P<many>\[\])?(?P<languages>\[[A-Za-z][^\]]*\])?(?:: ?(?P<label>.*))?", re.DOTALL
)
_LANGUAGE_TAG: Final = re.compile(r"[A-Za-z0-9\-]+")
_ID: Final = re.compile(r"[A-Za-z0-9_@$\-.]+")
_NUMBERS: Final = frozenset({
    "BigInteger", "Integer", "Long", "Short", "Count", "Decimal", "Float", "Double", "Numeric", "Incremental",
    "InclusiveValueRange", "ExclusiveValueRange",
})  # fmt: skip
SEPARATORS: Final[Mapping[str, str]] = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
"""The separators of plain CSV that are recognized, with their names."""
_MOST_COLUMNS: Final = 10_000
"""The maximum number of columns, which no data structure reaches; each column adds a step to each query."""
_KEYS: Final = ("SERIES_KEY", "OBS_KEY")


class _Term(NamedTuple):
    """The parts of a header cell."""

    id: str
    form: Form
    label: str | None


def layout_of(first_line: str, where: str, rules: Rules | None = None, *, separator: str | None = None) -> Layout:
    """Return the layout of a file, from its first line.

    Args:
        first_line: the first line, as text.
        where: the file, for errors.
        rules: the rules of the rows' structure. They are needed if the file has names as well as ids, because the file
            alone does not show which cells contain codes.
        separator: the separator of cells; None means the character after the first cell, or a comma.

    Raises:
        DatasetError: the line is not a header of SDMX-CSV, or is in another encoding.
        UsageError: the file has names, and no rules are given.
    """
    line = _text_of(first_line, where)
    found = FIRST_CELL.match(line)
    if found is None:
        raise DatasetError(
            f"reading {where} as SDMX-CSV: its first column is called {line[:40]!r}; in 2.0 it is STRUCTURE or "
            "STRUCTURE[;], in 1.0 DATAFLOW; read other CSV files as plain CSV"
        )
    cell_separator = separator or found["separator"] or ","
    if len(cell_separator) != 1 or not cell_separator.isascii() or cell_separator in '"\r\n':
        raise DatasetError(
            f"reading {where}: {cell_separator!r} cannot separate cells: a separator is one ASCII character other than "
            "a quote or a line end"
        )
    header = _header(line, cell_separator, where)
    if found["name"] == "DATAFLOW":
        return _of_version_1(header, cell_separator, where, rules)
    return _of_version_2(header, cell_separator, found["sub"], where, rules)


def plain_layout_of(first_line: str, where: str, rules: Rules | None = None) -> Layout:
    """Return the layout of a plain CSV file, which has component ids as column names.

    The separator is detected: it is the one in :data:`SEPARATORS` that makes the most cells look like component ids.

    Args:
        first_line: the first line, as text.
        where: the file, for errors.
        rules: the rules of the rows' structure; they determine which columns are numbers.

    Raises:
        DatasetError: the line is not a header, or is in another encoding.
    """
    line = _text_of(first_line, where)
    separator = separator_of(line)
    header = _header(line, separator, where)
    if not header:
        raise DatasetError(f"reading {where}: the file is empty")
    known = {} if rules is None else {column.id: column for column in rules.columns}
    labels = _labels(header, rules)
    fields = tuple(_plain_field(name, i, labels, known) for i, name in enumerate(header))
    _check_unique(fields, where)
    return Layout(None, labels, separator, None, header, fields)


def separator_of(line: str) -> str:
    """Return the separator of plain CSV that makes the most cells of a header look like ids; the first one if tied."""

    def score(separator: str) -> int:
        try:
            return sum(_ID.fullmatch(cell.partition(CODE_LABEL)[0]) is not None for cell in _cells(line, separator, ""))
        except DatasetError:  # the line's quotes are invalid with this separator
            return -1

    return max(SEPARATORS, key=score)


def check_decimal(decimal: str, where: str) -> None:
    """Check that a text can be the decimal separator.

    Raises:
        ConfigurationError: the text is not one character, or is a letter, digit, blank, sign or quote.
    """
    if len(decimal) != 1 or decimal.isalnum() or decimal.isspace() or decimal in '+-"':
        raise ConfigurationError(f"reading {where}: decimal={decimal!r}: give one character, such as '.' or ','")


def _text_of(first_line: str, where: str) -> str:
    """Return the first line without its end and a byte order mark."""
    line = first_line.removeprefix("\ufeff").rstrip("\r\n")
    if "\0" in line:
        raise DatasetError(f"reading {where}: {encoding_in_words(line)}")
    if first_line.removesuffix("\n").endswith("\r\r"):
        # Otherwise a CR would become a part of the last cell of each row.
        raise DatasetError(
            f"reading {where}: its lines end with CR CR LF, because a program converted line ends that were CR LF "
            "already; save it with the line ends LF or CR LF"
        )
    return line


def _header(line: str, separator: str, where: str) -> tuple[str, ...]:
    found = _cells(line, separator, where)
    if len(found) > _MOST_COLUMNS:
        raise DatasetError(
            f"reading {where}: its header has {len(found):,} columns, more than {_MOST_COLUMNS:,}; leave out those "
            "that are not components"
        )
    return found


def _cells(line: str, separator: str, where: str) -> tuple[str, ...]:
    try:
        return tuple(next(csv.reader([line], delimiter=separator, strict=True), ()))
    except (csv.Error, TypeError) as error:
        if "\r" in line:
            raise DatasetError(
                f"reading {where}: its lines end with a carriage return (CR) alone, or a column title has one; save it "
                "with the line ends LF or CR LF"
            ) from error
        raise DatasetError(f"reading the header of {where}, separated by {separator!r}: {error}") from error


def _of_version_1(header: Sequence[str], separator: str, where: str, rules: Rules | None) -> Layout:
    labels: Labels = "both" if any(LABEL in cell for cell in header) else _labels(header[1:], rules)
    fields = [Field("DATAFLOW", 0, label=LABEL if labels == "both" else None)]
    fields += _components(header, 1, labels, where, rules)
    _check_unique(fields, where)
    return Layout("1.0", labels, separator, None, tuple(header), tuple(fields))


def _of_version_2(
    header: tuple[str, ...], separator: str, sub_separator: str | None, where: str, rules: Rules | None
) -> Layout:
    if len(header) < 2 or header[1] != "STRUCTURE_ID":
        found = repr(header[1]) if len(header) > 1 else "missing"
        raise DatasetError(f"reading {where} as SDMX-CSV 2.0: its second column must be STRUCTURE_ID, but is {found}")
    names = [cell for cell in header[2:] if cell not in {"ACTION", *_KEYS}]
    labels: Labels = "both" if any(map(_is_both, names)) else _labels(names, rules)
    start = 2
    if header[2:3] == ("STRUCTURE_NAME",):
        labels, start = "name", 3
    fields = [Field("STRUCTURE", 0), Field("STRUCTURE_ID", 1, label=LABEL if labels == "both" else None)]
    if header[start : start + 1] and header[start] == "ACTION":
        fields.append(Field("ACTION", start))
        start += 1
    deletes = rules is not None and rules.action == "delete"
    may_delete = fields[-1].name == "ACTION" or deletes
    while start < len(header) and header[start] in _KEYS:
        # A deletion must not be wider than its key, so validation compares them.
        fields += [Field(header[start], start)] if may_delete else []
        start += 1
    fields += _components(header, start, labels, where, rules, sub_separator)
    _check_unique(fields, where)
    several = [field.name for field in fields if field.form != "text"]
    if several and sub_separator is None:
        sub_separator = _between_languages(header)
    if several and sub_separator is None:
        raise DatasetError(
            f"reading {where}: {', '.join(several)} may have several values, but the header does not name the "
            "separator; its first cell must be like STRUCTURE[;]"
        )
    if sub_separator is not None and sub_separator in {separator, '"'}:
        raise DatasetError(f"reading {where}: {sub_separator!r} cannot separate both cells and values within a cell")
    return Layout("2.0", labels, separator, sub_separator, tuple(header), tuple(fields), deletes)


def _between_languages(header: Sequence[str]) -> str | None:
    """Return the separator in headers such as ``ATTR[en;fr]``; None if there is no separator, or several differ.

    Example 14 of field guide 2.1 names the separator only there, although its text requires it in the first cell.
    """
    listed = [
        found["languages"][1:-1] for cell in header if (found := _COMPONENT.fullmatch(cell)) and found["languages"]
    ]
    between = set(_LANGUAGE_TAG.sub("", "".join(listed)))
    return between.pop() if len(between) == 1 else None


def _is_both(cell: str) -> bool:
    found = _COMPONENT.fullmatch(cell)
    return found is not None and found["label"] is not None and LABEL in cell


def _labels(cells: Sequence[str], rules: Rules | None) -> Labels:
    """Return "both" if header cells are ids and names without a blank between them (``FREQ:Frequency``), else "id".

    The names of the file's own columns may contain colons, too. Therefore an id must be a component of the rules;
    without rules, all cells must have this form.
    """
    ids = [found["id"] for cell in cells if (found := _COMPONENT.fullmatch(cell)) and found["label"]]
    if rules is None:
        return "both" if ids and len(ids) == len(cells) else "id"
    return "both" if any(rules.column(id_) is not None for id_ in ids) else "id"


def _plain_field(cell: str, position: int, labels: Labels, known: Mapping[str, Column]) -> Field:
    column = known.get(cell)
    if labels == "both" and column is None:
        column = known.get(cell.partition(CODE_LABEL)[0])
    if column is None:
        return Field(cell, position)
    return Field(column.id, position, label=_label(column, labels), is_number=_is_number(column))


def _components(
    header: Sequence[str], start: int, labels: Labels, where: str, rules: Rules | None, sub_separator: str | None = None
) -> Iterator[Field]:  # fmt: skip
    if labels != "id" and rules is None:
        raise UsageError(
            f"reading {where}: it has names and ids, but it is unclear which cells are codes; give the rules of "
            "its structure (compile_rules(...))"
        )
    known = {} if rules is None else {column.id: column for column in rules.columns}
    positions = iter(range(start, len(header)))
    for position in positions:
        term = _term(header[position])
        column = known.get(term.id)
        has_name = labels == "name" and (column is not None or _is_named(header, position, known))
        name = next(positions, None) if has_name else None
        found = _field(header[position], term, position, labels, column)
        if sub_separator is not None and _has_several_labels(found, column):
            found = replace(found, form="values")
        yield replace(found, name_position=name)
        # The column of the name is left out.
        if column is not None and name is not None and _term(header[name]).id in known.keys() - {column.id}:
            raise DatasetError(
                f"reading {where}: with STRUCTURE_NAME, a column of names must follow each component, but "
                f"{column.id} is followed by the component {header[name]}"
            )


def _is_named(header: Sequence[str], position: int, known: Mapping[str, Column]) -> bool:
    """Return whether the name of a component that the rules lack follows it: a title that cannot be an id.

    Titles of names may be empty, or equal to others; only those of components and of the file's own columns differ.
    """
    id_, title = header[position], "".join(header[position + 1 : position + 2])
    if not _is_id(id_) or position + 1 == len(header) or _term(title).id in known:
        return False
    return title == id_ or not _is_id(title)


def _is_id(cell: str) -> bool:
    """Return whether a header cell can be the id of a component alone."""
    found = _COMPONENT.fullmatch(cell)
    return found is not None and found["label"] is None


def _term(cell: str) -> _Term:
    found = _COMPONENT.fullmatch(cell)
    if found is None:
        return _Term(cell, "text", None)
    forms: dict[tuple[bool, bool], Form] = {
        (False, False): "text",
        (True, False): "values",
        (False, True): "languages",
        (True, True): "values in languages",
    }
    return _Term(found["id"], forms[bool(found["many"]), bool(found["languages"])], found["label"])


def _field(cell: str, term: _Term, position: int, labels: Labels, column: Column | None) -> Field:
    if column is None:
        # The file may have columns of its own with any name; without rules, every column may be a component.
        return Field(term.id if term.label is None else cell, position, term.form)
    form = term.form
    if form == "languages" and column.is_multi_valued:
        form = "values in languages"
    return Field(column.id, position, form, _label(column, labels), _is_number(column))


def _has_several_labels(field: Field, column: Column | None) -> bool:
    """Return whether cells may have several codes with names, although the header lacks ``[]`` after the id.

    In such a cell, all codes after the first would otherwise be a part of the first one's name.
    """
    return field.form == "text" and field.label is not None and column is not None and column.is_multi_valued


def _label(column: Column, labels: Labels) -> str | None:
    """Return the separator between codes and names in the cells of a column; None if the cells have no names.

    The separator includes a blank if the values themselves may contain colons, as in value lists and periods.
    """
    if labels != "both" or (column.enumeration is None and not column.is_time):
        return None
    return LABEL if column.enumeration is None or column.enumeration.cls == "ValueList" else CODE_LABEL


def _is_number(column: Column | None) -> bool:
    return column is not None and column.enumeration is None and column.text_type in _NUMBERS


def _check_unique(fields: Sequence[Field], where: str) -> None:
    twice = sorted(name for name, count in Counter(field.name for field in fields).items() if count > 1)
    if twice:
        raise DatasetError(f"reading {where}: there is more than one column {', '.join(map(_shown, twice))}")


def _shown(name: str) -> str:
    return name or "without a name"
