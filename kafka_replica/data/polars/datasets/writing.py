"""Write a polars frame as SDMX-CSV."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Literal

import polars as pl

from kafka_replica.common.wording import reason_of
from kafka_replica.data.files import Collected, Keys, Labels, Names, TimeFormat
from kafka_replica.data.files.csv_layout import FORMS, Form
from kafka_replica.data.files.csv_output_layout import (
    HAS_ACTION,
    NO_ACTION,
    OutputColumn,
    OutputLayout,
    output_layout_of,
)
from kafka_replica.data.files.period_normalization import normalization_for
from kafka_replica.data.polars.datasets.csv_cells import cell_of, name_of
from kafka_replica.data.polars.datasets.period_normalization import has_times, with_days
from kafka_replica.data.polars.sdmx_texts import as_text, shape_of
from kafka_replica.data.polars.spilled_frames import SpilledFrames
from kafka_replica.data.validation.actions import Action
from kafka_replica.data.validation.model import ACTION, Rules
from kafka_replica.errors import UsageError

_DEPTHS: Final[Mapping[Form, int]] = {"languages": 1, "values in languages": 2}
"""The forms with texts by language, and the number of lists around each text."""
_ROW: Final = "__row"


def write_sdmx_csv(
    frame: pl.DataFrame,
    path: str | Path,
    rules: Rules,
    *,
    version: Literal["1.0", "2.0"] = "2.0",
    action: Action = "information",
    labels: Labels = "id",
    names: Names | None = None,
    keys: Keys = "none",
    time_format: TimeFormat = "original",
    collected: Collected = "start",
    separator: str = ",",
    sub_separator: str = ";",
    byte_order_mark: bool = False,
) -> None:
    """Write a frame as an SDMX-CSV file in UTF-8; an existing file is replaced.

    The structure's components come first, in the structure's order, then other columns; columns whose names begin with
    ``_`` are left out. Values are written in the form that validation compares: 5.0 is ``5``.

    Args:
        frame: one row per observation, one column per component.
        path: the file.
        rules: the rules of the rows' artefact.
        version: 2.0 (which readers of 2.1 accept as well) or 1.0.
        action: the action of rows without one in ``ACTION``.
        labels: whether names are written, after ids or in separate columns.
        names: the names, from ``kafka_replica.data.files.names_of``.
        keys: whether SERIES_KEY, OBS_KEY or both are written. They contain periods as recorded.
        time_format: ``normalized`` writes periods as calendar days, or as date-times if any row has one.
        collected: the point that represents a period when it is normalized.
        separator: the separator of cells.
        sub_separator: the separator of values within a cell.
        byte_order_mark: whether the file begins with a byte order mark, as some spreadsheets require.

    Raises:
        UsageError: SDMX-CSV cannot represent the frame, or the file cannot be written.
    """
    cells = _CellTexts(frame, rules, collected if time_format == "normalized" else None)
    layout = output_layout_of(
        rules, cells.forms, version=version, action=action, labels=labels, names=names, keys=keys,
        sub_separator=sub_separator, languages=languages_in([frame], cells.forms), time_format=time_format,
        collected=collected,
    )  # fmt: skip
    written = cells.columns(frame, layout, timed=cells.has_times(frame))
    with _reported_errors(path):
        written.write_csv(path, separator=separator, include_bom=byte_order_mark)


@contextmanager
def _reported_errors(path: str | Path) -> Iterator[None]:
    """Translate the errors of a block that writes a file.

    Raises:
        UsageError: the file cannot be written.
    """
    try:
        yield
    except OSError as error:
        raise UsageError(f"writing {path}: {reason_of(error)}") from error


class SdmxCsvFile:
    """An SDMX-CSV file to which frames with the same columns are written one after the other.

    If the header or the form of periods depends on all frames, they are kept until the file is closed, and written
    then.
    """

    def __init__(
        self, path: Path, empty_frame: pl.DataFrame, rules: Rules, kept: SpilledFrames, time_format: TimeFormat
    ) -> None:
        """Create the file; an existing file is replaced.

        Args:
            path: the file.
            empty_frame: a frame without rows that has the columns.
            rules: the rules of the rows' artefact.
            kept: stores frames that must be kept.
            time_format: the format of periods.

        Raises:
            UsageError: SDMX-CSV cannot represent the columns, or the file cannot be written.
        """
        self._path, self._rules, self._kept = path, rules, kept
        self._time_format: TimeFormat = time_format
        self._cells = _CellTexts(empty_frame, rules, "start" if time_format == "normalized" else None)
        self._timed = False
        self._languages: dict[str, list[str]] = {}
        self._waits = self._cells.days is not None or not _DEPTHS.keys().isdisjoint(self._cells.forms.values())
        with _reported_errors(path):
            self._file = path.open("wb")
        self._layout: OutputLayout | None = None
        self._empty_frame = empty_frame

    def write(self, frame: pl.DataFrame, *, is_plain: bool = False) -> None:
        """Write a frame.

        Args:
            frame: the frame.
            is_plain: whether the frame consists of texts, of which none is empty or has a comma, quote or line break.

        Raises:
            UsageError: the file cannot be written.
        """
        if not self._waits:
            self._write(frame, is_plain=is_plain and {*self._cells.forms.values()} <= {"text"})
            return
        self._kept.add(frame)
        self._timed = self._timed or self._cells.has_times(frame)
        for name, found in languages_in([frame], self._cells.forms).items():
            self._languages[name] = sorted({*self._languages.get(name, ()), *found})

    def close(self) -> None:
        """Write the rows that were kept, and close the file.

        Raises:
            UsageError: the file cannot be written.
        """
        for frame in self._kept.frames() if self._waits else ():
            self._write(frame)
        if self._layout is None:
            self._write(self._empty_frame)
        self._file.close()

    def abandon(self) -> None:
        """Close the file without writing rows that were kept."""
        self._file.close()

    def _write(self, frame: pl.DataFrame, *, is_plain: bool = False) -> None:
        is_first = self._layout is None
        if self._layout is None:
            self._layout = output_layout_of(
                self._rules, self._cells.forms, action=self._rules.action, languages=self._languages,
                time_format=self._time_format,
            )  # fmt: skip
        written = self._cells.columns(frame, self._layout, timed=self._timed)
        with _reported_errors(self._path):
            if is_first:
                written.clear().write_csv(self._file)
            if is_plain:
                written.write_csv(self._file, include_header=False, quote_style="never")
            else:
                self._file.write(_rows_of(written))


def _rows_of(texts: pl.DataFrame) -> bytes:
    """Return rows of texts as CSV without a header, with the same result as polars' ``write_csv``.

    Writing without quotes takes less than half the time; the numbers of separators and line ends show whether the
    result is the same.
    """
    if not texts.height:
        return b""
    has_empty = texts.select(pl.any_horizontal((pl.all() == "").any())).item()
    if not has_empty:
        plain = io.BytesIO()
        texts.write_csv(plain, include_header=False, quote_style="never")
        data = plain.getvalue()
        commas, lines = texts.height * (texts.width - 1), texts.height
        if not (b'"' in data or b"\r" in data) and (data.count(b","), data.count(b"\n")) == (commas, lines):
            return data
    return texts.write_csv(include_header=False).encode()


class _CellTexts:
    """The texts of a frame's columns, as expressions."""

    def __init__(self, frame: pl.DataFrame, rules: Rules, collected: Collected | None) -> None:
        kinds = frame.schema  # stored, because polars builds a new schema on each access
        self.forms: dict[str, Form] = {
            name: _form(name, kind)
            for name, kind in kinds.items()
            if not name.startswith("_") or rules.column(name) is not None
        }
        self.texts = {name: as_text(name, kinds[name]) for name in self.forms}
        self.days = None if collected is None else normalization_for(rules, self.forms, collected)

    def has_times(self, frame: pl.DataFrame) -> bool:
        """Return whether periods are normalized, and any of them is a date-time."""
        return self.days is not None and has_times(frame, self.texts, self.days)

    def columns(self, frame: pl.DataFrame, layout: OutputLayout, *, timed: bool) -> pl.DataFrame:
        """Return a frame with the cells of the columns of the file.

        Raises:
            UsageError: a row has an action that version 1.0 cannot represent.
        """
        if not layout.has_actions and ACTION in self.texts:
            self._check_actions(frame)
        shown = self.texts if self.days is None else with_days(frame, self.texts, self.days, timed=timed)
        rows = pl.Series(_ROW, range(frame.height))  # literals alone would be one row, whatever the number of rows
        columns = [
            _column(column, layout, self.texts if column.content == "key" else shown).alias(column.header)
            for column in layout.columns
        ]
        return frame.select(rows, *columns).drop(_ROW)

    def _check_actions(self, frame: pl.DataFrame) -> None:
        if not frame.select(self.texts[ACTION].is_in(list(NO_ACTION)).all()).item():
            raise UsageError(HAS_ACTION)


