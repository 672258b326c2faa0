"""Spark has the same findings as polars: on the case table, on generated data with errors, on any values."""

# ruff: noqa: E501 - lists of words
from __future__ import annotations

import datetime as dt
import random
import string
from typing import Any

import polars as pl
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from kafka_replica import UsageError
from kafka_replica.data import polars as local
from kafka_replica.data import validate as validate_any
from kafka_replica.data.validation import Rules
from kafka_replica_spark import dataset_findings, report, split, validate
from kafka_replica_spark.matching import longest_for
from kafka_replica_spark.texts import as_text
from support.effort import usual_or_long
from support.rules.seeded_faults import seeded, world
from support.rules.structures_by_hand import attribute as attribute_of
from support.rules.structures_by_hand import dimension as dimension_of
from support.rules.structures_by_hand import findings_of_rows, rules_of, structure, table, text, time, version_of
from support.rules.typed_cases import typed_findings, typed_frame, typed_rules
from support.rules.validation_cases import CASES, Case

_SENT = "__sent"


def on_spark(spark: SparkSession, frame: pl.DataFrame, rules: Rules) -> pl.DataFrame:
    """Return Spark's findings, in the order of the rows."""
    return collected(validate(sent(spark, frame), rules))


def sent(spark: SparkSession, frame: pl.DataFrame) -> DataFrame:
    """Return the frame on Spark, with the places of its rows."""
    return spark.createDataFrame(frame.with_row_index(_SENT).cast({_SENT: pl.Int64}).to_arrow())


def collected(checked: DataFrame) -> pl.DataFrame:
    """Return the rows of a sent frame, in their order."""
    made = pl.DataFrame(checked.toArrow())
    assert isinstance(made, pl.DataFrame)
    return made.sort(_SENT).drop(_SENT)


# Planning a case takes Spark a second.
_CASES = usual_or_long(CASES[::24], CASES[::8], CASES)


@pytest.mark.scaled
@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize("case", _CASES, ids=[case.name for case in _CASES])
def test_each_case_has_the_findings_of_the_standard(spark: SparkSession, case: Case) -> None:
    """Each row and the data set have the findings that the standard requires, with the same fields as on polars."""
    rules = rules_of(version_of(*case.contents), case.reference, **case.settings)
    frame = table([row for row, _ in case.rows])
    found = on_spark(spark, frame, rules)
    assert findings_of_rows(found) == [wanted for _, wanted in case.rows]
    assert found["_errors"].to_list() == local.validate(frame, rules)["_errors"].to_list()
    if case.dataset or "ACTION" in frame.columns:
        reported = dataset_findings(spark.createDataFrame(frame.to_arrow()), rules)
        assert set(reported) == set(local.dataset_findings(frame, rules))


@pytest.mark.long
def test_seeded_faults_are_found_on_both_engines(spark: SparkSession) -> None:
    """All seeded faults and no others are found; splitting and reporting agree on both engines."""
    rules = world()
    rows, wanted = seeded(rules, 1500, 11)
    frame = table(rows)
    checked = validate(sent(spark, frame), rules)
    good, bad = split(checked)
    assert findings_of_rows(collected(checked)) == wanted
    assert (good.count(), bad.count()) == (sum(not one for one in wanted), sum(map(bool, wanted)))
    assert report(checked, rules) == local.report(local.validate(frame, rules), rules)
    checked.unpersist()


TYPES = (
    "String", "Alpha", "AlphaNumeric", "Numeric", "BigInteger", "Integer", "Long", "Short", "Decimal", "Float",
    "Double", "Boolean", "URI", "Count", "InclusiveValueRange", "ExclusiveValueRange", "Incremental", "ObservationalTimePeriod",
    "StandardTimePeriod", "BasicTimePeriod", "GregorianTimePeriod", "GregorianYear", "GregorianYearMonth",
    "GregorianDay", "ReportingTimePeriod", "ReportingYear", "ReportingSemester", "ReportingTrimester",
    "ReportingQuarter", "ReportingMonth", "ReportingWeek", "ReportingDay", "DateTime", "TimeRange", "Month", "MonthDay",
    "Day", "Time", "Duration", "IdentifiableReference",
)  # fmt: skip
WORDS = (
    "", " ", "0", "-0", "+1", "1.50", "-.5", "5.", "1e3", "1E-7", "1d", "0x1p3", "NaN", "INF", "-INF", "Infinity",
    "true", "TRUE", "9223372036854775807", "9223372036854775808", "2147483648", "32768", "99.999999999999999999", "١٢", "#N/A",
    "2020", "2020-01", "2020-02-29", "2021-02-29", "0000", "-0004-02-29", "12000-02-29", "2020-Q4", "2020-W53",
    "2021-W53", "2020-D366", "2021-D366", "2020-A1", "2020-S2", "2020-T3", "2020-M12", "2020-01-01T00:00:00Z",
    "2020-01-01T24:00:00", "2020-01-01/P1Y", "--02-29", "--12", "---31", "P1Y", "PT1S", "P", "23:59:59", "ab\n", "\n",
    "𝄞", "é", "a,b", "a|b",
)  # fmt: skip


