"""The progress of a job, as engines report it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Progress:
    """The state of a step of a job.

    Attributes:
        step: the step, in words.
        done: the size of what is done, in ``unit``; None if it is not known.
        total: the size of the whole step, in ``unit``; None if it is not known.
        unit: ``bytes`` of files, or ``checks`` of rules.
        rows: the number of rows that were read, or that the step works on; None if it is not known.
    """

    step: str
    done: int | None = None
    total: int | None = None
    unit: str = "bytes"
    rows: int | None = None


Step: TypeAlias = Callable[[Progress], None]
"""A callable that receives the progress, often."""
