"""Columns of other types than text, and the rules that their values break. Both engines run all of them."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple

import polars as pl

from kafka_replica.data.validation import Rules
from support.rules.structures_by_hand import attribute, dimension, rules_of, structure, text, version_of

DOUBLE, DECIMAL, DOUBLES = pl.Float64(), pl.Decimal(38, 18), pl.List(pl.Float64())


class Typed(NamedTuple):
    """A column, the format of its component, and values with the finding of each, as ``rule value``; None: none."""

    representation: str
    kind: pl.DataType
    values: tuple[tuple[Any, str | None], ...]


TYPED = [
    Typed(text("Integer"), DOUBLE, ((7.0, None), (1e-7, "text-type 1e-7"), (-2e-5, "text-type -0.00002"),
                                    (1e22, "text-type 1e22"))),
    Typed(text("Short"), DOUBLE, ((1e300, "text-type 1e300"), (1e16, "text-type 1e16"),
                                  (2.5e-300, "text-type 2.5e-300"))),
    Typed(text("Long"), DOUBLE, ((1e16, None), (12345678901234567.0, None), (1e19, "text-type 1e19"))),
    Typed(text("BigInteger"), DOUBLE, ((1.5e22, None), (-1e300, None), (1.5, "text-type 1.5"))),
    Typed(text("Numeric"), DOUBLE, ((1e22, None), (-1.0, "text-type -1"), (1e-7, "text-type 1e-7"))),
    Typed(text("Decimal"), DOUBLE, ((1.5e22, None), (1e-7, None), (float("inf"), "text-type INF"))),
    Typed(text("Double", decimals=2), DOUBLE, ((1e22, None), (0.25, None), (1e-5, "decimals 0.00001"),
                                               (1e-6, "decimals 1e-6"), (1.5e-6, "decimals 1.5e-6"))),
    Typed(text("Decimal", interval="0.5"), DOUBLE, ((1e-7, "sequence 1e-7"), (1e7 + 0.5, None), (0.3, "sequence 0.3"))),
    Typed(text("BigInteger"), DOUBLES, (([1e22, 1.0], None), ([1.0, 1e-7], "text-type 1e-7"))),
    Typed(text("Decimal", decimals=2), DECIMAL, ((Decimal("1.25"), None), (Decimal(0), None), (Decimal(100), None),
                                                 (Decimal("1.255"), "decimals 1.255"),
                                                 (Decimal("-0.0000001"), "decimals -0.0000001"))),
    Typed(text("DateTime", maxLength=1), pl.Datetime("us"), (
        (datetime.fromisoformat("2020-01-01T00:00:10"), "length 2020-01-01T00:00:10"),
        (datetime.fromisoformat("2020-01-01T00:00:00.12"), "length 2020-01-01T00:00:00.12"))),
]  # fmt: skip


def typed_rules() -> Rules:
    """Return rules for all of these columns, side by side."""
    attributes = (
        attribute(f"V{number}", one.representation, occurs='maxOccurs="9"') for number, one in enumerate(TYPED)
    )
    return rules_of(version_of(structure(dimension("ID", text()), *attributes)))


def typed_frame() -> pl.DataFrame:
    """Return the columns; shorter ones end with NULL."""
    height = max(len(one.values) for one in TYPED)
    columns = {
        f"V{number}": pl.Series(
            [value for value, _ in one.values] + [None] * (height - len(one.values)), dtype=one.kind
        )
        for number, one in enumerate(TYPED)
    }
    return pl.DataFrame({"ID": [str(number) for number in range(height)], **columns})


def typed_findings() -> list[list[str]]:
    """Return the expected findings of each row, in the form of ``findings_of_rows``."""
    height = max(len(one.values) for one in TYPED)
    found: list[list[str]] = [[] for _ in range(height)]
    for number, one in enumerate(TYPED):
        for row, (_, wanted) in enumerate(one.values):
            found[row] += [] if wanted is None else [wanted.replace(" ", f" V{number} ")]
    return found