@pytest.mark.long
@pytest.mark.usefixtures("uncompiled")
def test_any_text_under_any_type(spark: SparkSession) -> None:
    """All text types with facets have equal findings for odd, mutated and random texts, in all fields."""
    source = random.Random(5)
    facets: list[dict[str, Any]] = [
        {}, {"minValue": "-1", "maxValue": "100"}, {"minLength": 2, "maxLength": 6}, {"decimals": 2},
        {"isSequence": "true", "interval": "0.25", "startValue": "-1"}, {"pattern": "[^a-c\\d]+|\\w{2}|\\i\\c*"},
        {"startTime": "2000-Q1", "endTime": "2020"},
        {"isSequence": "true", "timeInterval": "P6M", "startTime": "1999"},
    ]  # fmt: skip
    names = [f"A{number:02}" for number in range(len(TYPES))]
    attributes = [
        attribute_of(name, text(type_, **source.choice(facets))) for name, type_ in zip(names, TYPES, strict=True)
    ]
    rules = rules_of(version_of(structure(dimension_of("ID", text()), time(), *attributes)))
    rows: list[dict[str, Any]] = []
    for number in range(600):
        row = {name: _odd(source) for name in names}
        rows.append({"ID": str(number), "TIME_PERIOD": _odd(source), **row})
    frame = table(rows)
    spark_result, polars_result = on_spark(spark, frame, rules), local.validate(frame, rules)
    assert spark_result["_errors"].to_list() == polars_result["_errors"].to_list()
    assert len({rule["rule"] for errors in complete_findings_of_rows(polars_result) for rule in errors}) > 8


def complete_findings_of_rows(checked: pl.DataFrame) -> list[list[dict[str, str]]]:
    """Return all findings."""
    return [errors or [] for errors in checked["_errors"].to_list()]


def _odd(source: random.Random) -> str | None:
    pick = source.random()
    if pick < 0.1:
        return None
    word = source.choice(WORDS)
    if pick < 0.6:
        return word
    if pick < 0.8:
        place = source.randrange(len(word) + 1)
        return word[:place] + source.choice(string.printable + "é٣𝄞") + word[place + source.randrange(2) :]
    return "".join(source.choices(string.printable, k=source.randrange(8)))


@pytest.mark.long
def test_typed_columns_count_as_the_same_texts(spark: SparkSession) -> None:
    """Numbers, dates and times in typed columns count as the same texts, and break the same rules."""
    types = {"I": "Integer", "X": "Decimal", "Y": "Double", "D": "GregorianDay", "T": "DateTime", "B": "Boolean"}
    rules = rules_of(
        version_of(structure(dimension_of("ID", text()), *(attribute_of(one, text(type_, maxLength=1))
                                                            for one, type_ in types.items())))
    )  # fmt: skip
    numbers = [0.0, -0.0, 1.5, 1e-7, 1.25e-5, 0.00123, 12345678.5, -98765432.25, 1e15, 1e16, 1.5e22, -2.5e300,
               float("nan"), float("inf"), float("-inf"), 123456789012.25, 0.1, 100.0, 4e-5, 1e7]  # fmt: skip
    n = len(numbers)
    frame = pl.DataFrame({
        "ID": [str(number) for number in range(n)],
        "I": list(range(n)),
        "X": numbers,
        "Y": numbers[::-1],
        "D": pl.Series(["2020-02-29"] * n).str.to_date(),
        "T": pl.Series(["2020-02-29T01:02:03"] * n).str.to_datetime(time_unit="us"),
        "B": [number % 2 == 0 for number in range(n)],
    })  # fmt: skip
    assert on_spark(spark, frame, rules)["_errors"].to_list() == local.validate(frame, rules)["_errors"].to_list()


@pytest.mark.usefixtures("uncompiled")
def test_timestamps_are_written_as_they_are(spark: SparkSession) -> None:
    """A time that the session's time zone skips stays as it is; fractions have no redundant zeros."""
    frame = spark.sql("""
        SELECT timestamp_ntz'2020-03-29 02:30:00' a, timestamp_ntz'2020-03-29 02:30:10.120' b,
        timestamp'2020-03-29 01:30:00.5 UTC' c, timestamp'2020-10-25 01:30:00 UTC' d, timestamp_ntz'0001-01-01 00:00:00' e
    """)
    columns = [as_text(F.col(field.name), field.dataType) for field in frame.schema.fields]
    spark.conf.set("spark.sql.session.timeZone", "Europe/Berlin")
    try:
        (row,) = frame.select(*columns).collect()
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")
    assert tuple(row) == (
        "2020-03-29T02:30:00", "2020-03-29T02:30:10.12", "2020-03-29T03:30:00.5", "2020-10-25T02:30:00",
        "0001-01-01T00:00:00",
    )  # fmt: skip


