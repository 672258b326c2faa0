"""The case table on polars."""

from __future__ import annotations

import pytest

from kafka_replica.data.polars.mapping import transform
from support.mapping.case_rows import expected, mapped_rows
from support.mapping.map_cases import CASES, Case
from support.mapping.maps_by_hand import plan_of
from support.rules.structures_by_hand import table, version_of


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_each_case_is_mapped_as_the_standard_defines(case: Case) -> None:
    """Each row is mapped as the standard defines, or has the findings that the standard requires."""
    plan = plan_of(version_of(*case.contents), **case.settings)
    rows = [row for row, _ in mapped_rows(case)]
    found = transform(table(rows), plan)
    assert expected(case, found.to_dicts()) == [wanted for _, wanted in mapped_rows(case)]
