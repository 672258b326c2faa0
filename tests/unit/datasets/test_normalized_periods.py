"""Periods as calendar days in SDMX-CSV, with polars; Spark has the same cases."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from kafka_replica.data.polars.datasets import read_sdmx_csv, write_sdmx_csv
from kafka_replica.data.validation import generate_rows
from kafka_replica.sdmx.values.periods import period
from support.datasets.csv_cases import world_rules
from support.datasets.normalized_cases import DAYS, MIXED, Day, rows_of_days, time_rules


@pytest.mark.parametrize("collected", ["start", "middle", "end"])
@pytest.mark.parametrize("days", [DAYS, MIXED], ids=["days", "times"])
def test_periods_are_days(days: tuple[Day, ...], collected: Any, tmp_path: Path) -> None:
    """Each period becomes the day given by the field guide and the calendar; texts that are not periods stay."""
    file = tmp_path / "data.csv"
    frame = pl.DataFrame(rows_of_days(days), infer_schema_length=None)
    write_sdmx_csv(frame, file, time_rules(), time_format="normalized", collected=collected)
    found = read_sdmx_csv(file)["TIME_PERIOD"].to_list()
    assert found == [getattr(day, collected) for day in days]


def test_periods_stay_as_they_are_recorded(tmp_path: Path) -> None:
    """The default is ``original``; keys contain the recorded period in any case."""
    frame = pl.DataFrame([{"DIM_1": "A", "TIME_PERIOD": "2014-Q1", "OBS_VALUE": 1.5}])
    file = tmp_path / "data.csv"
    write_sdmx_csv(frame, file, time_rules())
    assert ",A,2014-Q1,1.5" in file.read_text()
    write_sdmx_csv(frame, file, time_rules(), time_format="normalized", keys="obs")
    assert file.read_text().splitlines()[1].endswith(",I,A.2014-Q1,A,2014-01-01,1.5")
    write_sdmx_csv(frame.drop("TIME_PERIOD"), file, time_rules(), time_format="normalized")
    assert file.read_text().splitlines()[1].endswith(",I,A,1.5")


@pytest.mark.thorough
def test_days_of_random_periods(tmp_path: Path) -> None:
    """The first and last day of a period are those by which rules compare it."""
    dice = random.Random(3)
    forms = ("{}", "{}-A1", "{}-S{:d}", "{}-T{:d}", "{}-Q{:d}", "{}-{:02}", "{}-M{:02}", "{}-W{:02}", "{}-D{:03}")
    most = (1, 1, 2, 3, 4, 12, 12, 52, 365)
    periods = [
        form.format(dice.randint(1000, 9998), dice.randint(1, last))
        for form, last in zip(forms * 200, most * 200, strict=True)
    ]
    frame = pl.DataFrame({"TIME_PERIOD": periods})
    wanted = [period(each) for each in periods]
    for collected, seconds in (
        ("start", [one.start_s for one in wanted if one]),
        ("end", [one.end_s - 1 for one in wanted if one]),
    ):
        file = tmp_path / f"{collected}.csv"
        write_sdmx_csv(frame, file, time_rules(), time_format="normalized", collected=collected)  # type: ignore[arg-type]
        days = [datetime.fromtimestamp(second, UTC).date().isoformat() for second in seconds]
        assert read_sdmx_csv(file)["TIME_PERIOD"].to_list() == days


@pytest.mark.thorough
def test_fitting_rows_can_be_normalized(tmp_path: Path) -> None:
    """Whole frames with columns of all forms keep their rows."""
    frame = pl.DataFrame(generate_rows(world_rules(), 50), infer_schema_length=None).drop("ATTR_1", "ATTR_2", "ATTR_3")
    file = tmp_path / "data.csv"
    write_sdmx_csv(frame, file, world_rules(), time_format="normalized")
    assert read_sdmx_csv(file).height == 50
