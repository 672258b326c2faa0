"""The case table on polars."""

from __future__ import annotations

import pytest

from kafka_replica.data.polars import dataset_findings, validate
from support.rules.structures_by_hand import findings_of_rows, rules_of, table, version_of
from support.rules.validation_cases import CASES, Case


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_each_case_has_the_findings_of_the_standard(case: Case) -> None:
    """Each row and each data set has the findings that the standard requires, in order, and no others."""
    rules = rules_of(version_of(*case.contents), case.reference, **case.settings)
    frame = table([row for row, _ in case.rows])
    assert findings_of_rows(validate(frame, rules)) == [wanted for _, wanted in case.rows]
    listed = [" ".join(filter(None, [one.severity, one.rule, one.component, one.value])) for one in
            dataset_findings(frame, rules)]  # fmt: skip
    assert [one for one in listed if not one.endswith(" NOTE")] == list(case.dataset)
