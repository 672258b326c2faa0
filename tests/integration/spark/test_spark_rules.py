"""Every rule, with good values, bad ones and NULL."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Any, TypeAlias

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from kafka_replica import Snapshot
from kafka_replica_spark import membership, validate
from support.spark.spark_world import GOOD, RULES, VALUES, frame, varied

Broken: TypeAlias = dict[Any, list[str]]
# The rows differ in one value only: they are not compared with each other, nor FREQ with TIME_PERIOD.
ROWS_APART = dict.fromkeys(["duplicate-key", "attribute-differs", "frequency"], "off")
INTEGERS = ["0", "7", "-7", "+7", "007"]
NO_INTEGERS = ["", " 7", "7 ", "7\n", "1.0", "1e3", "1d", "NaN", "0x1p3", "seven", "٣", "1_000"]
DECIMALS = [*INTEGERS, "1.5", "-.5", "+1.", "123456789012345678901234567890.123456789012345678901234567890"]
NO_DECIMALS = ["", ".", "1e3", "1d", "1f", "NaN", "INF", "Infinity", "0x1p3", "1,5", "1.5\n", "1.5.1"]
DOUBLES = [*DECIMALS, "1e3", "1.5E-7", "NaN", "INF", "-INF"]
NO_DOUBLES = ["", ".", "1d", "1f", "1.5D", "0x1p3", "Infinity", "inf", "nan", "e3", "1e", "1e3\n"]
# component, rule, good values, bad values; NULL is good for all of them
OPTIONAL: list[tuple[str, str, list[str], list[str]]] = [
    ("UNIT", "value-unknown", list(VALUES), ["", "a", "b", "x", "y", "eur", "EUR ", "EUR\n"]),
    ("FLAG", "code-unknown", ["A", "Q", "M"], ["", "a", "AQ", "A,Q", "A ", "A\n"]),
    ("INTEGER", "text-type", [*INTEGERS, "#N/A", "2147483647", "-2147483648"], [*NO_INTEGERS, "2147483648"]),
    ("LONG", "text-type", [*INTEGERS, "9223372036854775807"], [*NO_INTEGERS, "9223372036854775808"]),
    ("SHORT", "text-type", [*INTEGERS, "32767"], [*NO_INTEGERS, "32768"]),
    ("BIG", "text-type", [*INTEGERS, "1" * 60], NO_INTEGERS),
    ("DECIMAL", "text-type", DECIMALS, NO_DECIMALS),
    ("DOUBLE", "text-type", DOUBLES, NO_DOUBLES),
    ("DIGITS", "decimals", ["1", "1.", "1.25", "-0.10", "#N/A"], ["1.250", "0.001"]),
    ("XML_NAME", "pattern", ["a", "_x-1.y", ":"], ["", "1a", "a b", "-a"]),
    ("BOOLEAN", "text-type", ["true", "false", "1", "0"], ["", "TRUE", "yes", "t", "2", "true\n"]),
    ("SHARE", "range", ["0", "100", "-0.0", "99.999999999999999999"], ["-0.000000000000000001", "100.1", "1" * 40]),
    ("OPEN", "range", ["0.5", "0.000000000000000001"], ["0", "1", "1.0", "-1", "2"]),
    ("LENGTH", "length", ["ab", "äöü€", "𝄞𝄞𝄞𝄞"], ["", "a", "abcde", "𝄞𝄞𝄞𝄞𝄞"]),
    ("PATTERN", "pattern", ["AB1"], ["", "ab1", "AB12", "AB1\n", "xAB1"]),
    ("SENTINEL", "range", ["0", "-9"], ["-8"]),
    ("YEAR", "time-period", ["2020", "-0044", "12020", "2020Z"], ["", "20", "0000", "02020", "2020-01"]),
    ("DAY", "time-period", ["2020-02-29", "2020-12-31Z"], ["2021-02-29", "2020-04-31", "2020-1-1"]),
]  # fmt: skip
# component, the rule that NULL breaks, the rule that any other text breaks
REQUIRED = [
    ("FREQ", "dimension-missing", "code-unknown"),
    ("AREA", "dimension-missing", "code-unknown"),
    ("STATUS", "attribute-missing", "code-unknown"),
    ("TIME_PERIOD", "dimension-missing", "time-period"),
    ("COUNT", "measure-missing", "text-type"),
]
TIMES = [
    "2020", "2020Z", "2020-01", "2020-12+05:30", "2020-01-31", "2000-02-29", "2024-02-29Z", "2020-06-30-14:00",
    "2020-01-01T00:00:00", "2020-01-01T24:00:00", "2020-01-01T23:59:59.123Z", "2020-A1", "2020-S2", "2020-T3",
    "2020-Q4", "2020-M01", "2020-M12", "2020-W01", "2020-W53", "2020-D001", "2020-D366", "2020-Q1+01:00",
    "2020-01-01/P1Y", "2020-01-01T00:00:00/PT1H30M", "2020-01-01Z/P1Y2M3DT4H5M6.7S",
]  # fmt: skip
NO_TIMES = [
    "", "20", "202", "0000", "2020 ", " 2020", "2020\n", "2020-13", "2020-00", "2020-1", "2020-01-00", "2020-01-32",
    "2020-02-30", "2021-02-29", "1900-02-29", "2020-04-31", "2020-11-31", "2020-01-01T25:00:00", "2020-01-01T24:00:01",
    "2020-01-01T00:60:00", "2020-01-01 00:00:00", "2020-01-01T00:00", "2020+15:00", "2020-A2", "2020-A", "2020-S0",
    "2020-S3", "2020-T4", "2020-Q0", "2020-Q5", "2020Q1", "2020-q1", "2020-M0", "2020-M1", "2020-M13", "2020-W00",
    "2020-W1", "2020-W54", "2020-D000", "2020-D367", "2020-D1", "20200-Q1", "2020-01-01/", "2020-01-01/P",
    "2020-01-01/PT", "2020-01-01/P1W", "2020-01-01/1Y", "2020-01/P1Y", "2020-01-01/2020-02-01", "2020-02-30/P1D",
    "٢٠٢٠",
]  # fmt: skip


def outcome(values: Iterable[Any], *rules: str) -> Broken:
    """Return the rules that each of the values breaks."""
    return {value: list(rules) for value in values}


def broken(spark: SparkSession, rules: Snapshot, name: str, values: list[Any], kind: Any = None) -> Broken:
    """Return the broken rules for each value of a column."""
    rows = validate(varied(spark, name, values, kind), RULES, rules, rules=ROWS_APART).select("_errors").collect()
    return {value: rules_of_findings(row._errors, name) for value, row in zip(values, rows, strict=True)}


def rules_of_findings(errors: list[Any] | None, name: str) -> list[str]:
    """Return the rules of a row's findings, which all are of one column."""
    assert errors is None or errors
    assert {error.component for error in errors or ()} <= {name}
    return [error.rule for error in errors or ()]


