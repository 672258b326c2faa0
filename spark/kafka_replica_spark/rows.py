"""A data frame made ready: the texts of its components, and the rules for its columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import ArrayType, DataType, DoubleType, FloatType

from kafka_replica.errors import UsageError
from kafka_replica.rules.binding import Bound, bind
from kafka_replica.rules.model import ACTION, FIELDS, Check, Rules
from kafka_replica.rules.several import parted
from kafka_replica_spark.cells import bytes_for
from kafka_replica_spark.expressions import Expressions
from kafka_replica_spark.texts import as_text, shape_of

ERRORS_TYPE: Final = f"array<struct<{','.join(f'{field}:string' for field in FIELDS)}>>"
"""The type of the column ``_errors``."""


@dataclass(frozen=True)
class Prepared:
    """The texts of a frame's components as columns, and its rules.

    Attributes:
        df: the frame.
        texts: the text of each component that is there; arrays of them where it holds several values.
        bound: the rules for these columns.
        expressions: makes expressions over ``texts``.
        several: the columns that hold several values.
    """

    df: DataFrame
    texts: Mapping[str, Column]
    bound: Bound
    expressions: Expressions
    several: frozenset[str]

    @property
    def screened(self) -> tuple[Check, ...]:
        """The checks of components that hold one value each."""
        return tuple(check for check in self.bound.checks if check.component not in self.several)

    def broken(self, check: Check) -> Column:
        """Whether a row breaks a check; of an array, whether one of its values does."""
        id_ = check.component
        if id_ is None or id_ not in self.several:
            return self.expressions.broken(check.broken)
        inner, outer = parted(check.broken, id_)
        found = self.expressions.condition(outer)
        if inner is None:
            return found
        each = inner
        return found & F.exists(self.texts[id_], lambda one: self.expressions.of_each({id_: one}).condition(each))

    def shown(self, check: Check) -> Column:
        """The value that a finding shows; of an array the first that is wrong."""
        id_ = check.component
        if id_ is not None and id_ in self.several:
            inner, _ = parted(check.broken, id_)
            if inner is None:
                return F.array_join(self.texts[id_], ";")
            each = inner
            wrong = F.filter(self.texts[id_], lambda one: self.expressions.of_each({id_: one}).condition(each))
            return F.get(wrong, F.lit(0))
        return joined([self.texts[one] for one in check.shown if one in self.texts])


def joined(texts: Sequence[Column]) -> Column:
    """Values joined by dots, as keys are written; an empty one is nothing."""
    if not texts:
        return F.lit(None).cast("string")
    if len(texts) == 1:
        return texts[0]
    return F.concat_ws(".", *(F.coalesce(one, F.lit("")) for one in texts))


def prepared(df: DataFrame, rules: Rules) -> Prepared:
    """The frame made ready for rules.

    Raises:
        UsageError: more than one column is called like a component; Spark does not tell upper from lower case.
    """
    wanted = {column.id for column in rules.columns} | {ACTION}
    folded = Counter(name.lower() for name in df.columns)
    twice = sorted({name for name in df.columns if name in wanted and folded[name.lower()] > 1})
    if twice:
        raise UsageError(
            f"validating against {rules.artefact}: more than one column is called {', '.join(twice)}; rename the others"
        )
    kinds = {field.name: field.dataType for field in df.schema.fields if field.name in wanted}
    shapes = {name: shape_of(kind) for name, kind in kinds.items()}
    bound = bind(rules, df.columns, {name: shape for name, shape in shapes.items() if shape != "text"})
    texts = {
        name: as_text(quoted(name), kind) if shapes[name] != "other" else _present(name) for name, kind in kinds.items()
    }
    several = frozenset(name for name, shape in shapes.items() if shape in {"values", "languages"})
    floating = frozenset(name for name, kind in kinds.items() if _holds_floats(kind))
    return Prepared(df, texts, bound, Expressions(texts, floating, put=bytes_for(df)), several)


def quoted(name: str) -> Column:
    """A column by its name, whatever is in it."""
    return F.col(f"`{name.replace('`', '``')}`")


def _holds_floats(kind: DataType) -> bool:
    inner = kind.elementType if isinstance(kind, ArrayType) else kind
    return isinstance(inner, FloatType | DoubleType)


def _present(name: str) -> Column:
    """Something where something stands."""
    return F.when(quoted(name).isNotNull(), F.lit(""))
