"""Whole numbers in requests."""

from __future__ import annotations

from typing import Final

from kafka_replica.server.errors.problems import Problem

MOST_DIGITS: Final = 18
"""The number of digits of a version that RocksDB's keys can have."""


def positive_number(name: str, text: str, most: int | None = None) -> int:
    """Return the number that a parameter of a request has.

    Args:
        name: the name of the parameter.
        text: its value.
        most: the greatest number that is possible; by default, every number of at most ``MOST_DIGITS`` digits is.

    Raises:
        Problem: 400 if it is not a whole number above 0, or too large.
    """
    is_number = text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS and int(text) > 0
    if not is_number or (most is not None and int(text) > most):
        raise Problem(400, f"{name} must be a whole number {'above 0' if most is None else f'from 1 to {most:,}'}")
    return int(text)


def page_size(text: str | None, usual: int, most: int) -> int:
    """Return the number of entries on a page, for the parameter ``limit``.

    Args:
        text: the value of the parameter; None if the request does not have it.
        usual: the number without the parameter.
        most: the greatest number that a client may request.

    Raises:
        Problem: 400 if it is not a whole number from 1 to ``most``.
    """
    return usual if text is None else positive_number("limit", text, most)
