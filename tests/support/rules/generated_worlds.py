"""Random structures with constraints, and random data for them, on which engines must agree."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any, Final, NamedTuple

import polars as pl

from kafka_replica.data.validation import Rules
from support.rules.structures_by_hand import (
    AGREEMENT,
    FLOWS,
    attribute,
    coded,
    codelist,
    constraint,
    dimension,
    extension,
    group,
    keys,
    measure,
    region,
    rules_of,
    selected,
    structure,
    text,
    time,
    value_list,
    version_of,
)

AREAS: Final = ("EU", "AT<EU", "W<AT", "W1<W", "DE<EU", "BE<DE", "US", "CA<US")
FLAGS: Final = ("A", "B", "C", "_Z")
VALUES: Final = ("¥", "x|y", "a,b", "é", "ﬁ", "𝄞", " ")
NUMBERS: Final = (
    "0", "-0", "1", "7", "-3", "+1", "1.50", "-.5", "5.", "1e3", "1E-7", "NaN", "INF", "-INF", "99999999999999999999",
    "2147483648", "32768", "true", "false", "TRUE", "007", "1d",
)  # fmt: skip
PERIODS: Final = (
    "2019", "2020", "2020-01", "2020-02-29", "2021-02-29", "2020-Q4", "2020-Q5", "2020-W53", "2021-W53", "2020-D366",
    "2020-A1", "2020-S2", "2020-M12", "2020-06-30T24:00:00", "2020-01-01/P1Y", "2021", "2022-T1", "2023-03", "~",
    "2020Z",
)  # fmt: skip
ODD: Final = (
    "", " ", "ab", "ABC", "A1", "a\n", "é", "e\u0301", "ß", "İ", "𝄞", "٣", "\u00a0", "\u200b", "\x1f", "\\", "%", "x;y",
    "--02-29", "P1Y", "12:00:00", "#N/A", "a" * 60,
)  # fmt: skip
TEXT_TYPES: Final = (
    "String", "Alpha", "AlphaNumeric", "Numeric", "Integer", "Long", "Short", "BigInteger", "Decimal", "Float",
    "Double", "Boolean", "Count", "Incremental", "InclusiveValueRange", "ExclusiveValueRange", "URI",
    "ObservationalTimePeriod", "GregorianDay", "GregorianYear", "ReportingQuarter", "DateTime", "TimeRange", "MonthDay",
    "Time", "Duration",
)  # fmt: skip
MEASURES: Final = ("Double", "Float", "Decimal", "Integer", "Long", "Short", "BigInteger", "Count", "Boolean", "String")
PATTERNS: Final = ("[A-Z]{1,3}", "\\i\\c*", "[^a-c\\d]+|\\w{2}", "(a|b)*", "^A.*|.*é$", "\\p{L}+", ".{0,2}")


class World(NamedTuple):
    """Rules, and a frame that follows and breaks them."""

    rules: Rules
    frame: pl.DataFrame


class _Component(NamedTuple):
    """A component: its XML, its values, and whether a row may have several of them."""

    id: str
    content: str
    values: tuple[str, ...]
    is_list: bool = False


def generated_world(seed: int) -> World:
    """Draw a structure with constraints on all levels, and rows of which about half break something."""
    source = random.Random(seed)
    dimensions = [
        _Component("FREQ", dimension("FREQ", coded("FREQ")), ("A", "Q", "M", "D", "W", "_Z")),
        _Component("AREA", dimension("AREA", coded("AREA")), _codes(AREAS)),
        _Component("SEX", dimension("SEX", source.choice([text("AlphaNumeric"), coded("FLAG")])), ("A", "B", "F1")),
        _Component("TIME_PERIOD", time(text("ObservationalTimePeriod", **_times(source))), PERIODS),
    ]
    others = [_attribute(source, f"X{number}") for number in range(source.randrange(2, 6))]
    others += [_measure(source, f"OBS_VALUE{number or ''}") for number in range(source.randrange(1, 3))]
    contents = (
        codelist("AREA", AREAS), codelist("FLAG", FLAGS),
        codelist("FREQ", ["A", "S", "Q", "M", "W", "D", "_Z"]), codelist("MORE", ["OWN"], extension("AREA", "X_")),
        value_list("VL", [value for value in VALUES if value != " "]),
        structure(*(one.content for one in [*dimensions, *others]), group("SIBLING", "AREA", "SEX")), FLOWS,
        *_constraints(source, others),
    )  # fmt: skip
    settings: dict[str, Any] = {"as_of": date(2020, 6, 1), "action": source.choice(["information", "append", "merge"])}
    if source.random() < 0.3:
        settings["rules"] = {"duplicate-key": source.choice(["off", "warning"]), "text-type": "warning"}
    return World(rules_of(version_of(*contents), AGREEMENT, **settings), _frame(source, [*dimensions, *others]))


def _codes(codes: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(code.partition("<")[0] for code in codes)


def _times(source: random.Random) -> dict[str, str]:
    return source.choice([{}, {}, {"startTime": "2020"}, {"startTime": "2000-Q1", "endTime": "2020-06"}])


def _facets(source: random.Random) -> dict[str, Any]:
    return source.choice([
        {}, {"minValue": "-1", "maxValue": "100"}, {"minLength": 1, "maxLength": 3}, {"decimals": 1},
        {"isSequence": "true", "interval": "0.5", "startValue": "-1"}, {"pattern": source.choice(PATTERNS)},
        {"pattern": source.choice(PATTERNS), "maxLength": 5}, {"startTime": "2000-Q1", "endTime": "2020"},
        {"isSequence": "true", "timeInterval": "P6M", "startTime": "1999"},
    ])  # fmt: skip


def _attribute(source: random.Random, id_: str) -> _Component:
    to = source.choice(["", "", "", "AREA,SEX", "AREA", "GROUP:SIBLING", "DATASET"])
    is_list = source.random() < 0.3
    least, most = source.choice([(0, 3), (2, 3), (1, "unbounded")])
    occurs = f'minOccurs="{least}" maxOccurs="{most}"' if is_list else ""
    sentinels = ["-9", "none"] if source.random() < 0.2 else []
    representation, values = source.choice([
        (coded("FLAG"), FLAGS), (coded("MORE"), ("OWN", "X_AT", "X_W", "AT")), (coded("VL", "ValueList"), VALUES),
        (text(source.choice(TEXT_TYPES), sentinels, **_facets(source)), (*NUMBERS, *ODD[:12], "-9", "none")),
        (text(minLength=1, maxLength=2), ODD), (text(pattern=source.choice(PATTERNS)), ODD),
        (text("Decimal", minValue="-1", maxValue="1.5", decimals=1), NUMBERS),
        (text(source.choice(TEXT_TYPES), **_facets(source)), (*PERIODS, *ODD)),
    ])  # fmt: skip
    usage = source.choice(["optional", "mandatory"])
    return _Component(id_, attribute(id_, representation, to, usage, occurs), tuple(values), is_list)


def _measure(source: random.Random, id_: str) -> _Component:
    facets: dict[str, Any] = source.choice([{}, {"minValue": 0}, {"decimals": 2}])
    representation = text(source.choice(MEASURES), **facets)
    return _Component(id_, measure(id_, representation, source.choice(["optional", "mandatory"])), NUMBERS)


# Constraints


def _constraints(source: random.Random, others: list[_Component]) -> Iterator[str]:
    places = ("DataStructure", "Dataflow", "ProvisionAgreement", "DataProvider")
    for number in range(source.randrange(4)):
        kind = source.random()
        if kind < 0.7:
            body = "".join(_region(source, others) for _ in range(source.choice([1, 1, 2])))
        else:
            body = keys(
                *(_key(source) for _ in range(source.randrange(1, 4))), included=source.choice(["true", "false"])
            )
        yield constraint(body, source.choice(places), f"C{number}")


def _region(source: random.Random, others: list[_Component]) -> str:
    """Return a region: codes with descendants, validity and wildcards, an attribute, a time range."""
    areas = [
        f"{code}{source.choice(['', '', '+', '-', '@2019/2020', '@2020-03'])}" for code in _some(source, _codes(AREAS))
    ]
    parts = [selected("AREA", *areas, more=source.choice(["", "", 'include="false"']))] if source.random() < 0.8 else []
    if source.random() < 0.3:
        parts.append(selected("SEX", source.choice(["A", "%", "F%"])))
    if source.random() < 0.4:
        one = source.choice(others)
        kept = [value for value in one.values if value.isalnum() and value.isascii()]
        parts += [selected(one.id, *_some(source, kept), kind="Component")] if kept else []
    if source.random() < 0.4 or not parts:
        start, end = (f'isInclusive="{source.choice(["true", "false"])}"' for _ in range(2))
        inner = source.choice([
            f"<s:StartPeriod {start}>2020-02</s:StartPeriod><s:EndPeriod {end}>2021</s:EndPeriod>",
            f"<s:AfterPeriod {start}>2020-Q2</s:AfterPeriod>", f"<s:BeforePeriod {end}>2020-07-01</s:BeforePeriod>",
        ])  # fmt: skip
        parts.append(f'<s:KeyValue id="TIME_PERIOD"><s:TimeRange>{inner}</s:TimeRange></s:KeyValue>')
    return region(*parts, include=source.choice(["true", "true", "false"]))


def _key(source: random.Random) -> dict[str, str]:
    key = {"AREA": source.choice([*_codes(AREAS), "%"]), "SEX": source.choice(["A", "B", "%"])}
    for name in list(key)[: source.randrange(2)]:
        del key[name]
    return key


def _some(source: random.Random, values: Any) -> list[str]:
    return source.sample(list(values), source.randrange(1, min(4, len(values)) + 1))


# Data


def _frame(source: random.Random, components: list[_Component]) -> pl.DataFrame:
    """Return rows of the components: texts, typed columns and lists; some columns are missing, and some unknown."""
    height = source.randrange(200, 300)
    columns: dict[str, pl.Series] = {"_row": pl.Series(range(height), dtype=pl.Int64)}
    for one in components:
        if source.random() < 0.07:
            continue
        is_dimension = one.content.startswith(("<s:Dim", "<s:Tim"))
        if one.is_list or (not is_dimension and source.random() < 0.05):
            columns[one.id] = pl.Series([_list(source, one) for _ in range(height)], dtype=pl.List(pl.String))
        elif not is_dimension and source.random() < 0.35:
            columns[one.id] = _typed(source, height)
        else:
            few = _some(source, one.values)
            columns[one.id] = pl.Series([_text(source, one, few) for _ in range(height)], dtype=pl.String)
    if source.random() < 0.3:
        columns["ACTION"] = pl.Series(source.choices([None, "I", "A", "D", "M", "R", "x"], k=height), dtype=pl.String)
    if source.random() < 0.2:
        columns["OTHER"] = pl.Series(["?"] * height)
    if source.random() < 0.2:
        columns["SERIES_KEY"] = pl.Series(source.choices([None, "A.AT.A", "A..A", ".."], k=height), dtype=pl.String)
    if source.random() < 0.2:
        columns["STRUCTURE"] = pl.Series(source.choices([None, "Dataflow", "dataprovision"], k=height), dtype=pl.String)
    return pl.DataFrame(columns)


def _text(source: random.Random, one: _Component, few: list[str]) -> str | None:
    """Return mostly one of few values, so that keys and attributes repeat."""
    pick = source.random()
    if pick < 0.05:
        return None
    return source.choice(few) if pick < 0.7 else source.choice(one.values if pick < 0.9 else ODD)


def _list(source: random.Random, one: _Component) -> list[str | None] | None:
    if source.random() < 0.1:
        return None
    return [source.choice([None, *one.values, *one.values, *ODD[:3]]) for _ in range(source.randrange(4))]


_DAY: Final = datetime(2020, 1, 1, tzinfo=UTC)
_KINDS: Final[tuple[tuple[pl.DataType, Callable[[random.Random], Any]], ...]] = (
    (pl.Float64(), lambda source: source.choice([
        0.0, -0.0, 1.5, -3.0, 7.0, 1e-7, 4e-5, 1e7, 12345678.5, 1e16, 1.5e22, math.nan, math.inf, -math.inf])),
    (pl.Int64(), lambda source: source.choice([0, 1, -3, 7, 32768, 2**31, 2**63 - 1])),
    (pl.Decimal(20, 4), lambda source: Decimal(source.choice(["0", "1.5", "-2.25", "0.0001"]))),
    (pl.Boolean(), lambda source: source.random() < 0.5),
    (pl.Date(), lambda source: _DAY.date() + timedelta(days=source.randrange(-400, 800))),
    (pl.Datetime("us", "UTC"), lambda source: _DAY + timedelta(seconds=source.random() * 1e7)),
)  # fmt: skip


def _typed(source: random.Random, height: int) -> pl.Series:
    kind, draw = source.choice(_KINDS)
    return pl.Series([None if source.random() < 0.15 else draw(source) for _ in range(height)], dtype=kind)
