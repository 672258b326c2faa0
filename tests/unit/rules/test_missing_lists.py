"""Structures whose lists or concepts are missing: everything else is checked, and what is not is listed."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest

from kafka_replica import Snapshot
from kafka_replica.data.polars import validate
from kafka_replica.data.validation import Rules, compile_rules, generate_rows
from kafka_replica.errors import UsageError
from kafka_replica.sdmx import Structures, Urn
from kafka_replica.sdmx.errors import IncompleteStructureError, SdmxError
from kafka_replica.sdmx.lookups.resolved_structure import MissingReference
from support.effort import first_in_usual
from support.rules.corpus_structures import snapshot_of, structure_files
from support.rules.structures_by_hand import (
    FLOW,
    FLOWS,
    attribute,
    coded,
    codelist,
    concepts,
    constraint,
    dimension,
    findings_of_rows,
    measure,
    region,
    selected,
    structure,
    table,
    text,
    version_of,
)

SEX = codelist("SEX", ["M", "F"])
AREA = codelist("AREA", ["EU", "US"])
STRUCTURE = structure(
    dimension("SEX", coded("SEX")), dimension("AREA", coded("AREA")), measure(), attribute("NOTE", text(maxLength=3))
)


def compiled(snapshot: Snapshot, *, allow_missing: bool) -> Rules:
    """Return the rules of the dataflow."""
    return compile_rules(Structures(snapshot), FLOW, allow_missing=allow_missing)


def findings_of_row(rules: Rules, row: dict[str, str]) -> list[str]:
    """Return the findings of a row."""
    [found] = findings_of_rows(validate(table([row], [column.id for column in rules.columns]), rules))
    return found


def test_only_codes_of_the_missing_list_are_unchecked() -> None:
    """The checks are those with the list, without that of its codes; constraints on its component still apply."""
    only_eu = constraint(region(selected("AREA", "EU")))
    whole = compiled(version_of(SEX, AREA, STRUCTURE, FLOWS, only_eu), allow_missing=False)
    lacking = version_of(SEX, STRUCTURE, FLOWS, only_eu)
    with pytest.raises(IncompleteStructureError, match=r"AREA: .*T:AREA\(1\.0\)"):
        compiled(lacking, allow_missing=False)
    rules = compiled(lacking, allow_missing=True)
    [unchecked] = rules.unchecked
    assert unchecked.startswith("AREA: its values, because its list or concept cannot be used: ")
    assert "T:AREA(1.0)" in unchecked
    assert {(check.rule, check.component) for check in whole.checks} - {
        (check.rule, check.component) for check in rules.checks
    } == {("code-unknown", "AREA")}
    row = {"SEX": "M", "AREA": "EU", "OBS_VALUE": "1", "NOTE": "abc"}
    assert findings_of_row(rules, row) == []
    assert [finding.split()[0] for finding in findings_of_row(rules, row | {"AREA": "XX"})] == ["value-not-allowed"]
    assert [finding.split()[0] for finding in findings_of_row(rules, row | {"SEX": "?"})] == ["code-unknown"]
    assert findings_of_row(rules, row | {"NOTE": "abcd"}) != []


@pytest.mark.thorough
def test_a_missing_concept_is_listed() -> None:
    """A component without a representation has that of its concept; without the concept any text is accepted."""
    parts = (AREA, SEX, structure(dimension("SEX", coded("SEX")), dimension("AREA", ""), measure()), FLOWS)
    whole = compiled(version_of(*parts, concepts(("AREA", coded("AREA"), ""))), allow_missing=True)
    assert whole.unchecked == ()
    assert "code-unknown" in findings_of_row(whole, {"SEX": "M", "AREA": "XX", "OBS_VALUE": "1"})[0]
    with pytest.raises(IncompleteStructureError, match="AREA") as caught:
        compiled(version_of(*parts), allow_missing=False)
    rules = compiled(version_of(*parts), allow_missing=True)
    assert len(rules.unchecked) == len(cast("tuple[MissingReference, ...]", caught.value.missing))
    assert rules.unchecked[0].startswith("AREA: its values, ")
    assert findings_of_row(rules, {"SEX": "M", "AREA": "XX", "OBS_VALUE": "1"}) == []


def test_a_missing_structure_is_an_error_anyway() -> None:
    """Without the components there is nothing to check."""
    with pytest.raises(IncompleteStructureError, match=r"T:D\(1\.0\)"):
        compiled(version_of(FLOWS), allow_missing=True)


@pytest.mark.thorough
@pytest.mark.parametrize("file", first_in_usual(structure_files(), 12))
def test_real_structures_without_their_lists(file: Path) -> None:
    """Each missing list of a published structure is listed once per component, and generated data has no findings."""
    try:
        structures = Structures(snapshot_of(file.read_bytes()))
    except SdmxError:
        pytest.skip("the file cannot be cut up; tests of the readers say why")
    lacking = {urn: missing for urn in structures.find("DataStructure") if (missing := _missing(structures, urn))}
    if not lacking:
        pytest.skip("it has all lists, or lacks more than lists")
    for urn, missing in list(lacking.items())[:3]:
        rules = compile_rules(structures, urn, allow_missing=True)
        listed = [one for one in rules.unchecked if "its list or concept cannot be used" in one]
        assert len(listed) == len({(one.source, one.reason) for one in missing})
        assert {one.partition(":")[0] for one in listed} == {one.source.item for one in missing}
        try:
            rows = generate_rows(rules, 20, 1)
        except UsageError:
            continue  # the rules allow too few rows
        assert not any(findings_of_rows(validate(table(rows, [column.id for column in rules.columns]), rules)))


def _missing(structures: Structures, urn: Urn) -> tuple[MissingReference, ...]:
    try:
        compile_rules(structures, urn)
    except IncompleteStructureError as error:
        found = cast("tuple[MissingReference, ...]", error.missing)
        return () if any(one.source == urn for one in found) else found
    except (SdmxError, UsageError):
        return ()
    return ()
