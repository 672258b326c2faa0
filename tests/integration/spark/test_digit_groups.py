"""Groups of digits, cut out of texts by Spark's functions, are those that Python's regular expressions find."""

from __future__ import annotations

import re
from random import Random

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812

from kafka_replica.data.mapping.date_patterns import reading_of_pattern
from kafka_replica.sdmx.values.text_types import anchored
from kafka_replica_spark.mapping.digit_groups import digit_groups
from kafka_replica_spark.mapping.engine import SparkEngine
from support.rules.structures_by_hand import table

pytestmark = pytest.mark.long

_CUT = (
    "yyyy", "MM-yyyy", "M/d/yyyy", "yyyy-MM-dd", "yyyy-MM-dd'T'HH:mm:ss", "yyyy-Qn", "YYYY-Wnn", "d.M.yyyy H.m",
    "'Wert-'yyyy-M'--'d", "d- M -yyyy-'Q-'", "'.'yyyy'.'M", "H:m d:M:yyyy",
)  # fmt: skip
_NOT_CUT = ("yyyyMMdd", "d MMMM yyyy", "hh:mm a yyyy-MM-dd", "'Week 1' yyyy", "E yyyy-MM-dd")


@pytest.mark.parametrize("pattern", [*_CUT, *_NOT_CUT])
def test_captures(spark: SparkSession, pattern: str) -> None:
    """The captures of texts, most of which match, are Python's."""
    expression = anchored(reading_of_pattern(pattern, "en", 1950).expression)
    assert (digit_groups(expression) is not None) == (pattern in _CUT)
    texts = _texts(Random(pattern), pattern)
    frame = spark.createDataFrame(table([{"text": text} for text in texts]).to_arrow())
    places = [None, *range(re.compile(_in_python(expression)).groups, 0, -1)]
    engine = SparkEngine(frame)
    engine.let({"parts": engine.captures(F.col("text"), expression, places)})
    items = [engine.item(engine.column("parts"), number).alias(str(number)) for number in range(len(places))]
    found = [tuple(row) for row in engine.frame.select("text", *items).collect()]
    assert sorted(found) == sorted((text, *_expected(expression, text, places)) for text in texts)
    assert sum(row[1] is not None for row in found) > len(texts) // 8


def _texts(dice: Random, pattern: str) -> list[str]:
    """Return texts that a pattern of dates may match, with too few and too many digits, and with other characters."""
    plain = pattern.replace("'", "").replace("MMMM", "March").replace(" a ", " pm ").replace("E ", "Mo ")
    found = []
    for _ in range(300):
        text = re.sub(
            r"(?<![A-Za-z])[yYMdHhms]+(?![A-Za-z])|n+|(?<=T)HH|dd(?=T)|yyyyMMdd",
            lambda one: "".join(dice.choice("0123456789") for _ in range(_width(dice, one[0]))), plain,
        )  # fmt: skip
        if dice.random() < 0.2:
            at = dice.randrange(len(text) + 1)
            text = text[:at] + dice.choice("0-/:.Q+ \n\x01é") + text[at + dice.randrange(2) :]
        found.append(text)
    return found


def _width(dice: Random, letters: str) -> int:
    return len(letters) if dice.random() < 0.9 else dice.randint(1, 5)


def _in_python(expression: str) -> str:
    return expression.replace(r"\z", r"\Z").replace(r"\p{L}", r"[^\W\d_]").replace("(?iu:", "(?i:")


def _expected(expression: str, text: str, places: list[int | None]) -> tuple[str | None, ...]:
    match = re.search(_in_python(expression), text)
    return tuple(None if match is None else "" if place is None else match[place] for place in places)
