"""The rules: demands of a data structure as native Spark conditions that are true where a row breaks them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from operator import or_
from typing import Final, NamedTuple

from pyspark.errors import PySparkException
from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import ArrayType, BinaryType, DataType, DoubleType, FloatType, MapType, StructType, VariantType

from kafka_replica.sdmx import TextFormat
from kafka_replica_spark.checks import Demand
from kafka_replica_spark.membership import as_text, is_in
from kafka_replica_spark.texts import BOUNDED, FREE_TYPES, NUMBER_TYPES, TIME_TYPES, WRITTEN, anchored

# Of XML Schema's expressions, what Java lacks or, worse, takes for something else.
_FOREIGN: Final = ("\\i", "\\I", "\\c", "\\C", "-[", "&&")
_NOT_CHECKED: Final = ("interval", "decimals", "time_interval", "start_time", "end_time")


class Rule(NamedTuple):
    """One condition: ``broken`` is true where a row breaks it, false or NULL where not."""

    rule: str
    component: str
    broken: Column
    value: Column
    message: str
    artefact: str


class Compiler:
    """Makes the rules of the components that a frame has; ``unchecked`` says what it could not make rules of."""

    def __init__(self, spark: SparkSession, structure: str) -> None:
        self._spark = spark
        self._structure = structure
        self.unchecked: list[str] = []

    def rules(self, demand: Demand, kind: DataType) -> Iterator[Rule]:
        """The rules of one component whose column has that type."""
        if isinstance(kind, ArrayType | BinaryType | MapType | StructType | VariantType):
            missing = F.col(f"`{demand.id}`").isNull()
            yield from self._missing(demand, missing, F.lit(None).cast("string"))
            self._leave(demand, f"values in a column of type {kind.simpleString()}")
            return
        text = as_text(demand.id, kind)
        yield from self._missing(demand, text.isNull(), text)
        if demand.repeated:
            self._leave(demand, "values, for one observation may have several")
        elif demand.enumeration is not None:
            yield self._coded(demand, text)
        elif demand.is_time or demand.format is not None:
            yield from self._written(demand, demand.format or TextFormat(), text, kind)

    def _leave(self, demand: Demand, what: str) -> None:
        self.unchecked.append(f"{demand.id}: {what}")

    def _missing(self, demand: Demand, is_null: Column, text: Column) -> Iterator[Rule]:
        if demand.required:
            message = f"{demand.kind} {demand.id} has no value, and each observation needs one"
            yield Rule(f"{demand.kind}-missing", demand.id, is_null, text, message, self._structure)

    def _coded(self, demand: Demand, text: Column) -> Rule:
        enumeration = demand.enumeration
        assert enumeration is not None  # noqa: S101 - for mypy
        rule, what = ("value-unknown", "value") if enumeration.cls == "ValueList" else ("code-unknown", "code")
        message = f"{demand.id} is not a {what} of {enumeration.reference}"
        return Rule(rule, demand.id, ~is_in(text, demand.values), text, message, str(enumeration))

    def _written(self, demand: Demand, facets: TextFormat, text: Column, kind: DataType) -> Iterator[Rule]:
        sentinels = [one.value for one in facets.sentinel_values]
        for rule, broken, message in self._facets(demand, facets, text, kind):
            wrong = broken & ~text.isin(sentinels) if sentinels else broken
            yield Rule(rule, demand.id, wrong, text, f"{demand.id} {message}", self._structure)

    def _facets(
        self, demand: Demand, facets: TextFormat, text: Column, kind: DataType
    ) -> Iterator[tuple[str, Column, str]]:
        type_ = facets.text_type or "String"
        if demand.is_time and type_ not in TIME_TYPES:
            type_ = "ObservationalTimePeriod"  # all that the standard allows there
        if type_ in WRITTEN:
            rule = "time-period" if type_ in TIME_TYPES else "text-type"
            yield rule, not_written(text, type_, kind), f"is not written as a value of type {type_}"
        elif type_ not in FREE_TYPES:
            self._leave(demand, f"text type {type_}")
        yield from _lengths(facets, text)
        if facets.pattern is not None:
            if self._is_usable(facets.pattern):
                yield "pattern", ~text.rlike(anchored(facets.pattern)), f"does not match {facets.pattern}"
            else:
                self._leave(demand, f"pattern {facets.pattern}")
        if type_ in NUMBER_TYPES:
            yield from _ranges(type_, facets, text)
        for name in _NOT_CHECKED:
            if getattr(facets, name) is not None:
                self._leave(demand, f"facet {name}")

    def _is_usable(self, pattern: str) -> bool:
        if any(foreign in pattern for foreign in _FOREIGN):
            return False
        try:
            # Java would only say so on an executor, in the middle of a job.
            self._spark.range(1).select(F.lit("").rlike(anchored(pattern))).collect()
        except PySparkException:
            return False
        return True


def not_written(text: Column, type_: str, kind: DataType) -> Column:
    """Whether a text is not a value of that text type; NULL where the text is."""
    # A double is written as Java does, 1.0E10; the value is still a decimal.
    lenient = type_ in NUMBER_TYPES and "." in NUMBER_TYPES[type_] and isinstance(kind, FloatType | DoubleType)
    expression = rf"{WRITTEN[type_]}(?:[eE][+-]?\d+)?" if lenient else WRITTEN[type_]
    wrong = ~text.rlike(anchored(expression))
    # try_cast takes more than the standard does, so it is asked about the size only.
    return wrong | text.try_cast(BOUNDED[type_]).isNull() & text.isNotNull() if type_ in BOUNDED else wrong


def _lengths(facets: TextFormat, text: Column) -> Iterator[tuple[str, Column, str]]:
    if facets.min_length is not None:
        yield "length", F.char_length(text) < facets.min_length, f"is shorter than {facets.min_length} characters"
    if facets.max_length is not None:
        yield "length", F.char_length(text) > facets.max_length, f"is longer than {facets.max_length} characters"


def _ranges(type_: str, facets: TextFormat, text: Column) -> Iterator[tuple[str, Column, str]]:
    # startValue and endValue bound a sequence, and so its values (SDMX 2.1 Section 3, "TextFormatType").
    lower = [one for one in (facets.min_value, facets.start_value) if one is not None]
    upper = [one for one in (facets.max_value, facets.end_value) if one is not None]
    exact, rough = text.try_cast("decimal(38,18)"), text.try_cast("double")
    exclusive = type_ == "ExclusiveValueRange"
    breaks: list[tuple[Column, str]] = []
    for bound in lower:
        # Beyond 20 digits before the point there is only the double to ask.
        limit, about = F.lit(str(bound)).cast("decimal(38,18)"), F.lit(float(bound))
        low = F.coalesce(exact < limit, rough < about)
        breaks.append(
            (low | (exact == limit) if exclusive else low, f"is not {'over' if exclusive else 'at least'} {bound}")
        )
    for bound in upper:
        limit, about = F.lit(str(bound)).cast("decimal(38,18)"), F.lit(float(bound))
        high = F.coalesce(exact > limit, rough > about)
        breaks.append(
            (high | (exact == limit) if exclusive else high, f"is not {'under' if exclusive else 'at most'} {bound}")
        )
    for broken, message in breaks:
        # What is no number breaks another rule.
        yield "range", broken & text.rlike(anchored(NUMBER_TYPES[type_])), message


def any_of(conditions: list[Column]) -> Column:
    """Whether any is true; a balanced tree, for Spark walks it recursively."""
    if len(conditions) > 2:
        middle = len(conditions) // 2
        return any_of(conditions[:middle]) | any_of(conditions[middle:])
    return reduce(or_, conditions)
