"""Columns of other types than text, on polars."""

from __future__ import annotations

from structures_by_hand import said
from typed_cases import typed_findings, typed_frame, typed_rules

from kafka_replica.local import validate


def test_typed_columns() -> None:
    """Values count as what SDMX would write: a whole double is an integer, decimals have no digits too many."""
    assert said(validate(typed_frame(), typed_rules())) == typed_findings()
