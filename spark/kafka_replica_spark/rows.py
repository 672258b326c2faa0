"""A data frame prepared for validation: the texts of its components, and the rules for its columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import ArrayType, DataType, DoubleType, FloatType

from kafka_replica.data.validation.binding import BoundRules, Shape, bind_rules, columns_of_checks
from kafka_replica.data.validation.model import ACTION, FIELDS, Check, Rules
from kafka_replica.data.validation.multi_valued import components_tested_singly
from kafka_replica.errors import UsageError
from kafka_replica_spark.expressions import Expressions
from kafka_replica_spark.literal_table import bytes_for
from kafka_replica_spark.matching import omitted_matches
from kafka_replica_spark.texts import as_text, shape_of

ERRORS_TYPE: Final = f"array<struct<{','.join(f'{field}:string' for field in FIELDS)}>>"
"""The type of the column ``_errors``."""
MARK: Final = "__broken_"
"""The prefix of the names of columns that are added during validation, and dropped at its end."""
_BETWEEN: Final = "\x1f"


@dataclass(frozen=True)
class PreparedFrame:
    """The texts of a frame's components as columns, and its rules.

    Attributes:
        df: the frame.
        texts: the text of each component, or an array of texts if the component has several values; NULL means no
            value. All dimensions by which rows are compared are present, as NULL if the frame has no such column.
        bound: the rules for these columns.
        expressions: the translator of conditions to expressions over ``texts``.
        several: the columns with several values.
        floating: the columns with floating-point numbers.
    """

    df: DataFrame
    texts: Mapping[str, Column]
    bound: BoundRules
    expressions: Expressions
    several: frozenset[str]
    floating: frozenset[str]

    @property
    def screened(self) -> tuple[Check, ...]:
        """The checks that apply to a row as a whole, and not to single values of a column with several values."""
        return tuple(check for check in self.bound.checks if not components_tested_singly(check.broken, self.several))

    def broken(self, check: Check) -> Column:
        """Return whether a row breaks a check; for arrays, whether any value does."""
        lists = components_tested_singly(check.broken, self.several)
        return self._exists(check, lists, {}) if lists else self.expressions.broken(check.broken)

    def shown(self, check: Check) -> Column:
        """Return the value that a finding shows; for arrays, the first wrong value."""
        lists = components_tested_singly(check.broken, self.several)
        if not lists:
            return self._values(check, {})
        return F.get(F.filter(self._wrong(check, lists, {}), lambda one: one.isNotNull()), F.lit(0))

    def to_compare(self, component: str) -> Column:
        """Return a text in a comparable form: several values become one text, regardless of their order."""
        text = self.texts[component]
        return F.array_join(F.array_sort(text), _BETWEEN) if component in self.several else text

    def shown_text(self, component: str) -> Column:
        """Return a component of :meth:`to_compare` as findings show it, with ``;`` between several values.

        It is NULL if the frame has no such column.
        """
        if component not in self.texts:
            return F.lit(None).cast("string")
        text = self.to_compare(component)
        return F.replace(text, F.lit(_BETWEEN), F.lit(";")) if component in self.several else text

    def _exists(self, check: Check, lists: tuple[str, ...], chosen: dict[str, Column]) -> Column:
        if not lists:
            return self._of_one(chosen).condition(check.broken)
        first, *rest = lists
        return F.exists(self._or_nothing(first), lambda one: self._exists(check, tuple(rest), {**chosen, first: one}))

    def _wrong(self, check: Check, lists: tuple[str, ...], chosen: dict[str, Column]) -> Column:
        """Return the value to show for each combination of values; NULL if the combination does not break the check."""
        if not lists:
            return F.array(F.when(self._of_one(chosen).condition(check.broken), self._values(check, chosen)))
        first, *rest = lists
        return F.flatten(
            F.transform(self._or_nothing(first), lambda one: self._wrong(check, tuple(rest), {**chosen, first: one}))
        )

    def _of_one(self, chosen: dict[str, Column]) -> Expressions:
        return Expressions({**self.texts, **chosen}, self.floating, lists=self.texts)

    def _or_nothing(self, component: str) -> Column:
        """Return the values of a component, or a single NULL if it has no values."""
        return F.coalesce(self.texts[component], F.array(F.lit(None).cast("string")))

    def _values(self, check: Check, chosen: dict[str, Column]) -> Column:
        texts = {
            name: F.array_join(text, ";") if name in self.several and name not in chosen else chosen.get(name, text)
            for name, text in self.texts.items()
            if name in check.shown
        }
        return join_with_dots([texts[one] for one in check.shown if one in texts])


def join_with_dots(texts: Sequence[Column]) -> Column:
    """Join values with dots, as in keys; a missing value becomes an empty text. Without texts, the result is NULL."""
    if not texts:
        return F.lit(None).cast("string")
    if len(texts) == 1:
        return texts[0]
    return F.concat_ws(".", *(F.coalesce(text, F.lit("")) for text in texts))


def prepare_frame(df: DataFrame, rules: Rules) -> PreparedFrame:
    """Prepare a frame for validation.

    Raises:
        UsageError: several columns have the name of a component, or of an unknown column that deletions must not have
            (Spark's names are case-insensitive); or a dimension or the action has several values in a row.
    """
    wanted = {column.id for column in rules.columns} | {ACTION}
    may_be_read = columns_of_checks(rules, df.columns)
    kinds = {field.name: field.dataType for field in df.schema.fields if field.name in may_be_read}
    shapes: dict[str, Shape] = {name: shape_of(kind) for name, kind in kinds.items()}
    others: dict[str, Shape] = {name: shape for name, shape in shapes.items() if shape != "text"}
    bound = bind_rules(rules, df.columns, others)
    _check_letter_case(df.columns, wanted | bound.read, rules)
    kinds = {name: kind for name, kind in kinds.items() if name in wanted | bound.read}
    bound = replace(bound, unchecked=(*bound.unchecked, *omitted_matches(bound.checks)))
    several = frozenset(name for name, shape in shapes.items() if name in kinds and shape in {"values", "languages"})
    texts = {name: F.lit(None).cast("string") for name in bound.compares_by}
    for name, kind in kinds.items():
        text = as_text(named_column(name), kind) if shapes[name] != "other" else _present(name)
        texts[name] = _given(text) if name in several else text
    floating = frozenset(name for name, kind in kinds.items() if _is_floating(kind))
    return PreparedFrame(df, texts, bound, Expressions(texts, floating, put=bytes_for(df)), several, floating)


def _check_letter_case(columns: Sequence[str], read: AbstractSet[str], rules: Rules) -> None:
    """Refuse columns that are read, and that Spark cannot distinguish."""
    folded = Counter(name.lower() for name in columns)
    twice = sorted({name for name in columns if name in read and folded[name.lower()] > 1})
    if twice:
        raise UsageError(
            f"validating against {rules.artefact}: more than one column is called {', '.join(twice)}; rename the others"
        )


def with_texts_computed_once(rows: PreparedFrame) -> PreparedFrame:
    """Return the rows with the texts of floating-point columns in separate columns.

    Such a text is a large expression. A condition that uses the text several times would contain a copy for each use,
    and nested conditions would multiply the copies, so that planning would take minutes.
    """
    names = {name: f"{MARK}text{number}" for number, name in enumerate(sorted(rows.floating))}
    if not names:
        return rows
    df = rows.df.select("*", *(rows.texts[name].alias(column) for name, column in names.items()))
    texts = {**rows.texts, **{name: F.col(column) for name, column in names.items()}}
    return replace(rows, df=df, texts=texts, expressions=Expressions(texts, rows.floating, put=bytes_for(df)))


def _given(texts: Column) -> Column:
    """Return the values without NULL; NULL if there are no values."""
    given = F.array_compact(texts)
    return F.when(F.size(given) > 0, given)


def _is_floating(kind: DataType) -> bool:
    return isinstance(kind.elementType if isinstance(kind, ArrayType) else kind, FloatType | DoubleType)


def named_column(name: str) -> Column:
    """Return a column by its name, which may contain any characters."""
    return F.col(f"`{name.replace('`', '``')}`")


def _present(name: str) -> Column:
    """Return an empty text where the column has a value, else NULL, because the value has no representation as text."""
    return F.when(named_column(name).isNotNull(), F.lit(""))
