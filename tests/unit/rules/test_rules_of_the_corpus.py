"""Published structures: rules can be made from them, generated data has no findings, and an added fault is found."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_replica import Snapshot
from kafka_replica.data.polars import validate
from kafka_replica.data.validation import Rules, compile_rules, generate_rows
from kafka_replica.errors import UsageError
from kafka_replica.sdmx import Structures
from kafka_replica.sdmx.errors import SdmxError
from support.effort import first_in_usual
from support.rules.corpus_structures import EVERY_STRUCTURE, snapshot_of, structure_files
from support.rules.structures_by_hand import findings_of_rows, table


def rules_in(snapshot: Snapshot) -> Iterator[Rules]:
    """Return the rules of all data structures and of all artefacts that refer to one."""
    structures = Structures(snapshot)
    for class_ in ("DataStructure", "Dataflow", "ProvisionAgreement"):
        for urn in structures.find(class_):
            try:
                yield compile_rules(structures, urn)
            except (SdmxError, UsageError):
                continue  # the artefact refers to another file, or is a stub


@pytest.mark.thorough
@pytest.mark.parametrize("file", first_in_usual(structure_files(), 15))
def test_data_that_fits(file: Path) -> None:
    """Fifty generated rows of each structure have no findings; an invalid code is found in each coded dimension."""
    try:
        snapshot = snapshot_of(file.read_bytes())
    except SdmxError:
        pytest.skip("the file cannot be cut up; tests of the readers say why")
    tried = 0
    for rules in rules_in(snapshot):
        if all(column.kind != "dimension" for column in rules.columns):
            continue
        try:
            rows = generate_rows(rules, 50, 7)
        except UsageError:
            rows = generate_rows(rules, 1, 7)
        tried += 1
        frame = table(rows, [column.id for column in rules.columns])
        assert not any(findings_of_rows(validate(frame, rules))), rules.artefact
        coded = [column.id for column in rules.columns if column.kind == "dimension" and column.enumeration]
        for name in coded:
            found = findings_of_rows(validate(table([{**rows[0], name: "?!"}], [c.id for c in rules.columns]), rules))
            assert f"code-unknown {name} ?!" in found[0]
        if tried >= 6 and not EVERY_STRUCTURE:
            break
    if not tried:
        pytest.skip("its structures refer to artefacts in other files")