@pytest.mark.usefixtures("uncompiled")
def test_numbers_at_the_ends_of_64_bits_end_no_job(spark: SparkSession) -> None:
    """Steps of numbers of up to 18 digits are checked; those of longer numbers are not, on either engine."""
    rules = rules_of(version_of(structure(
        dimension_of("ID", text()), attribute_of("V", text("Decimal", isSequence="true", interval="5"))
    )))  # fmt: skip
    checked = [10**18 - 1, 10**18 - 5, 1 - 10**18, 5 - 10**18]
    unchecked = [10**18 + 1, 2**63 - 1, 2**63, -(2**63), -(2**63) - 1]
    frame = table([{"ID": str(number), "V": str(value)} for number, value in enumerate([*checked, *unchecked])])
    found = on_spark(spark, frame, rules)
    assert [bool(row) for row in findings_of_rows(found)] == [True, False, True, False, *([False] * len(unchecked))]
    assert found["_errors"].to_list() == local.validate(frame, rules)["_errors"].to_list()


@pytest.mark.long
@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize("ansi", ["true", "false"])
def test_typed_cases_pass_in_ansi_mode(spark: SparkSession, ansi: str) -> None:
    """The table of typed columns passes, also in ANSI mode, which writes small decimals with exponents.

    The plan does not repeat the long expression of a number's text wherever the text is used.
    """
    spark.conf.set("spark.sql.ansi.enabled", ansi)
    try:
        checked = validate(sent(spark, typed_frame()), typed_rules())
        assert findings_of_rows(collected(checked)) == typed_findings()
        plan = checked._jdf.queryExecution().analyzed().toString()
        assert len(plan) < 400_000  # 2 million if it does
    finally:
        spark.conf.unset("spark.sql.ansi.enabled")


def test_the_frame_determines_the_engine(spark: SparkSession) -> None:
    """The frame determines the engine, unless it is named; both give the same rows."""
    case = CASES[0]
    rules = rules_of(version_of(*case.contents))
    frame = table([row for row, _ in case.rows])
    sparks = spark.createDataFrame(frame.to_arrow())
    here, there = validate_any(frame, rules), validate_any(sparks, rules)
    assert isinstance(here, pl.DataFrame)
    collected = pl.DataFrame(there.toArrow())
    assert collected["_errors"].to_list() == here["_errors"].to_list()
    assert validate_any(sparks, rules, engine="local").equals(here)
    with pytest.raises(UsageError, match="createDataFrame"):
        validate_any(frame, rules, engine="spark")


@pytest.mark.usefixtures("uncompiled")
def test_columns_that_are_no_texts(spark: SparkSession) -> None:
    """Intervals cannot be read on either engine, which both report; a list is not a dimension on either."""
    rules = rules_of(version_of(structure(dimension_of("ID", text()), attribute_of("V", text(maxLength=1)))))
    frame = pl.DataFrame({"ID": ["1"], "V": [dt.timedelta(days=1)]})
    there, here = validate(spark.createDataFrame(frame.to_arrow()), rules), local.validate(frame, rules)
    assert findings_of_rows(here) == [[]]
    assert (
        report(there, rules).unchecked == local.report(here, rules).unchecked == ("V: values in a column of its type",)
    )
    assert report(there, rules).bad_rows == 0
    with pytest.raises(UsageError, match="column ID has several values"):
        validate(spark.createDataFrame([(["1"],)], "ID array<string>"), rules)


@pytest.mark.long
def test_values_too_long_for_java(spark: SparkSession) -> None:
    """A value that would overflow Java's stack is not checked, which is reported; Spark survives."""
    rules = rules_of(
        version_of(structure(dimension_of("ID", text()), attribute_of("V", text(pattern="([A-Z]|[0-9])+"))))
    )
    values = ["A" * 700, "A" * 700 + "a", "A" * 20_000 + "a", None]
    frame = table([{"ID": str(number), "V": value} for number, value in enumerate(values)])
    found = on_spark(spark, frame, rules)
    assert [len(errors) for errors in findings_of_rows(found)] == [0, 1, 0, 0]
    checked = validate(spark.createDataFrame(frame.to_arrow()), rules)
    assert checked.filter("_errors is not null").count() == 1
    reported = checked.schema["_errors"].metadata["unchecked"]
    assert reported == [
        "V: pattern of values longer than 750 characters on Spark, because their pattern repeats a group"
    ]


@pytest.mark.parametrize(
    ("expression", "longest"),
    [
        ("(?:[A-Z]|[0-9])+", 750),
        ("(?:(?:(?:a|b)+|c)+;?)+", 214),
        ("(?:a{1,2})*", 500),
        ("(?:a|b){1,900}", 750),
        ("(?:a|b){1,20}", None),
        ("(?:(?:a|b){1,20}c){1,20}", 375),
        (r"[0-9]{1,3}(?:,[0-9]{3})*", None),
        (r"[(|+]*\(+(?:\|)+[a&&[^|]]*(?:x)+a?", None),
        ("(?:a|b)?", None),
    ],
)
def test_the_length_limit_follows_from_the_pattern(expression: str, longest: int | None) -> None:
    """Only groups whose iterations differ limit the length, the more the larger an iteration is."""
    assert longest_for(expression) == longest
