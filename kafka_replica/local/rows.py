"""A frame made ready: the texts of its components, and the rules for its columns."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from kafka_replica.local.expressions import Expressions
from kafka_replica.local.texts import as_text, shape_of
from kafka_replica.rules.binding import Bound, bind
from kafka_replica.rules.model import ACTION, Check, Rules
from kafka_replica.rules.several import parted


@dataclass(frozen=True)
class Prepared:
    """The texts of a frame's components, one column each, and its rules.

    Attributes:
        texts: the texts; lists of them for columns that hold several values.
        bound: the rules for these columns.
        expressions: makes expressions over ``texts``.
        several: the columns that hold several values.
    """

    texts: pl.DataFrame
    bound: Bound
    expressions: Expressions
    several: frozenset[str]

    def broken(self, check: Check) -> pl.Expr:
        """Whether a row breaks a check; of a list, whether one of its values does."""
        id_ = check.component
        if id_ is None or id_ not in self.several:
            return self.expressions.condition(check.broken)
        inner, outer = parted(check.broken, id_)
        found = self.expressions.condition(outer)
        if inner is None:
            return found
        each = self.expressions.of_each({id_: pl.element()}).condition(inner)
        return found & pl.col(id_).list.eval(each).list.any()

    def shown(self, check: Check) -> pl.Expr:
        """The value that a finding shows; of a list the first that is wrong."""
        id_ = check.component
        if id_ is not None and id_ in self.several:
            inner, _ = parted(check.broken, id_)
            if inner is None:
                return pl.col(id_).list.join(";")
            each = self.expressions.of_each({id_: pl.element()}).condition(inner)
            return pl.col(id_).list.eval(pl.element().filter(each)).list.first()
        return joined([one for one in check.shown if one in self.texts.columns])


def joined(names: list[str]) -> pl.Expr:
    """Values joined by dots, as keys are written; an empty one is nothing."""
    if not names:
        return pl.lit(None, pl.String)
    if len(names) == 1:
        return pl.col(names[0])
    return pl.concat_str([pl.col(one).fill_null("") for one in names], separator=".")


def prepared(df: pl.DataFrame, rules: Rules) -> Prepared:
    """The frame made ready for rules."""
    wanted = {column.id for column in rules.columns} | {ACTION}
    kinds = {name: kind for name, kind in df.schema.items() if name in wanted}
    shapes = {name: shape_of(kind) for name, kind in kinds.items()}
    bound = bind(rules, df.columns, {name: shape for name, shape in shapes.items() if shape != "text"})
    texts = {
        name: as_text(name, kind) if shapes[name] != "other" else _present(name) for name, kind in kinds.items()
    }  # fmt: skip
    several = frozenset(name for name, shape in shapes.items() if shape in {"values", "languages"})
    floating = frozenset(name for name, kind in kinds.items() if _holds_floats(kind))
    expressions = Expressions({name: pl.col(name) for name in texts}, floating)
    return Prepared(df.select(**texts), bound, expressions, several)


def _holds_floats(kind: pl.DataType) -> bool:
    inner = kind.inner if isinstance(kind, pl.List) else kind
    return isinstance(inner, pl.DataType) and inner.is_float()


def _present(name: str) -> pl.Expr:
    """Something where something stands."""
    return pl.when(pl.col(name).is_not_null()).then(pl.lit(""))
