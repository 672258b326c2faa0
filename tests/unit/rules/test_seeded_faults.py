"""Generated data with known faults: all faults are found, and no others."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_replica import Replica
from kafka_replica.data.polars import report, split, transform, validate
from kafka_replica.data.validation import generate_rows
from kafka_replica.data.validation.binding import bind_rules
from kafka_replica.data.validation.evaluation import evaluate_condition
from kafka_replica.errors import UsageError
from support.effort import first_in_usual
from support.rules.seeded_faults import seeded, world
from support.rules.structures_by_hand import (
    attribute,
    dimension,
    findings_of_rows,
    measure,
    rules_of,
    structure,
    table,
    text,
    version_of,
)


@pytest.mark.parametrize("seed", first_in_usual([0, pytest.param(1, marks=pytest.mark.thorough), *range(2, 8)], 2))
def test_exactly_the_seeded_faults_are_found(seed: int) -> None:
    """Each row has the findings of its fault and no others."""
    rules = world()
    rows, wanted = seeded(rules, 700, seed)
    found = findings_of_rows(validate(table(rows), rules))
    wrong = [(row, one, two) for row, one, two in zip(rows, found, wanted, strict=True) if one != two]
    assert not wrong, wrong[:3]
    assert sum(map(bool, wanted)) > 20


@pytest.mark.thorough
def test_rows_that_fit() -> None:
    """Generated valid rows have no findings and distinct keys, and are the same for the same seed."""
    rules = world()
    rows = generate_rows(rules, 1000, 3)
    assert not any(findings_of_rows(validate(table(rows), rules)))
    assert len({tuple(row[name] for name in ("FREQ", "AREA", "SEX", "AGE", "TIME_PERIOD")) for row in rows}) == 1000
    assert generate_rows(rules, 1000, 3) == rows != generate_rows(rules, 1000, 4)


@pytest.mark.thorough
def test_the_split_and_the_report() -> None:
    """Good and bad rows together are all rows; the report counts the findings."""
    rules = world()
    rows, wanted = seeded(rules, 700, 1)
    checked = validate(table(rows), rules)
    good, bad = split(checked)
    assert good.height + bad.height == len(rows)
    assert bad.height == sum(map(bool, wanted))
    assert "_errors" not in good.columns
    assert "_errors" in bad.columns
    made = report(checked, rules)
    assert sum(made.by_rule.values()) == sum(map(len, wanted))
    assert (made.rows, made.bad_rows, made.is_valid) == (len(rows), bad.height, False)
    assert made.by_rule["duplicate-key"] == 6
    assert sum(report(checked, rules, series=1000).by_series.values()) == sum(map(len, wanted))


@pytest.mark.thorough
def test_impossible_pictures_are_refused(tmp_path: Path) -> None:
    """Pictures work for reports without findings and with one kind; unknown formats and missing folders are refused."""
    rules = world()
    rows = generate_rows(rules, 10, 3)
    for number, some in enumerate((rows, rows[:1] * 2)):
        made = report(validate(table(some), rules), rules)
        assert made.is_valid == (number == 0)
        made.picture(tmp_path / f"{number}.png")
        assert (tmp_path / f"{number}.png").read_bytes().startswith(b"\x89PNG")
    for wrong in ("report.nope", "no folder/report.png"):
        with pytest.raises(UsageError, match=r"drawing the report of .*(report.nope|no folder)"):
            made.picture(tmp_path / wrong)


def test_a_replica_in_place_of_a_snapshot_is_reported() -> None:
    """A replica or nothing in place of a snapshot is reported, and so is a missing reference."""
    frame = table([{"A": "x"}])
    for given in (Replica({"bootstrap.servers": "localhost:1"}, "t"), None):
        with pytest.raises(UsageError, match=r"validating against T:D.*snapshot"):
            validate(frame, "T:D(1.0)", given)  # type: ignore[arg-type]
        with pytest.raises(UsageError, match=r"mapping by T:M.*snapshot"):
            transform(frame, "T:M(1.0)", given)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="validating against None: give a URN"):
        validate(frame, None)  # type: ignore[arg-type]


@pytest.mark.thorough
def test_python_agrees_with_polars() -> None:
    """Python's evaluation of conditions, row by row, gives polars' findings, except for rules that compare rows."""
    rules = world()
    rows, _ = seeded(rules, 700, 2)
    checks = bind_rules(rules, list(rows[0]), {}).checks
    together = {"duplicate-key", "attribute-differs"}
    for row, found in zip(rows, validate(table(rows), rules)["_errors"].to_list(), strict=True):
        wanted = [(check.rule, check.component) for check in checks if evaluate_condition(check.broken, row)]
        listed = [(one["rule"], one["component"]) for one in found or () if one["rule"] not in together]
        assert [one for one in listed if one != ("attribute-missing", "UNIT")] == wanted


def test_rows_of_a_component_with_several_values_have_one() -> None:
    """A minimum of occurrences does not prevent rows."""
    status = attribute("STATUS", text(), usage="mandatory", occurs='minOccurs="2" maxOccurs="3"')
    rules = rules_of(version_of(structure(dimension("AREA", text()), measure(), status)))
    rows = generate_rows(rules, 3)
    assert all(isinstance(row["STATUS"], str) for row in rows)