def languages_in(frames: Iterable[pl.DataFrame], forms: Mapping[str, Form]) -> dict[str, list[str]]:
    """Return the languages of the texts in each column with texts by language."""
    depths = {name: _DEPTHS[form] for name, form in forms.items() if form in _DEPTHS}
    found: dict[str, set[str]] = {name: set() for name in depths}
    for frame in frames:
        for name, depth in depths.items():
            texts = frame[name]
            for _ in range(depth):
                texts = texts.explode()
            found[name].update(texts.struct.field("language").drop_nulls().unique())
    return {name: sorted(languages, key=str.encode) for name, languages in found.items()}


def _form(name: str, kind: pl.DataType) -> Form:
    shape = shape_of(kind)
    if shape in FORMS:
        return FORMS[shape]
    if isinstance(kind, pl.List) and isinstance(kind.inner, pl.List) and shape_of(kind.inner) == "languages":
        return "values in languages"
    raise UsageError(f"writing SDMX-CSV: column {name} holds {kind}, which SDMX cannot represent; remove it")


def _column(column: OutputColumn, layout: OutputLayout, texts: dict[str, pl.Expr]) -> pl.Expr:
    if column.content == "constant":
        return pl.lit(column.source)
    if column.content == "action":
        return pl.col(ACTION).fill_null(layout.action) if ACTION in texts else pl.lit(layout.action)
    if column.content == "key":
        return _key([texts[part] for part in column.parts])
    if column.content == "label":
        return name_of(texts[column.source], column.form, layout.sub_separator, column.names or {})
    return cell_of(column.source, column.form, texts[column.source], layout.sub_separator, column.names)


def _key(texts: list[pl.Expr]) -> pl.Expr:
    """Join values with dots."""
    return pl.concat_str([text.fill_null("") for text in texts], separator=".") if texts else pl.lit(None, pl.String)
