"""Inverse maps."""

from __future__ import annotations

import random
import re
from datetime import date

import pytest

from kafka_replica.data.errors import NotInvertibleError
from kafka_replica.data.mapping import inverse
from kafka_replica.data.polars import transform
from support.mapping.map_cases import dated, one
from support.mapping.maps_by_hand import (
    component_map,
    date_map,
    epoch_map,
    fixed,
    frequency_format,
    named,
    plan_of,
    representation_map,
    structure_map,
)
from support.mapping.turned_maps import turned_map
from support.rules.structures_by_hand import table, version_of


@pytest.mark.parametrize("seed", range(12))
def test_there_and_back(seed: int) -> None:
    """Data mapped and mapped back equals the original data in all columns."""
    contents, rows = turned_map(random.Random(seed))
    frame = table(rows)
    plan = plan_of(version_of(*contents), rules={"ambiguous-key": "off"})
    mapped = transform(frame, plan)
    assert mapped["_errors"].null_count() == mapped.height
    back = transform(mapped.drop("_errors", "_source"), plan, reverse=True)
    assert back["_errors"].null_count() == back.height, back["_errors"].drop_nulls()[0]
    assert back.select(frame.columns).equals(frame)


@pytest.mark.parametrize(
    ("contents", "reason"),
    [
        (one("R", "A>X", "B>X"), "gives several values the same outcome"),
        (one("R", "/(.*)/>x"), "by expressions or substrings"),
        (one("R", "0:2=AB>x"), "by expressions or substrings"),
        (one("R", "A>X", "A>Y"), "several outcomes"),
        (one("R", "A>"), "maps values to nothing"),
        (one("R", "A>x@2000-01-01/"), "depends on time"),
        ((named("S", "A B"), named("G", "A"), structure_map()), "dimension B is lost"),
        ((named("S", "A", timed=False, attributes="WHEN"), named("G", "A"),
          structure_map(date_map("WHEN", "TIME_PERIOD", "dd/MM/yyyy", "A"))), "is less precise than the date in WHEN"),
        ((named("S", "A"), named("G", "A B"), representation_map("R", "1>2"),
          structure_map(component_map("A", "A"), component_map("A", "B", "R"))), "A is mapped by several maps"),
        ((named("S", "A", attributes="N"), named("G", "A", attributes="N"),
          structure_map(component_map("N", "N"), fixed("N", "x"))), "N is set by several maps"),
        ((named("S", "A", measures="M1 M2"), named("G", "A", measures="M1"), structure_map()),
         "measure M2 is lost"),
        ((named("S", "A F"), named("G", "A"), structure_map(fixed("F", "x", "y", side="Source"))),
         "F is fixed to several values"),
    ],
)  # fmt: skip
def test_a_map_that_loses_information_cannot_be_inverted(contents: tuple[str, ...], reason: str) -> None:
    """A map that loses information is refused with the reason, and does not return invented values."""
    with pytest.raises(NotInvertibleError, match=reason):
        inverse(plan_of(version_of(*contents)))


def written(source: str, frequency: str, target: str = "", *, resolve: str = "", locale: str = "en") -> tuple[str, ...]:
    """Return a map of dates read by one pattern and written by another, or as in the standard."""
    formats = [frequency_format(frequency, target)] if target else []
    return dated(date_map("WHEN", "TIME_PERIOD", source, frequency, resolve=resolve, locale=locale), *formats)


def counted(base: str, unit: str, frequency: str) -> tuple[str, ...]:
    """Return a map of dates that are numbers counted from an epoch."""
    return dated(epoch_map("WHEN", "TIME_PERIOD", base, unit, frequency))


LESS = "TIME_PERIOD is less precise than the date in WHEN"


