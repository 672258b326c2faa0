"""Stamp a frame with its version, in columns and in the metadata of its schema."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812

from kafka_replica import Snapshot
from kafka_replica.errors import UsageError
from kafka_replica_spark.tables import OmittedArtefact

VERSION: Final = "_version"
"""The column with the number of the version from which a row comes."""
POSITION: Final = "_position"
"""The column with the position of this version, as a JSON object: ``{"topic-partition": offset}``."""

_LISTED: Final = 100
_PLAIN: Final[Mapping[pa.DataType, T.DataType]] = {
    pa.string(): T.StringType(),
    pa.bool_(): T.BooleanType(),
    pa.int32(): T.IntegerType(),
    pa.int64(): T.LongType(),
}


def position_json(snapshot: Any) -> str:
    """Return the position of a snapshot as JSON, ``{"topic-partition": offset}``."""
    return json.dumps(snapshot.position.as_json())


def with_stamp(df: DataFrame, snapshot: Snapshot | None, doing: str) -> DataFrame:
    """Return the frame with the columns ``_version`` and ``_position``.

    Args:
        df: the frame.
        snapshot: the version.
        doing: the action, for errors.

    Raises:
        UsageError: there is no snapshot, or the frame already has one of these columns.
    """
    if snapshot is None:
        raise UsageError(f"{doing} with a stamp: give the snapshot; compiled rules have no position")
    folded = {name.lower() for name in df.columns}
    taken = [name for name in (VERSION, POSITION) if name in folded]
    if taken:
        raise UsageError(f"{doing} with a stamp: the frame has a column {', '.join(taken)}; drop it first")
    version = F.lit(snapshot.version).cast("bigint").alias(VERSION)
    return df.select("*", version, F.lit(position_json(snapshot)).alias(POSITION))


def stamp_metadata(view: str, version: int, position: str, unreadable: Sequence[OmittedArtefact]) -> dict[str, Any]:
    """Return the metadata of a frame.

    The keys are ``view``, ``version``, ``position``, ``unreadable_count``, and ``unreadable``, which has the first 100
    artefacts that are missing from the frame or incomplete in it.
    """
    return {
        "view": view,
        "version": version,
        "position": position,
        "unreadable_count": len(unreadable),
        "unreadable": [f"{one.urn}: {one.reason}" for one in unreadable[:_LISTED]],
    }


def stamped_schema(schema: pa.Schema, values: Mapping[str, Any]) -> T.StructType:
    """Return the schema of a frame with the columns ``_version`` and ``_position``, which have the metadata."""
    return T.StructType(
        [
            *(T.StructField(one.name, spark_type(one.type)) for one in schema),
            T.StructField(VERSION, T.LongType(), False, dict(values)),
            T.StructField(POSITION, T.StringType(), False, dict(values)),
        ]
    )


def spark_type(kind: pa.DataType) -> T.DataType:
    """Return Spark's type for an Arrow type of a view."""
    if isinstance(kind, pa.MapType):
        return T.MapType(spark_type(kind.key_type), spark_type(kind.item_type))
    if isinstance(kind, pa.ListType):
        return T.ArrayType(spark_type(kind.value_type))
    if isinstance(kind, pa.StructType):
        return T.StructType([T.StructField(field.name, spark_type(field.type)) for field in kind.fields])
    return _PLAIN[kind]
