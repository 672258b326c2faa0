"""A frame prepared for validation: the texts of its components, and the rules for its columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import polars as pl

from kafka_replica.data.polars.condition_translation import ConditionTranslator
from kafka_replica.data.polars.sdmx_texts import as_text, shape_of
from kafka_replica.data.validation.binding import BoundRules, Shape, bind_rules, columns_of_checks
from kafka_replica.data.validation.deletions import DELETION_WIDE
from kafka_replica.data.validation.model import ACTION, Check, Rules
from kafka_replica.data.validation.multi_valued import components_tested_singly

ROW: Final = "__row"
"""The column with the number of the row."""
_ALL: Final = "__all "
"""The prefix of the original columns of lists that are exploded to one row per value; no component has such a name."""
_BETWEEN: Final = "\x1f"


@dataclass(frozen=True)
class PreparedFrame:
    """The texts of a frame's components, one column each, and its rules.

    Attributes:
        texts: the texts, and the number of the row. Columns with several values have lists of texts; NULL means no
            value. All dimensions by which rows are compared are present, as NULL if the frame has no such column.
        bound: the rules for these columns.
        several: the columns with several values.
        floating: the columns with floating-point numbers.
    """

    texts: pl.DataFrame
    bound: BoundRules
    several: frozenset[str]
    floating: frozenset[str]

    @property
    def expressions(self) -> ConditionTranslator:
        """Return the translator of conditions to expressions over ``texts``."""
        return ConditionTranslator({name: pl.col(name) for name in self.texts.columns}, self.floating)

    def broken_rows(self) -> Iterator[tuple[int, pl.DataFrame, pl.Expr]]:
        """Yield the number of each check that is violated, the rows that violate it, and the value to show."""
        checks = self.bound.checks
        alike: dict[tuple[bool, tuple[str, ...]], list[int]] = {}
        for number, check in enumerate(checks):
            lists = components_tested_singly(check.broken, self.several)
            alike.setdefault((check.rule == DELETION_WIDE, lists), []).append(number)
        for (of_deletions, lists), numbers in alike.items():
            rows = self._deletions if of_deletions else self.texts
            expressions = self._of_one(lists) if lists else self.expressions
            rows = self._singly(rows, lists, numbers) if lists else rows
            flags = rows.select([expressions.condition(checks[each].broken).alias(str(each)) for each in numbers])
            for each_number in numbers:
                flagged = flags[str(each_number)]
                if flagged.any():
                    hit = rows.filter(flagged.fill_null(value=False))
                    # If several values of a row are wrong, only the first is reported.
                    hit = hit.unique(ROW, keep="first", maintain_order=True) if lists else hit
                    yield each_number, hit, self._shown(checks[each_number], lists)

    @cached_property
    def _deletions(self) -> pl.DataFrame:
        """The deletions. They are few, so the checks that concern only deletions cost little."""
        return self.texts.filter(~self.expressions.condition(self.bound.applies_to))

    def _singly(self, texts: pl.DataFrame, lists: tuple[str, ...], numbers: Sequence[int]) -> pl.DataFrame:
        """Return a row for each value in these columns of lists, so that a check sees single values."""
        checks = [self.bound.checks[number] for number in numbers]
        wanted = frozenset().union(*(check.looks_at | set(check.shown) for check in checks))
        rows = texts.select(
            ROW,
            *(name for name in texts.columns if name in wanted),
            *(pl.col(name).alias(f"{_ALL}{name}") for name in lists),
        )
        for name in lists:
            rows = rows.explode(name)
        return rows

    def _of_one(self, lists: tuple[str, ...]) -> ConditionTranslator:
        texts = {name: pl.col(name) for name in self.texts.columns}
        return ConditionTranslator(texts, self.floating, texts | {name: pl.col(f"{_ALL}{name}") for name in lists})

    def _shown(self, check: Check, single: tuple[str, ...]) -> pl.Expr:
        return joined_key([
            pl.col(one).list.join(";") if one in self.several and one not in single else pl.col(one)
            for one in check.shown
            if one in self.texts.columns
        ])  # fmt: skip

    def to_compare(self) -> pl.DataFrame:
        """Return the texts in a comparable form: several values become one text, regardless of their order."""
        return self.texts.with_columns([pl.col(name).list.sort().list.join(_BETWEEN) for name in sorted(self.several)])

    def shown_text(self, component: str) -> pl.Expr:
        """Return a component of :meth:`to_compare` as findings show it, with ``;`` between several values.

        It is NULL if the frame has no such column.
        """
        text = pl.col(component) if component in self.texts.columns else pl.lit(None, pl.String)
        return text.str.replace_all(_BETWEEN, ";", literal=True) if component in self.several else text


def joined_key(texts: Sequence[pl.Expr]) -> pl.Expr:
    """Join values with dots, as in keys; a missing value becomes an empty text."""
    if not texts:
        return pl.lit(None, pl.String)
    if len(texts) == 1:
        return texts[0]
    return pl.concat_str([text.fill_null("") for text in texts], separator=".")


def prepare_frame(df: pl.DataFrame, rules: Rules) -> PreparedFrame:
    """Prepare the frame for validation.

    Raises:
        UsageError: a dimension or the action has several values in a row.
    """
    wanted = {column.id for column in rules.columns} | {ACTION}
    kinds = {name: kind for name, kind in df.schema.items() if name in columns_of_checks(rules, df.columns)}
    shapes: dict[str, Shape] = {name: shape_of(kind) for name, kind in kinds.items()}
    others: dict[str, Shape] = {name: shape for name, shape in shapes.items() if shape != "text"}
    bound = bind_rules(rules, df.columns, others)
    kinds = {name: kind for name, kind in kinds.items() if name in wanted | bound.read}
    several = frozenset(name for name, shape in shapes.items() if name in kinds and shape in {"values", "languages"})
    texts = {name: pl.lit(None, pl.String) for name in bound.compares_by}
    for name, kind in kinds.items():
        text = as_text(name, kind) if shapes[name] != "other" else _present(name)
        texts[name] = _given(text) if name in several else text
    floating = frozenset(name for name, kind in kinds.items() if _is_floating(kind))
    # The number of the row is selected first, because a selection of constants alone would have only one row.
    numbered = df.select(
        pl.int_range(pl.len(), dtype=pl.UInt32).alias(ROW), *(text.alias(name) for name, text in texts.items())
    )
    return PreparedFrame(numbered, bound, several, floating)


def _given(texts: pl.Expr) -> pl.Expr:
    """Return the non-empty values; NULL if there is none."""
    given = texts.list.drop_nulls()
    return pl.when(given.list.len() > 0).then(given)


def _is_floating(kind: pl.DataType) -> bool:
    inner = kind.inner if isinstance(kind, pl.List) else kind
    return isinstance(inner, pl.DataType) and inner.is_float()


def _present(name: str) -> pl.Expr:
    """Return an empty text where the column has a value, else NULL, because the value has no representation as text."""
    return pl.when(pl.col(name).is_not_null()).then(pl.lit(""))
