"""Every format that is read, plain and compressed, gives the same rows for one data set."""

from __future__ import annotations

import gzip
import io
import zipfile
from pathlib import Path

import cramjam
import pytest

from kafka_replica.data.jobs import ValidationJob, sources_of
from kafka_replica.data.polars.source_rows import BatchSize
from kafka_replica.data.validation import Rules
from support.datasets.every_format import FILES, NAMES, ROWS, STRUCTURE
from support.datasets.whole_input import whole_input
from support.rules.structures_by_hand import FLOW, FLOWS, rules_of, version_of


@pytest.fixture(scope="module")
def rules() -> Rules:
    """The rules of T:F(1.0)."""
    return rules_of(version_of(STRUCTURE, FLOWS), FLOW)


def _zipped(data: bytes, name: str) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, data)
    return made.getvalue()


@pytest.mark.thorough
@pytest.mark.parametrize("name", FILES)
def test_each_format_gives_the_same_rows(name: str, rules: Rules, tmp_path: Path) -> None:
    """Each format gives the same rows, also with gzip, in a zip archive, and with zstd."""
    suffix, made = FILES[name]
    content = made()
    (tmp_path / f"a.{suffix}").write_bytes(content)
    (tmp_path / f"b.{suffix}.gz").write_bytes(gzip.compress(content))
    (tmp_path / "c.zip").write_bytes(_zipped(content, f"inner.{suffix}"))
    (tmp_path / f"d.{suffix}.zst").write_bytes(bytes(cramjam.zstd.compress(content)))
    sources = sources_of([str(tmp_path)])
    assert len(sources) == 4
    for source in sources:
        job = ValidationJob(sources=(source,), rules=rules, out=tmp_path / "out")
        for size in (None, BatchSize(bytes=50, rows=1)):
            frame, locations, others = whole_input(job, size)
            assert others == {}
            assert sorted(frame.select(NAMES).rows(), key=str) == sorted(ROWS, key=str), source.path
            assert locations["row"].to_list() == list(range(1, frame.height + 1))
