"""The layout of an SDMX-CSV file to write: its columns, in order and with their headers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, get_args

from kafka_replica.data.files.artefact_names import Names
from kafka_replica.data.files.csv_layout import LABEL, Form, Labels
from kafka_replica.data.files.period_normalization import Collected, TimeFormat
from kafka_replica.data.files.structure_references import kind_of
from kafka_replica.data.validation.actions import SPELLINGS, Action
from kafka_replica.data.validation.binding import NON_COMPONENT_COLUMNS
from kafka_replica.data.validation.model import ACTION, Rules
from kafka_replica.errors import UsageError

Keys: TypeAlias = Literal["none", "series", "obs", "both"]
"""The key columns of SDMX-CSV 2.0 that repeat the key of a row's series, of its observation, both or none."""
CellContent: TypeAlias = Literal["constant", "action", "key", "value", "label"]

NO_ACTION: Final = SPELLINGS["information"]
"""The spellings of the only action that SDMX-CSV 1.0, which has no column for it, can represent."""
HAS_ACTION: Final = (
    "writing SDMX-CSV 1.0: a row has an action other than information, which 1.0 cannot represent; write version 2.0"
)
"""The message for rows that version 1.0 cannot represent."""
_ORDER: Final = {"dimension": 0, "measure": 1, "attribute": 2}


@dataclass(frozen=True, slots=True)
class OutputColumn:
    """A column of the file.

    Attributes:
        header: the header of the column in the file.
        content: the kind of content: a constant, the row's action, a key, a component's value, or the value's name.
        source: the id of the component, or the text of the constant.
        form: the content of its cells.
        parts: the components of a key.
        names: the names by code, which are written after the code, or instead of the code in a column of names.
    """

    header: str
    content: CellContent
    source: str
    form: Form = "text"
    parts: tuple[str, ...] = ()
    names: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class OutputLayout:
    """The layout of a file to write: its columns, and how values and actions are written.

    Attributes:
        columns: the columns, in order.
        sub_separator: the separator of values within a cell.
        action: the action of rows without one.
        has_actions: False in 1.0, where a row whose action is not in :data:`NO_ACTION` must be refused.
    """

    columns: tuple[OutputColumn, ...]
    sub_separator: str
    action: str
    has_actions: bool = True


def output_layout_of(
    rules: Rules,
    columns: Mapping[str, Form],
    *,
    version: Literal["1.0", "2.0"] = "2.0",
    action: Action = "information",
    labels: Labels = "id",
    names: Names | None = None,
    keys: Keys = "none",
    sub_separator: str = ";",
    languages: Mapping[str, Sequence[str]] | None = None,
    time_format: TimeFormat = "original",
    collected: Collected = "start",
) -> OutputLayout:
    """Return the columns of a file: those of the structure first, in its order, then the frame's own.

    Args:
        rules: the rules of the rows' artefact.
        columns: the frame's columns, with the form of their cells. Names that begin with ``_`` are left out.
        version: the version of SDMX-CSV.
        action: the action of rows without one; 2.0 only.
        labels: whether names are written, after ids or in separate columns.
        names: the names, if they are to be written.
        keys: the keys to write; 2.0 only.
        sub_separator: the separator of values within a cell.
        languages: the languages of texts by component, for the header.
        time_format: how periods are written; only validated here.
        collected: the point that represents a period; only validated here.

    Raises:
        UsageError: 1.0 cannot represent the columns, names are missing, or an argument has an unknown value.
    """
    _check_words(version, action, labels, keys, time_format, collected)
    if labels != "id" and names is None:
        raise UsageError(f"writing SDMX-CSV with labels={labels!r}: give names=names_of(structures, urn)")
    if version == "1.0":
        _check_version_1(rules, columns, action, labels, keys)
    order = sorted(rules.columns, key=lambda column: _ORDER[column.kind])
    ids = [column.id for column in order if column.id in columns]
    known = {column.id for column in rules.columns}
    others = [name for name in columns if name not in known | NON_COMPONENT_COLUMNS and not name.startswith("_")]
    several = sub_separator if any(columns[name] != "text" for name in [*ids, *others]) else None
    planned = _structure_columns(rules, version, labels, names, several) + _keys(rules, keys, columns)
    for id_ in ids:
        planned += _component(id_, columns[id_], labels, names, sub_separator, (languages or {}).get(id_, ()))
    planned += [OutputColumn(name, "value", name, columns[name]) for name in others]
    return OutputLayout(_with_unique_headers(planned), sub_separator, _letter(action), version != "1.0")