def _cases() -> Iterator[tuple[str, Broken]]:
    """Return columns, and the rules that each of their values breaks. NULL is valid where a value is optional."""
    for name, rule, good, bad in OPTIONAL:
        yield name, outcome([None, *good]) | outcome(bad, rule)
    # Codes by local representation (FREQ) or the concept's (AREA): each of 2,000, and near misses.
    for name, missing, unknown in REQUIRED:
        yield name, {None: [missing], "": [unknown], "?": [unknown]}
    near = ["R2000", "R1", "r0001", "R0001 ", "R0001,R0002", "R0001|R0002", ",", "|", "\x1e", "R0001\x1e\x1eR0002"]
    yield "AREA", outcome(f"R{number:04}" for number in range(2000)) | outcome(near, "code-unknown")
    yield "TIME_PERIOD", outcome(TIMES) | outcome(NO_TIMES, "time-period")


CASES = list(_cases())


@pytest.fixture(scope="module")
def answers(spark: SparkSession, rules: Snapshot) -> Sequence[Broken]:
    """Return Spark's findings for all values of all cases, in one plan: each row varies one column."""
    rows = [GOOD | {name: value} for name, wanted in CASES for value in wanted]
    found = iter(validate(frame(spark, rows), RULES, rules, rules=ROWS_APART).select("_errors").collect())
    return [{value: rules_of_findings(next(found)._errors, name) for value in wanted} for name, wanted in CASES]


