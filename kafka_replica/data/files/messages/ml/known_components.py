"""The components of a message's structure, as far as the caller's rules provide them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from kafka_replica.data.errors import DatasetError
from kafka_replica.data.files.structure_references import belongs_to, urn_of
from kafka_replica.data.validation.model import Column, Rules
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
        primary_measure: the measure that applies where a message does not name it.
        collapsed: the components whose values do not include the whitespace around them, such as numbers.
        measured: the cross-sectional measures of 2.0, each with the measure dimension and its code for the measure.
        written: the components that the message calls by their concept, by the id of the concept.
    """

    dimensions: frozenset[str] | None = None
    time: str = TIME_PERIOD
    measures: tuple[str, ...] = (OBS_VALUE,)
    primary_measure: str = OBS_VALUE
    collapsed: frozenset[str] = frozenset()
    measured: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    written: Mapping[str, str] = field(default_factory=dict)

    def name_of(self, written: str) -> str:
        """Return the id of a component that the message may call by its concept."""
        return self.written.get(written, written)

    def is_primary_measure(self, written: str) -> bool:
        """Return whether the message calls the primary measure by this name, or may do so by its concept."""
        return self.written.get(written) == self.primary_measure and written not in self.measures

    def names_of(self, written: tuple[str, ...]) -> tuple[str, ...]:
        """Return the ids of components that the message may call by their concepts."""
        return tuple([self.written.get(one, one) for one in written]) if self.written else written

    def value_of(self, name: str, value: Any) -> Any:
        """Return a value of a component without the whitespace that is not part of it."""
        if name not in self.collapsed:
            return value
        if isinstance(value, list):
            return [self.value_of(name, one) for one in value]
        return value.strip(WHITESPACE) if isinstance(value, str) else value

    def values_of(self, row: dict[str, Any], line: int) -> dict[str, Any]:
        """Return a row by ids, without whitespace that is not part of its values, and values that become empty.

        Args:
            row: the values of an element.
            line: its line, for the error.

        Raises:
            DatasetError: the element has two values of a component, one by its id and one by its concept.
        """
        if self.written and not self.written.keys().isdisjoint(row):
            row = self._by_ids(row, line)
        for name in self.collapsed.intersection(row):
            value = row[name]
            row[name] = value = value.strip(WHITESPACE) if isinstance(value, str) else self.value_of(name, value)
            if value == "":
                del row[name]
        return row

    def _by_ids(self, row: dict[str, Any], line: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for written, value in row.items():
            name = self.written.get(written, written)
            if found.setdefault(name, value) == value:
                continue
            first, second = (self.value_of(name, one) for one in (found[name], value))
            if first and second and first != second:
                raise DatasetError(
                    f"line {line}: {name} has two values in one element: {str(first)[:40]!r} and "
                    f"{str(second)[:40]!r}, under different names; only one of the two would be read"
                )
            found[name] = first or second
        return found


UNKNOWN: Final = KnownComponents()


@dataclass(frozen=True, slots=True)
class ExpectedStructure:
    """The structure that the caller expects."""

    rules: Rules | None = None
    usages: Collection[Urn] = ()

    def has_component(self, id_: str) -> bool:
        """Return whether the structure is known to have a component with this id."""
        return self.rules is not None and self.rules.column(id_) is not None

    def known(self, kind: str | None, reference: str | None, *, is_old: bool) -> KnownComponents:
        """Return the components of a data set.

        Args:
            kind: the kind of the structure that the data set names; None if it names none.
            reference: the reference of that structure; None if it names none.
            is_old: whether the message has version 1.0 or 2.0.

        Raises:
            DatasetError: the reference is invalid.
        """
        if self.rules is None:
            return UNKNOWN
        if reference is not None and not belongs_to(urn_of(kind, reference), self.rules, self.usages):
            return UNKNOWN
        columns = self.rules.columns
        dimensions = frozenset(column.id for column in columns if column.kind == "dimension")
        measures = tuple(column.id for column in columns if column.kind == "measure")
        measured = {one.id: one.measured for one in columns if one.measured is not None and all(one.measured)}
        measured = {id_: (dimension, code) for id_, (dimension, code) in measured.items() if dimension in dimensions}
        others = [one for one in measures if one not in measured]
        known = KnownComponents(
            dimensions,
            next((column.id for column in columns if column.is_time), TIME_PERIOD),
            measures,
            others[0] if OBS_VALUE not in others and len(others) == 1 else OBS_VALUE,
            frozenset(column.id for column in columns if column.enumeration is None and column.text_type in _COLLAPSED),
            measured,
        )
        return replace(known, written=_written(columns, {known.time, known.primary_measure})) if is_old else known


def _written(columns: Collection[Column], renamed: Collection[str]) -> dict[str, str]:
    """Return the components that messages of 1.0 and 2.0 call by their concepts, by the ids of the concepts.

    Since 2.1 the time dimension and the primary measure have fixed ids, which the structures of older messages get as
    well. A concept that has the id of a component is that component.

    Source: SDMX 2.0, SDMXStructure.xsd, ``TimeDimensionType`` and ``PrimaryMeasureType``.
    """
    concepts = [(one.concept, one.id) for one in columns if one.concept is not None and one.id in renamed]
    ids = {one.id for one in columns}
    found = {concept: id_ for concept, id_ in concepts if concept not in ids}
    return {} if len({concept for concept, _ in concepts}) < len(concepts) else found