@pytest.mark.parametrize(
    ("contents", "reason"),
    [
        # Without the century; 1 January 1946 is in the week year 1945.
        (written("dd/MM/yyyy", "D", "dd.MM.yy"), LESS),
        (written("'W'ww YY", "D", "dd.MM.yy"), LESS),
        # Without the half of the day, the minute, the second.
        (written("yyyy-MM-dd HH:mm:ss", "I", "yyyy-MM-dd'T'hh:mm:ss"), LESS),
        (written("yyyy-MM-dd HH:mm:ss", "I", "yyyy-MM-dd'T'HH:ss"), LESS),
        (written("yyyy-MM-dd HH:mm:ss", "I", "yyyy-MM-dd'T'HH:mm"), LESS),
        (written("yyyy-MM-dd HH:mm:ss.SSS", "I"), "'yyyy-MM-dd HH:mm:ss.SSS' has fractions of a second"),
        (counted("1970", "millisecond", "I"), "it counts fractions of a second"),
        # Days from noon to noon.
        (counted("2000-01-01T12:00:00", "day", "D"), LESS),
        # Quarters are not contained in trimesters.
        (written("yyyyTn", "Q"), LESS),
        # Without the year; ambiguous ends of a part.
        (written("dd/MM/yyyy", "D", "dd.MM"), LESS),
        (written("dd/MM/yyyy", "D", "MM-dd"), LESS),
        (written("yyyyMM", "M", "MM"), LESS),
        (written("dd/MM/yyyy", "D", "dMyyyy"), LESS),
        (written("dd/MM/yyyy", "D", "yyyy MMMMdd", locale="vi"), LESS),
        # Parts that cannot be written or are not used.
        (written("EEE dd/MM/yyyy", "D"), "weekday name in 'EEE dd/MM/yyyy' cannot be written"),
        (written("dd/MM/yyyy G", "D"), "era in 'dd/MM/yyyy G' cannot be written"),
        (written("yyyy-MM-W", "D"), "week in month in 'yyyy-MM-W' cannot be written"),
        (written("dd/MM/yyyy a", "D"), "'dd/MM/yyyy a' has a part that does not count"),
        (written("yyyy-MM Qn", "Q"), "'yyyy-MM Qn' has a part that does not count"),
    ],
)
def test_date_patterns_that_lose_information_cannot_be_inverted(contents: tuple[str, ...], reason: str) -> None:
    """Date patterns that lose information cannot be inverted: the dates would come back changed."""
    with pytest.raises(NotInvertibleError, match=re.escape(reason)):
        inverse(plan_of(version_of(*contents)))


@pytest.mark.parametrize(
    ("contents", "dates"),
    [
        (written("dd/MM/yy", "D", "dd.MM.yy"), ["18/07/81", "01/01/46", "31/12/45"]),
        (written("yyyy-MM-dd HH:mm:ss", "I", "yyyy-MM-dd hh:mm:ss a"), ["2020-02-29 00:05:09", "2020-02-29 12:00:00"]),
        (written("yyyy-MM-dd hh a", "I", "yyyyMMddHH"), ["2020-02-29 12 AM", "2020-02-29 12 PM", "2020-02-29 11 PM"]),
        (written("yyyy-MM-dd kk:mm", "I", "yyyy-MM-dd'T'HH:mm:ss.SSS"), ["2020-02-29 24:00", "2020-02-29 13:05"]),
        (written("yyyySn", "Q", resolve="midPeriod"), ["2020S1", "2020S2"]),
        (written("YYYY'W'ww", "D", "d.M.yyyy", resolve="startOfPeriod"), ["2020W53", "2020W01"]),
        (written("YYYY'W'ww-u", "D", "d. MMMM yyyy", locale="ja"), ["2020W53-7", "2020W01-1"]),
        (counted("2000-01-01T12:00:00", "day", "I"), ["5", "-5"]),
        (counted("2000-01-01", "day", "D"), ["5", "-5"]),
    ],
)
def test_dates_there_and_back(contents: tuple[str, ...], dates: list[str]) -> None:
    """Dates whose patterns are complete are equal after mapping and mapping back."""
    plan = plan_of(version_of(*contents), as_of=date(2026, 6, 1), rules={"ambiguous-key": "off"})
    mapped = transform(table([{"A": "a", "WHEN": each} for each in dates]), plan)
    back = transform(mapped.drop("_errors", "_source"), plan, reverse=True)
    assert back["_errors"].null_count() == back.height
    assert back["WHEN"].to_list() == dates


def test_inverted_maps_use_the_canonical_spelling() -> None:
    """Spellings come back as the pattern writes them, a fixed source as the map fixes it, unmapped attributes not."""
    contents = (
        named("S", "A F WHEN", timed=False, attributes="N"), named("G", "A"),
        structure_map(date_map("WHEN", "TIME_PERIOD", "dd MMMM yyyy", "D"), fixed("F", "x", side="Source")),
    )  # fmt: skip
    plan = plan_of(version_of(*contents))
    mapped = transform(table([{"A": "a", "F": "y", "WHEN": "8 JUL 1981", "N": "n"}]), plan)
    back = transform(mapped.drop("_errors", "_source"), plan, reverse=True).drop("_errors", "_source")
    assert back.to_dicts() == [{"A": "a", "F": "x", "WHEN": "08 July 1981"}]
    assert inverse(plan).notes == ("N: no map sets it",)


def test_frequencies_that_tell_less_are_found() -> None:
    """Rows whose frequency's format loses information are found, though other frequencies' formats do not."""
    plan = plan_of(version_of(*dated(date_map("WHEN", "TIME_PERIOD", "dd/MM/yyyy", "=FREQ"), freq=True)))
    rows = [{"A": "a", "FREQ": frequency, "WHEN": "18/07/1981"} for frequency in "DA"]
    back = transform(transform(table(rows), plan).drop("_errors", "_source"), plan, reverse=True)
    assert back["WHEN"].to_list() == ["18/07/1981", None]
    assert [one["rule"] for one in back["_errors"][1]] == ["frequency-unknown"]
