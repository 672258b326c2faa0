"""Tables with a column for each period, as Fusion registries write and read them ("Fusion-Excel Default").

A sheet may begin with a header section: rows of a component and its value for the whole sheet. The data section follows
after a blank row: a row of titles, which are components and periods, and a row for each series. The frequency may be
left out, if the periods show it. Other rows and columns are comments for human readers.

Source: the rules of the format that the public wiki of the registry states; it is not a format of the standard.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

from kafka_replica.data.validation.frequency import WRITTEN
from kafka_replica.data.validation.model import Rules
from kafka_replica.sdmx.values.periods import period

SheetRow: TypeAlias = tuple[int, Mapping[int, str]]
"""The number of a row on its sheet, from 1, and its texts by column, from 0."""

MOST_ROWS_ABOVE: Final = 1_000
"""The number of rows, not counting blank ones, among which the row of titles must be."""

_FREQUENCIES: Final = [(letter, re.compile(WRITTEN[letter])) for letter in "ASTQMWD"]
"""The frequency that the form of a period implies. A date-time implies none."""


class Components(NamedTuple):
    """The ids of components; those of the time dimension and the measure are not in ``known``."""

    known: frozenset[str]
    dimensions: frozenset[str]
    frequency: str | None
    time: str
    measure: str


class TitleRow(NamedTuple):
    """The row of titles.

    Attributes:
        number: its number on the sheet.
        periods: the titles that are periods, by column.
        others: the other titles, by column.
        fixed: the values of the header section, by component.
        components: the components of the structure.
    """

    number: int
    periods: Mapping[int, str]
    others: Mapping[int, str]
    fixed: Mapping[str, str]
    components: Components


class Observations(NamedTuple):
    """The observations of a sheet as a table with one row each.

    Attributes:
        header: the titles of its columns.
        rows: its rows, with the numbers of the rows on the sheet.
    """

    header: Sequence[str]
    rows: Iterator[tuple[int, Sequence[str]]]


class _Candidate(NamedTuple):
    """A row that has dimensions and periods: titles, or a row of the header section whose value is like a period."""

    at: int
    periods: int
    missing: frozenset[str]
    may_be_section: bool


def title_row(rows: Sequence[SheetRow], rules: Rules) -> TitleRow | None:
    """Return the row of titles of a sheet that has a column for each period; None if it is not such a sheet.

    The row and the header section above it have each dimension of the series. A row with a dimension and a period may
    also belong to the header section; if another such row follows after a blank row, that one has the titles.

    Args:
        rows: the first rows of the sheet that are not blank.
        rules: the rules of the structure, which must have a time dimension and one measure.

    Raises:
        ValueError: a row of several periods lacks a dimension, the header section gives a component two values, or two
            columns have one title.
    """
    components = _components(rules)
    if components is None or {components.time, components.measure} & {*rows[0][1].values()}:
        return None
    candidates = _candidates(rows, components)
    complete = [candidate for candidate in candidates if not candidate.missing]
    if not complete:
        _refuse_missing(rows, candidates)
        return None
    chosen = complete[0]
    if chosen.may_be_section:
        after_blank = (one for one in complete[1:] if rows[one.at][0] > rows[one.at - 1][0] + 1)
        chosen = next(after_blank, chosen)
    number, titles = rows[chosen.at]
    repeated = next((title for title, count in Counter(titles.values()).items() if count > 1), None)
    if repeated is not None:
        raise ValueError(f"row {number}: two columns have the title {repeated[:40]!r}")
    periods = {at: title for at, title in titles.items() if title not in components.known and _is_period(title)}
    others = {at: title for at, title in titles.items() if at not in periods}
    return TitleRow(number, periods, others, _header_section(rows[: chosen.at], components), components)


def observations_of(titles: TitleRow, rows: Iterable[SheetRow]) -> Observations:
    """Return the observations of a sheet that has a column for each period.

    A cell without a value is not an observation. A component without a column, or whose cell is empty, has the value
    of the header section. Columns whose title is neither a component nor a period are kept, those without a title are
    left out. A series without an observation is left out.

    Args:
        titles: the row of titles.
        rows: the rows after it that are not blank.
    """
    components = titles.components
    others, fixed = titles.others, titles.fixed
    above = {name: value for name, value in fixed.items() if name not in others.values()}
    derived = {components.frequency} - {None, *others.values(), *above}
    header = [*(one or "" for one in derived), *above, *others.values(), components.time, components.measure]

    def observations() -> Iterator[tuple[int, Sequence[str]]]:
        for number, row in rows:
            series = [*above.values(), *(row.get(at) or fixed.get(title, "") for at, title in others.items())]
            for at, title in titles.periods.items():
                if at in row:
                    yield number, [*([_frequency(title)] if derived else []), *series, title, row[at]]

    return Observations(header, observations())


def _components(rules: Rules) -> Components | None:
    time = [column.id for column in rules.columns if column.is_time]
    measures = [column.id for column in rules.columns if column.kind == "measure"]
    if len(time) != 1 or len(measures) != 1:
        return None
    known = frozenset(column.id for column in rules.columns) - {time[0], measures[0]}
    return Components(known, frozenset(rules.series), rules.frequency, time[0], measures[0])


def _candidates(rows: Sequence[SheetRow], components: Components) -> list[_Candidate]:
    found = []
    given = {components.frequency}
    for at, (_, row) in enumerate(rows):
        texts = [row[column] for column in sorted(row)]
        if not components.dimensions.isdisjoint(texts):
            ids = sum(text in components.known for text in texts)
            periods = sum(text not in components.known and _is_period(text) for text in texts)
            if periods:
                may_be_section = ids == 1 and texts[0] in components.known
                found.append(_Candidate(at, periods, components.dimensions - given - {*texts}, may_be_section))
        if len(texts) > 1:
            given.add(texts[0])
    return found


def _refuse_missing(rows: Sequence[SheetRow], candidates: Sequence[_Candidate]) -> None:
    """Raise ValueError if a row is obviously intended as titles, so that no sheet is left out silently."""
    for candidate in candidates:
        if candidate.periods > 1:
            raise ValueError(
                f"row {rows[candidate.at][0]}: titles are periods, but neither a title nor a row above gives the "
                f"dimension {', '.join(sorted(candidate.missing))}; add a column for it, or above the titles a row of "
                "it and its value"
            )


def _header_section(rows: Sequence[SheetRow], components: Components) -> dict[str, str]:
    fixed: dict[str, str] = {}
    for number, row in rows:
        name, *values = (row[at] for at in sorted(row))
        if name in components.known and values and fixed.setdefault(name, values[0]) != values[0]:
            raise ValueError(f"row {number}: {name} has a second value: {fixed[name][:40]!r} and {values[0][:40]!r}")
    return fixed


def _is_period(text: str) -> bool:
    """Return whether a text is a period, or a time range (a date and a duration)."""
    return period(text.partition("/")[0]) is not None


def _frequency(title: str) -> str:
    return next((letter for letter, form in _FREQUENCIES if form.fullmatch(title)), "")
