"""The progress of a job, as engines report it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Progress:
    """The state of a step of a job.

    Attributes:
        step: a short description of the step, such as ``reading data``.
        done: the amount of work that is done, in ``unit``; None if unknown.
        total: the total amount of work in the step, in ``unit``; None if unknown.
        unit: ``bytes`` of files, or ``checks`` of rules.
        rows: the number of rows that were read, or that the step works on; None if unknown.
    """

    step: str
    done: int | None = None
    total: int | None = None
    unit: str = "bytes"
    rows: int | None = None


ProgressCallback: TypeAlias = Callable[[Progress], None]
"""A callable that receives the progress, possibly many times a second."""
