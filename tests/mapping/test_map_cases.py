"""The case table on polars."""

from __future__ import annotations

import pytest
from case_rows import expected, mapped_rows
from map_cases import CASES, Case
from maps_by_hand import plan_of
from structures_by_hand import table, version_of

from kafka_replica.local.mapping import transform


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_case(case: Case) -> None:
    """Each row becomes what the standard says, or has the findings it asks for."""
    plan = plan_of(version_of(*case.contents), **case.settings)
    rows = [row for row, _ in mapped_rows(case)]
    found = transform(table(rows), plan)
    assert expected(case, found.to_dicts()) == [wanted for _, wanted in mapped_rows(case)]
