"""What an examination says: one finding a check."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Grade(StrEnum):
    """How bad it is."""

    OK = "ok"
    ADVICE = "advice"
    """It works; something could be better."""
    FAULT = "fault"
    """A replica or a producer will not work, or not keep its promises."""
    SKIPPED = "skipped"
    """It could not be looked at; why is said."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One check."""

    check: str
    """What was looked at, such as ``server kafka-1:9092`` or ``topic cleanup.policy``."""
    grade: Grade
    said: str
    """What was found."""
    todo: str | None = None
    """What to do about it."""
