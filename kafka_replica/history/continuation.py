"""The rule by which a version continues a history; without I/O."""

from __future__ import annotations

from typing import NamedTuple

from kafka_replica.history.kept_version import KeptVersion


class Continuation(NamedTuple):
    """The relation of the next version to the newest recorded one."""

    is_known: bool = False
    """True if it is the newest recorded version itself, which needs no recording."""
    begins_segment: bool = False
    """True if numbering restarts."""
    missing: int | None = None
    """The number of versions in between; None if a segment begins."""


def continue_with(newest: KeptVersion | None, incarnation: str, number: int, *, is_whole: bool) -> Continuation:
    """Return the relation of a version to a history.

    Args:
        newest: the newest recorded version; None if the history is empty.
        incarnation: the incarnation of the version.
        number: the number of the version.
        is_whole: whether the version was received as a whole state, as after a restart, and not as a difference.
    """
    if newest is None or newest.incarnation != incarnation:
        return Continuation(begins_segment=True)
    if number > newest.number:
        return Continuation(missing=number - newest.number - 1)
    # Otherwise the store lost its newest versions in a power cut, and will create other versions with the same numbers.
    return Continuation(is_known=is_whole and number == newest.number, begins_segment=True)
