"""The findings of a connection test, one for each check."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """The severity of a finding."""

    OK = "ok"
    ADVICE = "advice"
    """The check passed, but an improvement is possible."""
    FAULT = "fault"
    """A replica or a producer will not work, or will not keep its guarantees."""
    SKIPPED = "skipped"
    """The check could not be carried out; the finding gives the reason."""


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of a check."""

    check: str
    """The object of the check, such as ``server kafka-1:9092`` or ``topic cleanup.policy``."""
    severity: Severity
    message: str
    """The result as text."""
    advice: str | None = None
    """The recommended action; None if there is nothing to do."""
