"""The shared corpus of real structure files, if it is present; and a snapshot made from messages."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import Any

import pytest

from kafka_replica.records import Key, Partition, Record, key_bytes
from kafka_replica.sdmx import MessagePart
from support.paths import CORPUS

READ = {("fusion-json", ""), ("sdmx-ml", "2.1"), ("sdmx-ml", "3.0"), ("sdmx-ml", "3.1")}
ITEMS = "items(codes/concepts/mappings)"


def rows(*wanted: tuple[str, str]) -> list[Any]:
    """Return the index's rows of these formats and versions as parameters; one skipped parameter without a corpus."""
    index = CORPUS / "INDEX.tsv"
    if not index.exists():
        reason = "the shared corpus is not here (../shared/corpus beside the project): real files are NOT tested"
        return [pytest.param(None, marks=[pytest.mark.corpus, pytest.mark.skip(reason=reason)], id="no-corpus")]
    with index.open(encoding="utf-8", newline="") as lines:
        found = [row for row in csv.DictReader(lines, delimiter="\t") if (row["format"], row["version"]) in wanted]
    return [pytest.param(row, marks=pytest.mark.corpus, id=row["file"]) for row in found]


def data_of(row: dict[str, str]) -> bytes:
    """Return the file of a row."""
    return (CORPUS / row["file"]).read_bytes()


class FakeSnapshot:
    """A version made from records, which counts look-ups."""

    def __init__(self, records: dict[bytes, Record], version: int = 7) -> None:
        self.records, self.version, self.gets = records, version, 0

    @classmethod
    def of(cls, parts: list[MessagePart]) -> FakeSnapshot:
        """Store each part as a record under its URN."""
        return cls(
            {
                bytes(part.urn): record(bytes(part.urn), part.value, part.content_type, offset)
                for offset, part in enumerate(parts)
            }
        )

    def get(self, key: Key) -> Record | None:
        """Return the record of a key."""
        self.gets += 1
        return self.records.get(key_bytes(key))

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.records)


def record(key: bytes, value: bytes | None, content_type: str | None = None, offset: int = 0) -> Record:
    """Return a record of topic structures, partition 3."""
    headers = (("content-type", content_type.encode()),) if content_type else ()
    return Record(key, value, offset, -1, headers, Partition("structures", 3))
