"""Whole numbers in requests."""

from __future__ import annotations

from typing import Final

from kafka_replica.server.errors.problems import Problem

MOST_DIGITS: Final = 18
"""The number of digits of a version that RocksDB's keys can have."""


def positive_number(name: str, text: str) -> int:
    """Return the number that a parameter of a request has.

    Raises:
        Problem: 400 if it is not a whole number above 0, of at most ``MOST_DIGITS`` digits.
    """
    if not (text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS and int(text) > 0):
        raise Problem(400, f"{name} must be a whole number above 0")
    return int(text)
