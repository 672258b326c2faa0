"""The result of a query over all records of a version."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, Protocol, Self, TypeVar

from kafka_replica.common.wording import counted
from kafka_replica.sdmx.errors import SdmxError
from kafka_replica.sdmx.urns.urn import Urn

T = TypeVar("T")
_SHOWN: Final = 20


class ErrorsByUrn(Protocol):
    """A mapping from the URN of each unreadable record to its error."""

    def items(self) -> Iterable[tuple[Urn, SdmxError]]: ...  # noqa: D102
    def __len__(self) -> int: ...


class QueryResult(tuple[T, ...]):
    """A tuple of the artefacts found, and the records that could not be searched because they cannot be read.

    Each of these records may hold more matches. The result compares equal to a plain tuple.
    """

    _errors: ErrorsByUrn

    def __new__(cls, found: Iterable[T], unreadable: ErrorsByUrn) -> Self:
        """Create the result; ``unreadable`` is stored as passed and sorted on access."""
        made = super().__new__(cls, found)
        made._errors = unreadable
        return made

    @property
    def unreadable(self) -> dict[Urn, SdmxError]:
        """The records that could not be searched, each with the error that ``get`` raises for it; sorted."""
        return dict(sorted(self._errors.items(), key=lambda one: one[0]))

    @property
    def is_complete(self) -> bool:
        """True if every record could be searched."""
        return len(self._errors) == 0

    def __repr__(self) -> str:
        shown = ", ".join(map(repr, self[:_SHOWN]))
        rest = f", and {len(self) - _SHOWN:,} more" if len(self) > _SHOWN else "," if len(self) == 1 else ""
        found = f"({shown}{rest})"
        missed = counted(len(self._errors), "unreadable record")
        return found if self.is_complete else f"<{found}; {missed} not searched>"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (tuple(self), self.unreadable)


def without_traceback(error: SdmxError) -> SdmxError:
    """Return a copy of the error; the traceback of the original would keep a version alive."""
    return type(error)(str(error))
