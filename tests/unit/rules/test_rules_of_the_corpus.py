"""Published structures: rules can be made from them, generated data has no findings, and an added fault is found."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kafka_replica import MemoryStore, Partition, Position, Record, Snapshot
from kafka_replica.data.polars import validate
from kafka_replica.data.validation import Rules, compile_rules, generate_rows
from kafka_replica.errors import UsageError
from kafka_replica.sdmx import Structures, split_message
from kafka_replica.sdmx.errors import SdmxError
from kafka_replica.stores.delta import Delta
from support.effort import first_in_usual
from support.paths import CORPUS
from support.rules.structures_by_hand import findings_of_rows, table

_EVERY = bool(os.environ.get("EVERY_STRUCTURE"))


def _files() -> list[Any]:
    index = CORPUS / "INDEX.tsv"
    if not index.exists():
        reason = "the shared corpus is not here (../shared/corpus beside the project): real structures are NOT tested"
        return [pytest.param(None, marks=[pytest.mark.corpus, pytest.mark.skip(reason=reason)], id="no-corpus")]
    with index.open(encoding="utf-8", newline="") as lines:
        rows = [
            row for row in csv.DictReader(lines, delimiter="\t") if "DataStructure=" in row["maintainables_by_type"]
        ]
    small = [row for row in rows if _EVERY or int(row["bytes"]) < 400_000]
    return [pytest.param(CORPUS / row["file"], marks=pytest.mark.corpus, id=row["file"]) for row in small]


def snapshot_of(data: bytes) -> Snapshot:
    """Return all artefacts of a message as a version."""
    source = Partition("structures", 0)
    records = [
        Record(bytes(part.urn), part.value, i, -1, (("content-type", part.content_type.encode()),), source)
        for i, part in enumerate(split_message(data))
    ]
    store = MemoryStore()
    store.apply(Delta(records), Position({source: len(records)}))
    return store.snapshot()


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
@pytest.mark.parametrize("file", first_in_usual(_files(), 15))
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
        if tried >= 6 and not _EVERY:
            break
    if not tried:
        pytest.skip("its structures refer to artefacts in other files")
