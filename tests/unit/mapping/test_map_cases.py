"""The case table on polars."""

from __future__ import annotations

import re

import pytest

from kafka_replica.data.polars.mapping import transform
from support.mapping.case_rows import expected, mapped_rows
from support.mapping.map_cases import CASES, Case
from support.mapping.maps_by_hand import plan_of
from support.rules.structures_by_hand import table, version_of

_OF_ROWS = {"ambiguous-key"}
"""Rules whose message is about the row, which the value in the text shows."""


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_each_case_is_mapped_as_the_standard_defines(case: Case) -> None:
    """Each row is mapped as the standard defines, or has the findings that the standard requires."""
    plan = plan_of(version_of(*case.contents), **case.settings)
    rows = [row for row, _ in mapped_rows(case)]
    found = transform(table(rows), plan)
    assert expected(case, found.to_dicts()) == [wanted for _, wanted in mapped_rows(case)]


def test_each_message_names_its_components_once() -> None:
    """The text of an error shows the message, not the component of the finding, so the message names it."""
    found = set()
    for case in CASES:
        frame = transform(
            table([row for row, _ in mapped_rows(case)]), plan_of(version_of(*case.contents), **case.settings)
        )
        for one in frame["_errors"].drop_nulls().explode():
            if one["rule"] not in _OF_ROWS and one["component"] != "ACTION":
                found.add((one["rule"], one["component"], one["message"]))
    assert {rule for rule, _, _ in found} >= {
        "unmapped-value", "ambiguous-value", "date-unreadable", "frequency-unknown", "source-differs", "no-output",
    }  # fmt: skip
    for _, component, message in found:
        for name in component.split("."):
            assert len(re.findall(rf"\b{re.escape(name)}\b", message)) == 1, (component, message)
