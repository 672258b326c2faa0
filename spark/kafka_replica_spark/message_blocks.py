"""Read data messages on the driver, and pass their rows to Spark.

If Spark runs on this machine alone, the rows of a long message go through a temporary file, and are not held in memory.
The executors of a cluster may not share files with the driver, which therefore holds the rows for them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from functools import reduce
from itertools import chain
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, Final

import pyarrow as pa
from pyarrow import parquet
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from kafka_replica.common.wording import reason_of
from kafka_replica.data.files.messages import located_blocks
from kafka_replica.data.jobs.sources import Source
from kafka_replica.data.validation import Rules
from kafka_replica.errors import UsageError
from kafka_replica.sdmx import Urn
from kafka_replica_spark.message_tables import common_forms, in_forms, schema_of, tables_of
from kafka_replica_spark.patterns import pattern_of
from kafka_replica_spark.rows import named_column

_TEXTS_BY_LANGUAGE: Final = "array<struct<language:string,text:string>>"
_HELD: Final = "the rows of this message are held in the memory of Spark's driver, because Spark runs on a cluster"


def read_message(
    spark: SparkSession,
    source: Source,
    rules: Rules,
    usages: Collection[Urn],
    note: Callable[[str], object],
    file: Path | None,
) -> DataFrame:
    """Return the rows of a message with their numbers, lines and paths (``AT``, ``LINE`` and ``PATH``).

    Args:
        spark: the session.
        source: the message.
        rules: the rules of the expected structure.
        usages: other artefacts whose data is also data of the rules' artefact.
        note: is called with each remark in the message, and if the rows of a long message are held in memory.
        file: a file that does not exist yet, for the rows of a long message; it is needed as long as the result. None
            if the executors have other files than this process.

    Raises:
        DatasetError: the file is not a data message, or is damaged.
        UsageError: the file for the rows cannot be written.
    """
    tables = tables_of(located_blocks(source.path, rules, usages, content=source.content, note=note))
    first, second = next(tables), next(tables, None)
    if second is None:
        df = _held(spark, [first])
    elif file is None:
        note(_HELD)
        df = _held(spark, [first, second, *tables])
    else:
        _store(chain([first, second], tables), file, source.path)
        df = spark.read.parquet(f"file://{pattern_of(str(file))}")
    # On Spark, texts by language are maps, and not lists of structs.
    mapped = {name: _with_maps(named_column(name), kind) for name, kind in df.dtypes}
    return df.withColumns({name: column for name, column in mapped.items() if column is not None})


def _held(spark: SparkSession, tables: Collection[pa.Table]) -> DataFrame:
    forms = common_forms(table.schema for table in tables)
    return reduce(DataFrame.union, [spark.createDataFrame(in_forms(table, forms)) for table in tables])


def _store(tables: Iterator[pa.Table], file: Path, where: str) -> None:
    """Write the rows of tables to a Parquet file, in their order.

    The columns and their forms are known only at the end of the message, so the tables are first written as they are.
    """
    try:
        with TemporaryFile(dir=file.parent) as stored:
            places, schemas = [], []
            for table in tables:
                places.append(stored.tell())
                schemas.append(table.schema)
                with pa.ipc.new_stream(stored, table.schema) as stream:
                    stream.write_table(table)
            stored.flush()
            forms = common_forms(schemas)
            with parquet.ParquetWriter(file, schema_of(forms)) as writer:
                for place in places:
                    writer.write_table(in_forms(_read(stored, place), forms))
    except OSError as error:
        raise UsageError(
            f"reading {where}: storing its rows in a temporary file: {reason_of(error)}; the variable TMPDIR names the "
            "folder of such files"
        ) from error


def _read(stored: Any, place: int) -> pa.Table:
    stored.seek(place)
    with pa.ipc.open_stream(stored) as stream:
        return stream.read_all()


def _with_maps(column: Column, kind: str) -> Column | None:
    """Return a column of texts by language, also of several values of a row, as maps; None for any other column."""
    if kind == _TEXTS_BY_LANGUAGE:
        return F.map_from_entries(column)
    return F.transform(column, F.map_from_entries) if kind == f"array<{_TEXTS_BY_LANGUAGE}>" else None
