"""Files of the shared corpus with data structures."""

from __future__ import annotations

import csv
import os
from typing import Any

import pytest

from kafka_replica import MemoryStore, Partition, Position, Record, Snapshot
from kafka_replica.sdmx import split_message
from kafka_replica.stores.delta import Delta
from support.paths import CORPUS

EVERY_STRUCTURE = bool(os.environ.get("EVERY_STRUCTURE"))


def structure_files() -> list[Any]:
    """Return the files as parameters of tests: the small ones, or with EVERY_STRUCTURE in the environment all."""
    index = CORPUS / "INDEX.tsv"
    if not index.exists():
        reason = "the shared corpus is not here (../shared/corpus beside the project): real structures are NOT tested"
        return [pytest.param(None, marks=[pytest.mark.corpus, pytest.mark.skip(reason=reason)], id="no-corpus")]
    with index.open(encoding="utf-8", newline="") as lines:
        rows = [
            row for row in csv.DictReader(lines, delimiter="\t") if "DataStructure=" in row["maintainables_by_type"]
        ]
    small = [row for row in rows if EVERY_STRUCTURE or int(row["bytes"]) < 400_000]
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
