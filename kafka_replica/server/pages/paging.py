"""Paging of lists: the part to show, and the links to the parts before and after it."""

from __future__ import annotations

from typing import NamedTuple

from starlette.requests import Request

from kafka_replica.server.errors.problems import Problem
from kafka_replica.server.pages.links import Address, Links

_MOST_DIGITS = 12


class PartOfList(NamedTuple):
    """A part of a list: the numbers of its first and last entry, from 1, and links to the neighbouring parts."""

    first: int
    last: int
    total: int
    previous: str | None
    following: str | None


def page_of(address: Address, links: Links, start: int, size: int, total: int, *, name: str = "start") -> PartOfList:
    """Return the part of a list that a page shows.

    Args:
        address: the address of the page, with all parameters except ``name``.
        links: the links, pinned to the version of the page so that all parts come from the same version.
        start: the number of entries before the part.
        size: the maximum number of entries in a part.
        total: the number of all entries.
        name: the parameter with the number of entries before the part.
    """
    before = min(max(0, start - size), max(0, (total - 1) // size * size))
    return PartOfList(
        min(start + 1, total),
        min(start + size, total),
        total,
        links.to(address.with_parameters(**{name: before or ""})) if start > 0 and total else None,
        links.to(address.with_parameters(**{name: start + size})) if start + size < total else None,
    )


def start_of(request: Request) -> int:
    """Return the parameter ``start``: the number of entries to skip. Raises the errors of ``number_of``."""
    return number_of(request, "start")


def number_of(request: Request, name: str) -> int:
    """Return a parameter that is a number, by default 0.

    Raises:
        Problem: 400 if the value is not a whole number.
    """
    text = request.query_params.get(name) or "0"
    if not (text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS):
        raise Problem(400, f"{name} must be a whole number: the number of entries to skip")
    return int(text)
