"""Arrow IPC that Spark reads: values that rows share do not fill the memory with copies, and types it lacks."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.ipc
import pytest

from kafka_replica.data.errors import DatasetError
from kafka_replica.data.jobs import ValidationJob, engine, sources_of
from kafka_replica.data.jobs.sources import Source
from kafka_replica_spark.arrow_files import copied_bytes, read_arrow
from support.rules.structures_by_hand import DSD, dimension, measure, rules_of, structure, text, version_of

_TEXTS = ["", "abc", None, "d" * 30, "ü", "e" * 12, "f" * 13]
_AT = [1, 3, None, 3, 0, 2, 6, 4, 5]


def _of(values: Any) -> pa.Array[Any]:
    return pa.DictionaryArray.from_arrays(pa.array(_AT, pa.int8()), values)


def _in_lists(values: Any) -> pa.Array[Any]:
    return pa.ListArray.from_arrays(pa.array([0, 2, 2, len(values)], pa.int32()), values)


@pytest.mark.parametrize(
    "array",
    [
        _of(pa.array(_TEXTS)),
        _of(pa.array(_TEXTS, pa.large_string())),
        _of(pa.array(_TEXTS, pa.string_view())),
        pa.array(_TEXTS, pa.string_view()),
        pa.array([text and text.encode() for text in _TEXTS], pa.binary_view()),
        _in_lists(_of(pa.array(_TEXTS))),
        _in_lists(pa.array(_TEXTS, pa.string_view())),
        _in_lists(_in_lists(pa.array(_TEXTS, pa.string_view()))[:2]),
    ],
    ids=lambda array: str(array.type),
)
def test_copied_bytes_are_those_of_the_values(array: pa.Array[Any]) -> None:
    """The bytes are those of the texts that Python gets, of the whole array and of each slice."""
    for start in range(len(array)):
        for end in range(start, len(array) + 1):
            part = array[start:end]
            assert copied_bytes(part) == _bytes(part.to_pylist())


def _bytes(value: Any) -> int:
    if isinstance(value, list):
        return sum(map(_bytes, value))
    return len(value.encode() if isinstance(value, str) else value or b"")


def _shared(kind: str) -> pa.Array[Any]:
    """Return 2,000 rows that share one text of a megabyte."""
    one, rows = pa.array(["a" * 1_000_000]), pa.repeat(pa.scalar(0, pa.int8()), 2_000)
    if kind == "dictionary":
        return pa.DictionaryArray.from_arrays(rows, one)
    views = one.cast(pa.string_view())
    _, view, *texts = views.buffers()
    assert view is not None
    return pa.Array.from_buffers(pa.string_view(), 2_000, [None, pa.py_buffer(view.to_pybytes()[:16] * 2_000), *texts])


@pytest.mark.parametrize("start", [pa.ipc.new_file, pa.ipc.new_stream])
@pytest.mark.parametrize("kind", ["dictionary", "views"])
def test_shared_values_are_not_copied_without_limit(start: Any, kind: str, tmp_path: Path) -> None:
    """A file of a megabyte whose rows share one long value is refused instead of becoming two gigabytes."""
    batch = pa.record_batch([_shared(kind)], names=["x"])
    made = io.BytesIO()
    with start(made, batch.schema) as writer:
        writer.write_batch(batch)
    (tmp_path / "bomb.arrow").write_bytes(made.getvalue())
    assert len(made.getvalue()) < 1_100_000
    with pytest.raises(DatasetError, match=r"bomb\.arrow: with a copy of each value .* 2,000,000,000 bytes, too many"):
        read_arrow(_source(tmp_path / "bomb.arrow"))


def _source(path: Path) -> Source:
    (source,) = sources_of([str(path)])
    return source


@pytest.mark.long
@pytest.mark.usefixtures("spark")
def test_a_type_that_spark_lacks_is_an_error_of_the_file(tmp_path: Path) -> None:
    """The error names the file and the type."""
    table = pa.table({"ID": pa.array([["a"]], pa.list_view(pa.string())), "OBS_VALUE": ["1"]})
    with pa.ipc.new_file(str(tmp_path / "data.arrow"), table.schema) as writer:
        writer.write_table(table)
    rules = rules_of(version_of(structure(dimension("ID", text()), measure())), DSD)
    (tmp_path / "out").mkdir()
    job = ValidationJob(sources=(_source(tmp_path / "data.arrow"),), rules=rules, out=tmp_path / "out")
    with pytest.raises(DatasetError, match=r"data\.arrow: Spark has no type for one of its columns: .*list_view"):
        engine("spark").validate(job, lambda _progress: None)