def _letter(action: Action) -> str:
    return min(SPELLINGS[action], key=len)


def _check_words(version: str, action: str, labels: str, keys: str, time_format: str, collected: str) -> None:
    """Check the values of arguments, because type hints are enforced only by type checkers."""
    for name, value, allowed in (
        ("action", action, SPELLINGS),
        ("labels", labels, get_args(Labels)),
        ("keys", keys, get_args(Keys)),
        ("time_format", time_format, get_args(TimeFormat)),
        ("collected", collected, get_args(Collected)),
    ):
        if value not in allowed:
            raise UsageError(f"writing SDMX-CSV with {name}={value!r}: give one of {', '.join(allowed)}")
    if version not in {"1.0", "2.0"}:
        raise UsageError(f"writing SDMX-CSV with version={version!r}: give 2.0, which is read as 2.1 as well, or 1.0")


def _check_version_1(rules: Rules, columns: Mapping[str, Form], action: str, labels: str, keys: str) -> None:
    several = [name for name, form in columns.items() if form != "text" and not name.startswith("_")]
    what = {
        f"several values in {', '.join(several)}": several,
        "columns of names, or of keys": labels == "name" or keys != "none",
        f"the action {action}": action != "information",
        f"rows of a {rules.artefact.cls}, only of a Dataflow": rules.artefact.cls != "Dataflow",
    }
    for one, is_so in what.items():
        if is_so:
            raise UsageError(f"writing SDMX-CSV 1.0: it cannot represent {one}; write version 2.0")


def _structure_columns(
    rules: Rules, version: str, labels: Labels, names: Names | None, sub_separator: str | None
) -> list[OutputColumn]:
    reference = rules.artefact.reference
    shown = f"{reference}{LABEL}{names.structure}" if labels == "both" and names is not None else reference
    if version == "1.0":
        return [OutputColumn("DATAFLOW", "constant", shown)]
    head = "STRUCTURE" if sub_separator is None else f"STRUCTURE[{sub_separator}]"
    found = [OutputColumn(head, "constant", kind_of(rules.artefact)), OutputColumn("STRUCTURE_ID", "constant", shown)]
    if labels == "name" and names is not None:
        found.append(OutputColumn("STRUCTURE_NAME", "constant", names.structure))
    return [*found, OutputColumn(ACTION, "action", ACTION)]


def _keys(rules: Rules, keys: Keys, columns: Mapping[str, Form]) -> list[OutputColumn]:
    whole = tuple(column.id for column in rules.columns if column.kind == "dimension" and column.id in columns)
    series = tuple(id_ for id_ in rules.series if id_ in columns)
    wanted = {"none": [], "series": ["SERIES_KEY"], "obs": ["OBS_KEY"], "both": ["SERIES_KEY", "OBS_KEY"]}[keys]
    return [OutputColumn(name, "key", name, parts=series if name == "SERIES_KEY" else whole) for name in wanted]


def _component(
    id_: str, form: Form, labels: Labels, names: Names | None, sub_separator: str, languages: Sequence[str]
) -> list[OutputColumn]:
    marks = "[]" if form in {"values", "values in languages"} else ""
    if form in {"languages", "values in languages"}:
        marks += f"[{sub_separator.join(languages or ['en'])}]"
    header = f"{id_}{marks}"
    if labels == "id" or names is None:
        return [OutputColumn(header, "value", id_, form)]
    name, codes = names.components.get(id_, id_), names.codes.get(id_)
    if labels == "both":
        return [OutputColumn(f"{header}{LABEL}{name}", "value", id_, form, names=codes)]
    return [OutputColumn(header, "value", id_, form), OutputColumn(name, "label", id_, form, names=codes or {})]


def _with_unique_headers(columns: Sequence[OutputColumn]) -> tuple[OutputColumn, ...]:
    """Return the columns with unique headers: the component's id is appended to a name that is a header already."""
    taken = {column.header.lower() for column in columns if column.content != "label"}
    found: list[OutputColumn] = []
    for column in columns:
        header = column.header
        if column.content == "label":
            header = f"{header} ({column.source})" if header.lower() in taken else header
            taken.add(header.lower())
        found.append(OutputColumn(header, column.content, column.source, column.form, column.parts, column.names))
    return tuple(found)
