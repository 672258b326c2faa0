"""The components of a message's structure, as far as the caller's rules provide them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Final

from kafka_replica.data.files.structure_references import belongs_to, urn_of
from kafka_replica.data.validation.model import Rules
from kafka_replica.sdmx import Urn
from kafka_replica.sdmx.values.text_types import NUMBER_TYPES, TIME_TYPES

TIME_PERIOD: Final = "TIME_PERIOD"
OBS_VALUE: Final = "OBS_VALUE"
WHITESPACE: Final = " \t\n\r"
"""The whitespace of XML."""
_COLLAPSED: Final = frozenset({
    *NUMBER_TYPES, *TIME_TYPES, "Boolean", "Month", "MonthDay", "Day", "Time", "Duration", "URI",
})  # fmt: skip
"""The text types whose types in XML Schema collapse whitespace; texts and codes are restrictions of xs:string."""


@dataclass(frozen=True, slots=True)
class KnownComponents:
    """The components of a structure.

    Attributes:
        dimensions: the dimensions; None if the structure is unknown.
        time: the time dimension.
        measures: the measures.
        collapsed: the components whose values do not include the whitespace around them, such as numbers.
    """

    dimensions: frozenset[str] | None = None
    time: str = TIME_PERIOD
    measures: tuple[str, ...] = (OBS_VALUE,)
    collapsed: frozenset[str] = frozenset()

    @property
    def primary_measure(self) -> str:
        """Return the measure that applies where a message does not name it."""
        return self.measures[0] if OBS_VALUE not in self.measures and len(self.measures) == 1 else OBS_VALUE

    def value_of(self, name: str, value: Any) -> Any:
        """Return a value of a component without the whitespace that is not part of it."""
        if name not in self.collapsed:
            return value
        if isinstance(value, list):
            return [self.value_of(name, one) for one in value]
        return value.strip(WHITESPACE) if isinstance(value, str) else value

    def values_of(self, row: dict[str, Any]) -> dict[str, Any]:
        """Return a row without whitespace that is not part of its values, and without values that become empty."""
        for name in self.collapsed.intersection(row):
            row[name] = self.value_of(name, row[name])
            if row[name] == "":
                del row[name]
        return row


UNKNOWN: Final = KnownComponents()


@dataclass(frozen=True, slots=True)
class ExpectedStructure:
    """The structure that the caller expects."""

    rules: Rules | None = None
    usages: Collection[Urn] = ()

    def known(self, kind: str | None, reference: str | None) -> KnownComponents:
        """Return the components of a data set.

        Args:
            kind: the kind of the structure that the data set names; None if it names none.
            reference: the reference of that structure; None if it names none.

        Raises:
            DatasetError: the reference is invalid.
        """
        if self.rules is None:
            return UNKNOWN
        if reference is not None and not belongs_to(urn_of(kind, reference), self.rules, self.usages):
            return UNKNOWN
        columns = self.rules.columns
        return KnownComponents(
            frozenset(column.id for column in columns if column.kind == "dimension"),
            next((column.id for column in columns if column.is_time), TIME_PERIOD),
            tuple(column.id for column in columns if column.kind == "measure"),
            frozenset(column.id for column in columns if column.enumeration is None and column.text_type in _COLLAPSED),
        )
