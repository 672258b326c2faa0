"""Dates are converted once for each distinct value."""

from __future__ import annotations

import pytest

from kafka_replica.data.mapping import date_reading, row_mapping
from kafka_replica.data.mapping.mapping_engine import Expression, MappingEngine
from kafka_replica.data.mapping.model import DateMap
from kafka_replica.data.polars.mapping import transform
from kafka_replica.data.polars.mapping.engine import PolarsEngine
from support.mapping.map_cases import dated
from support.mapping.maps_by_hand import date_map, plan_of
from support.rules.structures_by_hand import table, version_of

pytestmark = pytest.mark.thorough


def test_each_date_is_converted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The 24 combinations of 12 dates and 2 frequencies (one is missing) in 600 rows are converted once."""
    converted: list[int] = []

    def counting(
        engine: MappingEngine, one: DateMap, text: Expression, frequency: Expression | None, name: str
    ) -> None:
        assert isinstance(engine, PolarsEngine)
        converted.append(engine.frame.height)
        date_reading.add_instant(engine, one, text, frequency, name)

    monkeypatch.setattr(row_mapping, "add_instant", counting)
    contents = dated(date_map("WHEN", "TIME_PERIOD", "MM-yyyy", "=FREQ"), freq=True)
    rows = [
        {"A": str(number), "FREQ": "Q" if number % 2 else None, "WHEN": f"{number // 2 % 12 + 1:02}-2020"}
        for number in range(600)
    ]
    plan = plan_of(version_of(*contents))
    mapped = transform(table(rows), plan)
    assert converted == [24]
    assert mapped["A"].to_list() == [row["A"] for row in rows]
    quarters = [f"2020-Q{number // 2 % 12 // 3 + 1}" if number % 2 else None for number in range(600)]
    assert mapped["TIME_PERIOD"].to_list() == quarters
