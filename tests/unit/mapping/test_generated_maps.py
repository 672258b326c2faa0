"""Maps generated at random on polars, compared with plain Python."""

from __future__ import annotations

import random

import pytest

from kafka_replica.data.polars import split, transform
from support.mapping.generated_maps import made_map, made_rows, wanted
from support.mapping.maps_by_hand import plan_of
from support.rules.structures_by_hand import table, version_of


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(20))
def test_each_row_has_the_results_of_its_rules_or_its_errors(seed: int) -> None:
    """Each row has the results of its matching rules, or its errors; split returns the bad rows."""
    source = random.Random(seed)
    made = made_map(source)
    rows = made_rows(source, made.n_sources, 150)
    mapped = transform(table(rows), plan_of(version_of(*made.contents)))
    found: dict[str, list[str]] = {}
    for row in mapped.iter_rows(named=True):
        rules = [one["rule"] for one in row["_errors"] or () if one["component"] != "TIME_PERIOD"]
        found.setdefault(row["N"], []).append(rules[0] if rules else f"{row['B']} {row['C']}")
    for row in rows:
        assert sorted(found[row["N"] or ""]) == wanted(made, row), (row, made.rules)
    good, bad = split(mapped)
    assert set(good.columns) == {"N", "TIME_PERIOD", "B", "C"}
    assert all(rows[int(row["N"])] == {name: row[name] for name in rows[0]} for row in bad.iter_rows(named=True))
