"""Impossible maps are refused when they are compiled, whatever the data."""

from __future__ import annotations

import polars as pl
import pytest

from kafka_replica.data.errors import MapError
from kafka_replica.data.polars import transform
from support.mapping.map_cases import dated, one
from support.mapping.maps_by_hand import (
    component_map,
    date_map,
    fixed,
    named,
    plan_of,
    representation_map,
    structure_map,
)
from support.rules.structures_by_hand import version_of

VALID = representation_map("R", "A>x@2000/")


@pytest.mark.parametrize(
    ("contents", "message"),
    [
        (one("R", "5:2=A>x"), "row 1: the part of A from 5 to 2 is invalid"),
        (one("R", "A>x", "0:-1=A>x"), "row 2: the part of A from 0 to -1 is invalid"),
        (
            (named("S", "A"), named("G", "A N"), structure_map(fixed("N", "x", "y"))),
            "the dimension N is fixed to 2 values, but has one in each row",
        ),
        (
            (
                named("S", "A WHEN", timed=False),
                named("G", "A FREQ"),
                structure_map(date_map("WHEN", "TIME_PERIOD", "dd/MM/yyyy", "=FREQ")),
            ),
            "the format of dates depends on FREQ, which no map sets",
        ),
        (
            (named("S", "A", timed=False), named("G", "B"), VALID, structure_map(component_map("A", "B", "R"))),
            "rules for B are valid for a time only, but .* has no time dimension and no other map sets a period",
        ),
        (
            (
                *dated(
                    component_map("A", "FREQ", "R"), date_map("WHEN", "TIME_PERIOD", "dd/MM/yyyy", "=FREQ"), freq=True
                ),
                VALID,
            ),
            "FREQ depends on the period, whose format depends on FREQ",
        ),
    ],
)
def test_an_unusable_map_is_refused_with_its_mistake(contents: tuple[str, ...], message: str) -> None:
    """The error names the map and the mistake."""
    with pytest.raises(MapError, match=f"compiling urn:.*{message}"):
        plan_of(version_of(*contents))


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([f"A{number}>x@{1000 + number}/" for number in range(1500)], "1,501 time spans and 1,125,750 entries"),
        (
            [f"A>x@2000-01-01T{n // 3600:02}:{n // 60 % 60:02}:{n % 60:02}/2001" for n in range(5000)],
            "5,002 time spans",
        ),
    ],
)
def test_validities_that_make_too_many_entries_are_refused(rows: list[str], message: str) -> None:
    """The number of time spans, and of entries by time span, is limited, so that compiling takes little memory."""
    with pytest.raises(MapError, match=f"compiling urn:.*{message}"):
        plan_of(version_of(*one("R", *rows)))


@pytest.mark.parametrize("frame", [[], pl.DataFrame()])
def test_an_empty_frame_is_mapped_to_an_empty_frame(frame: object) -> None:
    """A frame without rows and columns is mapped to a frame without rows."""
    found = transform(frame, plan_of(version_of(*one("R", "A>x"))))
    assert found.height == 0
    assert found.columns == ["B", "TIME_PERIOD", "OBS_VALUE", "_source", "_errors"]
