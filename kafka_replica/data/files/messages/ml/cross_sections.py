"""Read the data sets of cross-sectional messages (2.0), event by event.

An observation inherits the components of its section, its group and the data set. Its element is called ``Obs`` or like
the measure; its value is the XML attribute ``value``.

Source: SDMX-ML 2.0, ``cross``; the schemas for key families in Part III, "Mapping to structure-specific schemas".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from kafka_replica.data.errors import DatasetError
from kafka_replica.data.files.messages.groups import Row
from kafka_replica.data.files.messages.ml.data_set import DEEPEST, MOST_COMPONENTS, DataSet, Taken
from kafka_replica.data.files.messages.ml.events import Events

_LEVELS: Final = frozenset({"Group", "Section"})
_SKIPPED: Final = frozenset({"Annotations"})
_VALUE: Final = "value"


class CrossSectionReader:
    """The handlers of events within a cross-sectional data set.

    Args:
        events: the parser.
        take: is called with each row.
    """

    def __init__(self, events: Events, take: Callable[[Taken], None]) -> None:
        self._events, self._take = events, take
        self._data_set: DataSet
        self._levels: list[Row] = []
        self._line = 0
        self._has_rows = False
        self._is_bare = True

    def begin(self, data_set: DataSet) -> None:
        """Begin a data set, whose element has just started."""
        self._data_set = data_set
        self._levels, self._line = [], self._events.parser.CurrentLineNumber
        self._events.handle(self._start, self._end, self._events.refuse_text)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        local = name.rpartition("}")[2]
        if local in _SKIPPED:
            self._events.skip()
            return
        self._is_bare = False
        if len(self._levels) > DEEPEST or len(attributes) > MOST_COMPONENTS:
            raise DatasetError(
                f"line {self._events.line}: there are more than {DEEPEST} nested elements, or more than "
                f"{MOST_COMPONENTS:,} components"
            )
        known = self._data_set.known
        own = known.values_of({one: value for one, value in attributes.items() if value and "}" not in one})
        empty = next((one for one in attributes if "}" not in one and one not in own), None)
        if self._data_set.is_deletion and empty is not None:
            raise self._unclear(f"{empty[:80]} has no value")
        above = self._levels[-1] if self._levels else {}
        self._levels.append(above | own)
        if local not in _LEVELS:
            if self._data_set.is_deletion and not own and local == "Obs":
                raise self._unclear("an observation names nothing")
            value = own.pop(_VALUE, None)
            above = self._data_set.standing | self._data_set.attributes | above
            line, self._has_rows = self._events.parser.CurrentLineNumber, True
            self._take((line, above, own | self._measured(local, value, above.keys() | own.keys())))

    def _unclear(self, what: str) -> DatasetError:
        return DatasetError(
            f"line {self._events.line}: {what} in a data set with the action delete, so it is unknown what is deleted"
        )

    def _end(self, name: str) -> None:
        del name
        if not self._levels:
            for row in self._data_set.own_rows(self._line, has_rows=self._has_rows, is_bare=self._is_bare):
                self._take(row)
            self._data_set.end()
            return
        self._levels.pop()

    def _measured(self, element: str, value: str | None, given: set[str]) -> Row:
        """Return the measure of an observation, by the name of its element.

        The name is a measure, or else a code of the only dimension that has no value.
        """
        known = self._data_set.known
        primary = known.primary_measure
        if value is not None:
            value = known.value_of(element if element in known.measures else primary, value) or None
        if element in {"Obs", primary}:
            return {} if value is None else {primary: value}
        missing = () if known.dimensions is None else tuple(known.dimensions.difference(given))
        if element not in known.measures and len(missing) == 1:
            return {missing[0]: element} | ({} if value is None else {primary: value})
        return {} if value is None else {element: value}
