"""Map the observations of a polars frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, Final

import polars as pl

from kafka_replica.data.mapping.columns import columns_for
from kafka_replica.data.mapping.model import SOURCE, MapPlan
from kafka_replica.data.mapping.plan_argument import plan_for
from kafka_replica.data.mapping.row_mapping import OURS, ambiguous_key_finding, compared_keys, map_rows
from kafka_replica.data.mapping.row_mapping import MappingResult as Evaluated
from kafka_replica.data.polars.frame_conversion import as_frame
from kafka_replica.data.polars.mapping.engine import PolarsEngine
from kafka_replica.data.polars.validation import ERRORS_TYPE, finding_of
from kafka_replica.data.validation.model import ERRORS
from kafka_replica.sdmx import Snapshot, Urn

_DELETES = f"{OURS}deletes"
_KEY = f"{OURS}key_"


def transform(
    frame: Any,
    reference: Urn | str | MapPlan,
    snapshot: Snapshot | None = None,
    *,
    rules: Mapping[str, str] | None = None,
    reverse: bool = False,
    as_of: date | None = None,
) -> pl.DataFrame:
    """Return the frame mapped to another structure, with a column ``_errors`` that describes what cannot be mapped.

    Each row is an observation, and each column a component, whose exact id is the column's name; a component without a
    column counts as empty. The result has a column for each target component that the map gives a value, and the
    columns that are not components, such as ``ACTION``. Target columns are texts, but components that are only copied
    keep the type of their column. Columns that name the structure (SDMX-CSV) are left out. In rows with findings, the
    struct ``_source`` has the original row; ``split`` returns good rows with only target components, and bad rows
    unchanged. The order of rows is kept.

    Args:
        frame: a polars, pandas or Arrow table, or a list of dictionaries.
        reference: the URN of a structure map, which may be in a structure set (2.1), a short reference, or a plan.
        snapshot: the version to take the map from; None with a plan.
        rules: rule code to ``error``, ``warning``, ``information`` or ``off``; see
            :data:`kafka_replica.data.mapping.MAP_RULES`.
        reverse: whether to map back; see :func:`kafka_replica.data.mapping.inverse`.
        as_of: the date to which two-digit years are assumed to be close; None means today.

    Raises:
        UsageError: the name of a column is reserved, ambiguous, or that of a target component, or a column has several
            values that would have to be mapped.
        MapError: the map cannot be carried out.
        NotInvertibleError: the map has no inverse.
        ArtefactNotFoundError: the map, or an artefact that it refers to, is not in this version.
        SdmxError: one of these artefacts cannot be read.
    """
    plan = plan_for(reference, snapshot, rules, as_of, reverse=reverse)
    mapped = MappedRows(as_frame(frame), plan)
    return mapped.result(mapped.repeated())


class MappedRows:
    """The mapped rows of a frame, whose keys can be compared with each other or with those of other frames.

    Attributes:
        rows: the rows, with additional internal columns.
    """

    def __init__(self, df: pl.DataFrame, plan: MapPlan) -> None:
        """Map a frame; the errors are those of :func:`transform`."""
        self._plan, self._keys = plan, compared_keys(plan)
        self.rows: Final = _made(df, plan, self._keys)

    @property
    def key_columns(self) -> list[str]:
        """Return the columns with the texts of keys; empty if keys are not compared."""
        return [f"{_KEY}{number}" for number in range(len(self._keys))]

    @property
    def is_compared(self) -> pl.Expr:
        """Return whether a row is compared with others: it was mapped without errors, and is not a deletion."""
        severe = pl.element().struct.field("severity") == "error"
        return ~pl.col(ERRORS).list.eval(severe).list.any().fill_null(value=False) & ~pl.col(_DELETES)

    def repeated(self) -> pl.Series:
        """Return, for each row, whether another row has the same key."""
        if not self._keys:
            return pl.Series([False]).new_from_index(0, self.rows.height)
        counts = self.is_compared
        return self.rows.select(counts & (counts.sum().over(self.key_columns) > 1)).to_series()

    def result(self, repeated: pl.Series) -> pl.DataFrame:
        """Return the mapped frame, with a finding for each row whose key is repeated."""
        made = self.rows
        if self._keys:
            shown = pl.concat_str([pl.col(name).fill_null("") for name in self.key_columns], separator=".")
            fields = ambiguous_key_finding(self._plan, self._keys, repeated, shown)[1:]
            finding = pl.concat_list(finding_of(fields)).cast(ERRORS_TYPE)
            added = pl.when(pl.col(ERRORS).is_null()).then(finding).otherwise(pl.col(ERRORS).list.concat(finding))
            made = made.with_columns(pl.when(repeated).then(added).otherwise(pl.col(ERRORS)).alias(ERRORS))
        made = made.with_columns(pl.when(pl.col(ERRORS).is_not_null()).then(pl.col(SOURCE)).alias(SOURCE))
        return made.drop(_DELETES, *self.key_columns)


def _made(df: pl.DataFrame, plan: MapPlan, keys: Sequence[str]) -> pl.DataFrame:
    if not df.width:
        # A frame without columns has no rows, but the result must have the usual columns.
        df = pl.DataFrame(schema=dict.fromkeys(plan.source.components, pl.String))
    several = [name for name, kind in df.schema.items() if isinstance(kind, pl.List | pl.Array | pl.Struct)]
    columns = columns_for(plan, df.columns, several)
    engine = PolarsEngine(df)
    mapped = map_rows(plan, engine, columns.unknown)
    targets = {
        name: pl.lit(pl.Series([mapped.fixed[name]])).first() if name in mapped.fixed else
        pl.col(mapped.kept[name]) if name in mapped.kept else text
        for name, text in mapped.targets.items()
    }  # fmt: skip
    targets |= {name: pl.when(~left_out).then(targets[name]) for name, left_out in mapped.left_out.items()}
    return engine.frame.select(
        *(expression.alias(name) for name, expression in targets.items()),
        *(pl.col(name) for name in columns.carried),
        mapped.is_delete.alias(_DELETES),
        *(mapped.targets[name].alias(f"{_KEY}{number}") for number, name in enumerate(keys)),
        pl.struct(columns.all).alias(SOURCE),
        _errors(mapped).alias(ERRORS),
    )


def _errors(mapped: Evaluated) -> pl.Expr:
    if not mapped.found:
        return pl.lit(None, ERRORS_TYPE)
    listed = pl.concat_list([
        pl.when(one.is_found).then(finding_of(one[1:])) for one in mapped.found
    ]).list.drop_nulls()  # fmt: skip
    wrong = pl.any_horizontal([one.is_found.fill_null(value=False) for one in mapped.found])
    return pl.when(wrong).then(listed).cast(ERRORS_TYPE)
