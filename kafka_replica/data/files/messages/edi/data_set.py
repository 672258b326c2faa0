"""A data set of SDMX-EDI, segment by segment: its structure, its action, and the rows of its series and attributes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NoReturn

from kafka_replica.data.files.messages.blocks import Block
from kafka_replica.data.files.messages.edi.attributes import Attributes
from kafka_replica.data.files.messages.edi.segment_order import check_within
from kafka_replica.data.files.messages.edi.series import MISSING, Series, series_of
from kafka_replica.data.files.messages.edi.structure import Components
from kafka_replica.data.validation.actions import SWITCHED_OFF
from kafka_replica.sdmx.formats.edi.reading.messages import part
from kafka_replica.sdmx.formats.edi.reading.syntax import Segment, fail

_ACTIONS: Final = {"6": "D", "7": "A", "": "I"}
_DELETE: Final = "D"
_BEFORE_ATTRIBUTES: Final = {"FNS", "REL"}


class DataSet:
    """A data set.

    Args:
        number: its number in the interchange.
        decimal: the decimal mark.
        attributes: the attributes of all data sets, by number; those of this data set are added.

    Attributes:
        is_in_attributes: whether the attributes of the data set have begun.
    """

    def __init__(self, number: int, decimal: str, attributes: dict[int, Attributes]) -> None:
        self._number, self._decimal, self._all = number, decimal, attributes
        self._reference: str | None = None
        self._components: Components | None = None
        self._is_known = self.is_in_attributes = False
        self._missing = MISSING
        self._letter = "I"
        self._has_rows = False
        self._used: set[tuple[tuple[str, ...], str]] = set()

    @property
    def is_deletion(self) -> bool:
        """Return whether rows are deleted."""
        return self._letter == _DELETE

    def refer(self, reference: str | None, components: Components | None) -> None:
        """Set the structure; ``components`` is None if it is not the structure that the caller expects."""
        self._reference, self._components, self._is_known = reference, components, True
        if components is not None:
            self._all.setdefault(self._number, Attributes(components))

    @property
    def _attributes(self) -> Attributes | None:
        return self._all.get(self._number)

    @property
    def _structure_columns(self) -> dict[str, Any]:
        named = {} if self._reference is None else {"STRUCTURE": "datastructure", "STRUCTURE_ID": self._reference}
        return {**named, "ACTION": self._letter}

    def check_place(self, segment: Segment) -> None:
        """Check that a segment may come next, and note whether the attributes begin with it. Raises MessageError."""
        self.is_in_attributes |= segment.tag in _BEFORE_ATTRIBUTES
        check_within(segment, in_attributes=self.is_in_attributes)

    def take(self, segment: Segment) -> None:
        """Collect the attributes in a segment, during the pass over attributes."""
        if segment.tag == "STS":
            self._letter = _action(segment)
        elif self.is_in_attributes and segment.tag != "FNS" and self._attributes is not None:
            self._attributes.is_deletion = self.is_deletion
            self._attributes.take(segment)

    def block(self, segment: Segment) -> Block | None:
        """Return the rows of a segment, during the pass over rows; None if it has no rows."""
        if segment.tag == "STS":
            self._letter = _action(segment)
        elif segment.tag == "GIS" and part(segment.elements(), 0) == "1":
            self._missing = part(segment.elements(), 0, 3) or MISSING
        elif segment.tag == "ARR" and not self.is_in_attributes:
            self._has_rows = True
            return self._series(segment)
        return None

    def _series(self, segment: Segment) -> Block:
        if not self._is_known:
            fail(segment.number, "ARR before IDE+5, which names the structure")
        if self._components is None:
            return Block(1, self._structure_columns, {})  # of a structure that the caller did not request
        found = series_of(segment, self._components, self._missing, self._decimal)
        key = {name: value or None for name, value in zip(self._components.series, found.key, strict=True)}
        if self.is_deletion:
            periods = {self._components.time: found.periods} if found.periods else {}
            return Block(len(found.periods) or 1, self._structure_columns | key, periods)
        shared = self._structure_columns | self._inherited(found, key) | key
        if not found.periods:
            return Block(1, shared | {self._components.time: SWITCHED_OFF}, {})
        return Block(len(found.periods), *self._at_observations(found, shared))

    def _inherited(self, found: Series, key: dict[str, str | None]) -> dict[str, Any]:
        formats = (self._components and self._components.time_format) or {}
        own = {"TIME_FORMAT": formats[found.format_code]} if found.format_code in formats else {}
        if self._attributes is None:
            return own
        given = {name: value for name, value in key.items() if value is not None}
        return own | self._attributes.data_set | self._attributes.groups.attributes_of(given)

    def _at_observations(self, found: Series, shared: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the values that all observations share, and the columns of those that vary."""
        assert self._components is not None  # noqa: S101 - for mypy
        varying: dict[str, Any] = {self._components.time: found.periods, **found.columns}
        known = self._attributes.observations if self._attributes is not None else {}
        rows = [
            (at, known[found.key, period]) for at, period in enumerate(found.periods) if (found.key, period) in known
        ]
        for at, row in rows:
            self._used.add((found.key, found.periods[at]))
            for name, value in row.items():
                if type(varying.get(name)) is not list:
                    varying[name] = list(varying.get(name) or [shared.get(name)] * len(found.periods))
                varying[name][at] = value
        return shared, varying

    def end(self, *, only_attributes: bool) -> Iterator[tuple[int, Block]]:
        """End the data set; yield a row for each set of attributes to which no row belongs."""
        attributes, components = self._attributes, self._components
        if attributes is None or components is None:
            return
        if only_attributes:
            attributes.finish()
            return
        dimensions = (*components.series, components.time)
        own: list[tuple[int, dict[str, Any]]] = []
        if attributes.data_set and (self.is_deletion or not self._has_rows):
            own.append((1, attributes.data_set))
        own += [(one.line, {**(one.key or {}), **one.values}) for one in attributes.groups.unused()]
        for at in attributes.observations.keys() - self._used:
            key = dict(zip(dimensions, (*at[0], at[1]), strict=True))
            own.append((attributes.segments[at], {**key, **attributes.observations[at]}))
        inherited = {} if self.is_deletion else attributes.data_set
        for number, row in sorted(own, key=lambda one: one[0]):
            others = {} if self.is_deletion else dict.fromkeys(dimensions, SWITCHED_OFF)
            yield number, Block(1, {**self._structure_columns, **others, **inherited, **row}, {})


def _action(segment: Segment) -> str:
    code = part(segment.elements(), 1)
    return _ACTIONS[code] if code in _ACTIONS else _unknown(segment, code)


def _unknown(segment: Segment, code: str) -> NoReturn:
    fail(segment.number, f"STS+3+{code[:9]}: the action must be 7 (update) or 6 (delete)")