@pytest.mark.parametrize("number", range(len(CASES)), ids=[f"{name}-{len(wanted)}" for name, wanted in CASES])
def test_each_bad_value_breaks_only_its_rule(answers: Sequence[Broken], number: int) -> None:
    """Good values break nothing; bad values break that rule and no other."""
    assert answers[number] == CASES[number][1]


@pytest.mark.parametrize("in_map", [True, False], ids=["maps", "cells"])
def test_any_text_in_a_set(spark: SparkSession, in_map: bool) -> None:
    """Membership is exact for any text and sets of any size, including empty ones and values with separators."""
    texts = [
        "",
        ",",
        "|",
        "a",
        "b",
        "a,b",
        "a|b",
        "ä",
        "𝄞",
        "\x00",
        "\\",
        "'",
        "a\n",
        "\x1e",
        "\x1e\x1e",
        "\x1e100",
        "\x1e999",
        "\x05",
        "a\x05",
        "0",
        "899",
        "ÿ",
        "v1v",
        "long " * 20,
        None,
    ]
    many = [f"v{number}" for number in range(100)]
    df = spark.createDataFrame(pa.table({"text": pa.array([*texts, *many], pa.string())}))
    sets = [
        [],
        ["a"],
        ["", "a,b", "ä"],
        many,
        [*many, "", "a|b", "\\", "𝄞", "'"],
        [*many, "\x1e", "\x05", "a", "0", "1"],
        [str(n) for n in range(1500)],
        [*many, "long " * 20, "ÿ"],
    ]
    rows = df.select(
        "text", *[membership.is_in(df.text, values, in_map=in_map).alias(str(i)) for i, values in enumerate(sets)]
    ).collect()
    for row in rows:
        wanted = [None if row.text is None else row.text in values for values in sets]
        assert [row[str(i)] for i in range(len(sets))] == wanted, repr(row.text)


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "kind", "good", "bad"),
    [
        ("DOUBLE", pa.float32(), [1.5, 1e30, 1e-4, 12345678.5, float("nan"), float("inf"), float("-inf")], []),
        ("SHORT", pa.decimal128(12, 2), [Decimal("5.00")], [Decimal("5.01"), Decimal("99999.00")]),
        ("TIME_PERIOD", pa.timestamp("us", "UTC"), [dt.datetime(2020, 2, 29, 1, 2, 3, tzinfo=dt.UTC)], []),
        ("BOOLEAN", pa.bool_(), [True, False, None], []),
        ("INTEGER", pa.int64(), [1, -1, None], [2**31]),
        ("INTEGER", pa.float64(), [1.0, -0.0, None], [1.5, float("nan"), float("inf"), 1e10]),
        ("DECIMAL", pa.float64(), [1e-7, 1e22, 0.1], [float("nan"), float("inf")]),
        ("YEAR", pa.int32(), [2020], [20]),
        ("DAY", pa.date32(), [dt.date(2020, 2, 29), None], []),
        ("FLAG", pa.int32(), [None], [1]),
    ],
)  # fmt: skip
@pytest.mark.usefixtures("uncompiled")
def test_a_typed_column_counts_as_sdmx_writes_it(
    spark: SparkSession, rules: Snapshot, name: str, kind: pa.DataType, good: list[Any], bad: list[Any]
) -> None:
    """A column of another type is treated as SDMX would write it: a whole double is an integer."""
    found = [bool(errors) for errors in broken(spark, rules, name, [*good, *bad], kind).values()]
    assert found == [False] * len(good) + [True] * len(bad)


@pytest.mark.long
def test_ansi_or_not(spark: SparkSession, rules: Snapshot) -> None:
    """The findings do not depend on ANSI mode, and no expression throws."""
    values = ["1", "x", "1" * 40, None]
    found = []
    for mode in ("true", "false"):
        spark.conf.set("spark.sql.ansi.enabled", mode)
        try:
            found.append(broken(spark, rules, "SHARE", values))
        finally:
            spark.conf.unset("spark.sql.ansi.enabled")
    assert found[0] == found[1] == {"1": [], "x": ["text-type"], "1" * 40: ["range"], None: []}
