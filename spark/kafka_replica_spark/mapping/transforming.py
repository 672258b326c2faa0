"""Map the observations of a data frame with Spark's own expressions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import ArrayType, MapType, StructField, StructType

from kafka_replica import Snapshot
from kafka_replica.data.mapping.columns import Columns, columns_for
from kafka_replica.data.mapping.model import SOURCE, MapPlan
from kafka_replica.data.mapping.plan_argument import plan_for
from kafka_replica.data.mapping.row_mapping import (
    OURS,
    ConditionalFinding,
    MappingResult,
    ambiguous_key_finding,
    compared_keys,
    map_rows,
)
from kafka_replica.data.validation.model import ERRORS
from kafka_replica.errors import UsageError
from kafka_replica.sdmx import Urn
from kafka_replica_spark.errors_column import Finding, Item, in_full, with_findings
from kafka_replica_spark.frames import position_json
from kafka_replica_spark.mapping.engine import SparkEngine
from kafka_replica_spark.rows import ERRORS_TYPE, named_column
from kafka_replica_spark.stamps import with_stamp

_DELETES: Final = f"{OURS}deletes"
_KEY: Final = f"{OURS}key_"
_HASHES: Final = (f"{OURS}hash_1", f"{OURS}hash_2")
_SHARED: Final = f"{OURS}shared"
_CONDITION_NODES: Final = 4
"""The approximate number of nodes in the condition that a component could not be mapped."""


def transform(
    df: DataFrame,
    reference: Urn | str | MapPlan,
    snapshot: Snapshot | None = None,
    *,
    rules: Mapping[str, str] | None = None,
    reverse: bool = False,
    as_of: date | None = None,
    stamp: bool = False,
) -> DataFrame:
    """Return the frame mapped to another structure, with a column ``_errors`` that describes what cannot be mapped.

    Each row is an observation, and each column a component, whose exact id is the column's name; a component without a
    column counts as empty. The result has a column for each target component that the map gives a value, and the
    columns that are not components, such as ``ACTION``. Target columns are strings, but components that are only copied
    keep the type of their column. Columns that name the structure (SDMX-CSV) are left out. In rows with findings, the
    struct ``_source`` has the original row; ``split`` returns good rows with only target components, and bad rows
    unchanged. Only Spark's own expressions are used; the data is not read before an action.

    The metadata of ``_errors`` in the schema has ``version`` (int), ``position`` (JSON; only with a snapshot),
    ``artefact`` (URN of the map), ``target`` (URN of the target) and ``unchecked`` (list of strings: the parts that the
    map leaves open).

    Args:
        df: the observations. Rows of a streaming frame are not compared with each other (``ambiguous-key``).
        reference: the URN of a structure map, which may be in a structure set (2.1), a short reference, or a plan.
        snapshot: the version of the map; None with a plan.
        rules: rule code to ``error``, ``warning``, ``information`` or ``off``; see
            :data:`kafka_replica.data.mapping.MAP_RULES`.
        reverse: whether to map back; see :func:`kafka_replica.data.mapping.inverse`.
        as_of: the date to which two-digit years are assumed to be close; None means today.
        stamp: whether to add the constant columns ``_version`` (long) and ``_position`` (string, JSON).

    Raises:
        UsageError: a column conflicts with the result, or has several values that would have to be mapped; or a stamp
            is requested without a snapshot.
        MapError: the map cannot be carried out.
        NotInvertibleError: the map has no inverse.
        ArtefactNotFoundError: the map, or an artefact that it refers to, is not in this version.
        SdmxError: the map, or an artefact that it refers to, cannot be read.
    """
    plan = plan_for(reference, snapshot, rules, as_of, reverse=reverse)
    columns = _columns_of(df, plan)
    engine = SparkEngine(df)
    mapped = map_rows(plan, engine, columns.unknown)
    result = _result(engine.frame, plan, mapped, columns, _metadata(plan, snapshot))
    return with_stamp(result, snapshot, f"mapping by {plan.artefact}") if stamp else result


def _columns_of(df: DataFrame, plan: MapPlan) -> Columns:
    """Return the columns that a map reads and carries over.

    Raises:
        UsageError: Spark cannot distinguish two columns of the frame or of the result, or a column to be mapped has
            several values.
    """
    folded = [name.lower() for name in df.columns]
    if len(set(folded)) < len(folded):
        raise UsageError(
            f"mapping by {plan.artefact}: two columns have names that Spark cannot distinguish; rename one"
        )
    several = [field.name for field in df.schema.fields if isinstance(field.dataType, ArrayType | MapType | StructType)]
    columns = columns_for(plan, df.columns, several)
    _check_letter_case(plan, columns)
    return columns


def _metadata(plan: MapPlan, snapshot: Snapshot | None) -> dict[str, Any]:
    """Return the metadata of the column ``_errors``; see :func:`transform`."""
    metadata: dict[str, Any] = {
        "version": plan.version, "artefact": str(plan.artefact), "target": str(plan.target.urn),
        "unchecked": list(plan.notes),
    }  # fmt: skip
    return metadata if snapshot is None else metadata | {"position": position_json(snapshot)}


def _result(
    frame: DataFrame, plan: MapPlan, mapped: MappingResult, columns: Columns, metadata: dict[str, Any]
) -> DataFrame:
    targets = {
        name: F.array(*map(F.lit, mapped.fixed[name])) if name in mapped.fixed else
        named_column(mapped.kept[name]) if name in mapped.kept else text
        for name, text in mapped.targets.items()
    }  # fmt: skip
    targets |= {name: F.when(~left_out, targets[name]) for name, left_out in mapped.left_out.items()}
    # The fields must be nullable, because in Arrow the fields of a NULL struct are NULL.
    fields = [StructField(field.name, field.dataType) for field in frame.schema.fields if field.name in columns.all]
    ordered = sorted(fields, key=lambda field: columns.all.index(field.name))
    source = F.struct(*map(named_column, columns.all)).cast(StructType(ordered))
    keys = () if frame.isStreaming else compared_keys(plan)
    errors = F.col(ERRORS)
    is_wrong = errors.isNotNull()
    made = with_findings(frame, [_item(finding) for finding in mapped.found], metadata).select(
        *(column.alias(name) for name, column in targets.items()),
        *map(named_column, columns.carried),
        (source if keys else F.when(is_wrong, source)).alias(SOURCE),
        errors,
        *([mapped.is_delete.alias(_DELETES)] if keys else []),
        *(mapped.targets[key].alias(f"{_KEY}{number}") for number, key in enumerate(keys)),
    )
    if not keys:
        return made
    made = _with_ambiguous_keys(made, plan, keys)
    return made.select(
        *map(named_column, targets), *map(named_column, columns.carried),
        F.when(is_wrong, F.col(SOURCE)).alias(SOURCE), errors.alias(ERRORS, metadata=metadata),
    )  # fmt: skip


def _check_letter_case(plan: MapPlan, columns: Columns) -> None:
    named = Counter(name.lower() for name in (*plan.targets, *columns.carried))
    indistinct = [name for name in (*columns.carried, *plan.targets) if named[name.lower()] > 1]
    if indistinct:
        raise UsageError(
            f"mapping by {plan.artefact}: the result would have columns that Spark cannot distinguish: "
            f"{', '.join(indistinct)}; rename or drop one, or map with engine='local'"
        )


def _item(conditional_finding: ConditionalFinding) -> Item:
    size = _CONDITION_NODES * (1 + conditional_finding.component.count("."))
    return Item(conditional_finding.is_found, conditional_finding.is_found, Finding(*conditional_finding[1:]), size)


def _with_ambiguous_keys(made: DataFrame, plan: MapPlan, keys: Sequence[str]) -> DataFrame:
    """Add a finding to mapped rows whose keys, compared as text, are equal.

    Only hashes are grouped, and only groups of more than one row are joined to the rows, as a broadcast.
    """
    errors = F.col(ERRORS)
    failed = F.coalesce(F.exists(errors, lambda one: one["severity"] == "error"), F.lit(False))
    counts = ~failed & ~F.col(_DELETES)
    texts = [F.col(f"{_KEY}{number}") for number in range(len(keys))]
    parts = [part for text in texts for part in (text, text.isNull())]
    hashes = [F.xxhash64(F.lit(seed), *parts).alias(name) for seed, name in enumerate(_HASHES)]
    groups = made.filter(counts).groupBy(*hashes).agg((F.count("*") > 1).alias(_SHARED)).filter(F.col(_SHARED))
    joined = made.select("*", *hashes).join(F.broadcast(groups), list(_HASHES), "left")
    shared = F.coalesce(F.col(_SHARED), F.lit(False)) & counts
    shown = F.concat_ws(".", *(F.coalesce(text, F.lit("")) for text in texts))
    finding = F.array(in_full(Finding(*ambiguous_key_finding(plan, keys, shared, shown)[1:]))).cast(ERRORS_TYPE)
    added = F.when(errors.isNull(), finding).otherwise(F.concat(errors, finding))
    return joined.withColumn(ERRORS, F.when(shared, added).otherwise(errors))
