"""Read data messages on the driver, and pass their rows to Spark in blocks."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import reduce
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from kafka_replica.data.files.messages import located_blocks
from kafka_replica.data.files.messages.blocks import Block, columns_of, lines_of
from kafka_replica.data.jobs.sources import Source
from kafka_replica.data.validation import Rules
from kafka_replica.sdmx import Urn
from kafka_replica_spark.locations import AT, LINE, PATH
from kafka_replica_spark.rows import quoted

_BLOCK_ROWS: Final = 50_000
_LANGUAGES: Final = "array<struct<language:string,text:string>>"


def read_message(
    spark: SparkSession, source: Source, rules: Rules, usages: Collection[Urn], note: Callable[[str], object]
) -> DataFrame:
    """Return the rows of a message with their numbers, lines and paths (``AT``, ``LINE`` and ``PATH``).

    Args:
        spark: the session.
        source: the message.
        rules: the rules of the expected structure.
        usages: other artefacts whose data is also data of the rules' artefact.
        note: is called with each remark in the message.

    Raises:
        DatasetError: the file is not a data message, or is damaged.
    """
    lines: list[int | None] = []
    paths: list[str | None] = []

    def blocks() -> Iterator[Block]:
        for line, block in located_blocks(source.path, rules, usages, content=source.content, note=note):
            lines.extend(lines_of(line, block))
            paths.extend([None] * block.size if block.paths is None else block.paths)
            yield block

    columns = columns_of(blocks())
    tables = list(_tables(columns | {LINE: lines, PATH: paths, AT: list(range(1, len(lines) + 1))}, len(lines)))
    schema = pa.unify_schemas([table.schema for table in tables])
    schema = pa.schema([pa.field(one.name, pa.string()) if pa.types.is_null(one.type) else one for one in schema])
    frames = [spark.createDataFrame(table.cast(schema)) for table in tables]
    df = reduce(DataFrame.union, frames)
    # On Spark, texts by language are maps, and not lists of structs.
    mapped = {name: _with_maps(quoted(name), kind) for name, kind in df.dtypes}
    return df.withColumns({name: column for name, column in mapped.items() if column is not None})


def _with_maps(column: Column, kind: str) -> Column | None:
    """Return a column of texts by language, also of several values of a row, as maps; None for any other column."""
    if kind == _LANGUAGES:
        return F.map_from_entries(column)
    return F.transform(column, F.map_from_entries) if kind == f"array<{_LANGUAGES}>" else None


def _tables(columns: Mapping[str, list[Any]], rows: int) -> Iterator[pa.Table]:
    for first in range(0, max(rows, 1), _BLOCK_ROWS):
        block = {name: values[first : first + _BLOCK_ROWS] for name, values in columns.items()}
        numbers = {name: pa.array(block[name], pa.int64()) for name in (AT, LINE)}
        yield pa.table({**block, **numbers})
