"""Read the data sets of cross-sectional messages (2.0), event by event.

An observation inherits the components of its section, its group and the data set. Its element has the name ``Obs`` or
that of the measure; its value is the XML attribute ``value``.

Source: SDMX-ML 1.0 and 2.0, ``cross``; the schemas for key families in Part III, "Mapping to structure-specific
schemas"; 2.0, SDMXStructure.xsd, ``CrossSectionalMeasureType``: these measures "will replace the primary measure", and
each represents a code of the measure dimension.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from kafka_replica.data.errors import DatasetError
from kafka_replica.data.files.messages.attribute_groups import Row
from kafka_replica.data.files.messages.ml.data_set import DEEPEST, MOST_COMPONENTS, DataSet, Located, Taken
from kafka_replica.data.files.messages.ml.events import Events
from kafka_replica.data.files.messages.ml.known_components import KnownComponents
from kafka_replica.data.files.messages.ml.qualified_attributes import has_namespace, without_prefixes
from kafka_replica.data.files.messages.ml.unknown_elements import OF_W3C, UnknownElements

_LEVELS: Final = frozenset({"Group", "Section"})
_SKIPPED: Final = frozenset({"Annotations"})
_VALUE: Final = "value"
_TIME: Final = "time"
"""An XML attribute of groups in 1.0, "the value for the time dimension" (SDMXCrossSectionalData.xsd, GroupType)."""


class CrossSectionReader:
    """The handlers of events within a cross-sectional data set.

    Args:
        events: the parser.
        take: is called with each row.
        unknown: decides on elements in other namespaces, and collects the elements that delete nothing.
        is_unqualified: whether the element of the data set is not in the namespace of a structure; the first group or
            section then shows this namespace.
        has_time: whether groups have the XML attribute ``time`` (1.0).
    """

    def __init__(
        self,
        events: Events,
        take: Callable[[Taken], None],
        unknown: UnknownElements,
        *,
        is_unqualified: bool = False,
        has_time: bool = False,
    ) -> None:
        self._events, self._take, self._unknown = events, take, unknown
        self._is_unqualified, self._has_time = is_unqualified, has_time
        self._data_set: DataSet
        self._of_groups: KnownComponents
        """The components, with the names that groups have for them."""
        self._levels: list[Row] = []
        self._deletes = False
        self._unread: list[bool] = []
        """For each of the levels in a deletion, whether it has a part that is not read."""
        self._deleted: Located | None = None
        """The row of the current observation in a deletion, until the end of its element."""
        self._has_open_rows = False
        """True if the data set has deleted something, and left a dimension open."""
        self._open_levels = 0
        """The number of the current levels to which this applies."""
        self._line = 0
        self._has_rows = False
        self._is_bare = True

    def begin(self, data_set: DataSet) -> None:
        """Begin a data set, whose element has just started."""
        self._data_set, self._deletes = data_set, data_set.is_deletion
        self._of_groups = known = data_set.known
        if self._has_time:
            self._of_groups = replace(known, written={**known.written, _TIME: known.time})
        self._levels, self._line = [], self._events.parser.CurrentLineNumber
        self._events.handle(self._start, self._end, self._events.refuse_text)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        local = name.rpartition("}")[2]
        if self._is_unqualified and local in _LEVELS:
            self._unknown.namespaces.add(name.rpartition("}")[0])
        if self._unknown.is_foreign(name):
            self._skip_foreign(name)
            return
        if local in _SKIPPED:
            self._events.skip()
            return
        self._is_bare = self._is_unqualified = False
        if has_namespace(attributes):
            attributes = without_prefixes(name, attributes, self._unknown, self._events.line)
        if len(self._levels) > DEEPEST or len(attributes) > MOST_COMPONENTS:
            raise DatasetError(
                f"line {self._events.line}: there are more than {DEEPEST} nested elements, or more than "
                f"{MOST_COMPONENTS:,} components"
            )
        known = self._of_groups if local == "Group" else self._data_set.known
        measure, value = local, None
        if local not in _LEVELS:
            measure = known.primary_measure if known.is_primary_measure(local) else local
            value = self._value(measure, attributes.pop(_VALUE, None))
        given = {one: each for one, each in attributes.items() if each and "}" not in one}
        own = known.values_of(given, self._events.line)
        if self._deletes:
            lost = (one for one in attributes if not attributes[one] or known.name_of(one) not in own)
            empty = _VALUE if value == "" else next((one for one in lost if "}" not in one), None)
            self._check_level(local, attributes, empty)
        above = self._levels[-1] if self._levels else {}
        self._levels.append(above | own)
        if local not in _LEVELS:
            above = self._data_set.structure_columns | self._data_set.attributes | above
            measured = self._measured(measure, value or None, above, own)
            self._refuse_two_values(local, own, measured)
            row = self._events.parser.CurrentLineNumber, above, own | measured
            if self._deletes:
                self._check_observation(local, measure, own, measured, has_value=bool(value))
                self._deleted = row
            else:
                self._has_rows = True
                self._take(row)

    def _refuse_two_values(self, element: str, own: Row, measured: Row) -> None:
        if own.keys().isdisjoint(measured):
            return
        for name, value in measured.items():
            if own.get(name, value) != value:
                raise DatasetError(
                    f"line {self._events.line}: {element[:80]} has two values of {name}: {str(own[name])[:40]!r} and "
                    f"{str(value)[:40]!r}; only one of the two would be read"
                )

    def _skip_foreign(self, name: str) -> None:
        """Skip an extension, which may restrict the level of a deletion that it is in.

        Raises:
            DatasetError: something that the extension may restrict has already been deleted.
        """
        self._is_bare = False
        if self._has_open_rows and self._open_levels >= len(self._unread):
            raise self._unknown.deletions.late("element around it" if self._unread else "data set")
        if self._unread:
            self._unread[-1] = True
        else:
            self._data_set.restrict()
        self._unknown.skip_or_refuse(name, ())

    def _check_level(self, element: str, attributes: dict[str, str], empty: str | None) -> None:
        """Check that the XML attributes of an element in a deletion name what is deleted; note whether all are read.

        Args:
            element: its name.
            attributes: its XML attributes.
            empty: one that has no value; None if all have.
        """
        if self._deleted is not None:
            raise self._unclear(f"the element {element[:80]} is within an observation")
        if empty is not None:
            raise self._unclear(f"{empty[:80]} has no value")
        self._unread.append(any("}" in one and not one.startswith(OF_W3C) for one in attributes))

    def _check_observation(
        self, element: str, measure: str, own: Row, measured: Row, *, has_value: bool
    ) -> None:  # fmt: skip
        """Check that an observation in a deletion names what is deleted.

        If there is only one measure, an observation's element may have its name instead of ``Obs``. If there are
        several, an element with the name of a measure means that measure, and not the whole observation.
        """
        known = self._data_set.known
        if measure in known.measured and not has_value:
            raise self._unclear(f"{element[:80]} is one of several measures, and has no value")
        if not (own or measured):
            raise self._unclear(f"the observation {element[:80]} names nothing")
        is_observation = measure == "Obs" or (measure == known.primary_measure and len(known.measures) <= 1)
        if not (measured or is_observation):
            raise self._unclear(
                f"{element[:80]} has no value, and is neither Obs nor the code of the only dimension without value"
            )

    def _unclear(self, what: str) -> DatasetError:
        return DatasetError(
            f"line {self._events.line}: {what} in a data set with the action delete, so it is unknown what is deleted"
        )

    def _end(self, name: str) -> None:
        del name
        if not self._levels:
            self._end_data_set()
            return
        self._levels.pop()
        if self._deletes:
            self._end_level()

    def _end_level(self) -> None:
        """Pass on the row of an observation that ends in a deletion, unless a part around or in it is not read."""
        row, self._deleted = self._deleted, None
        if row is not None and any(self._unread):
            self._unknown.deletions.note_unclear("observation", row[0])
        elif row is not None:
            self._delete(row)
        self._unread.pop()
        self._open_levels = min(self._open_levels, len(self._unread))

    def _delete(self, row: Located) -> None:
        """Pass on a row of a deletion, unless it leaves a dimension open and a restriction is not applied."""
        if self._data_set.is_open(row):
            if self._data_set.is_restricted:
                self._unknown.deletions.note_restricted(row[0])
                return
            self._has_open_rows, self._open_levels = True, len(self._unread)
        self._has_rows = True
        self._take(row)

    def _end_data_set(self) -> None:
        data_set = self._data_set
        rows = data_set.own_rows(self._line, has_rows=self._has_rows, is_bare=self._is_bare)
        if not data_set.is_deletion:
            for row in rows:
                self._take(row)
        elif data_set.attributes and data_set.known.dimensions is None:
            self._unknown.deletions.note_unknown_attributes(self._line)
        else:
            for row in rows:
                self._delete(row)
        if data_set.is_deletion and not self._has_rows:
            self._unknown.deletions.note_data_set(self._line)
        data_set.end()

    def _value(self, element: str, value: str | None) -> str | None:
        """Return the value of an observation without the whitespace that is not part of it."""
        known = self._data_set.known
        is_own = element in known.measures and element not in known.measured
        return None if value is None else str(known.value_of(element if is_own else known.primary_measure, value))

    def _measured(self, element: str, value: str | None, above: Row, own: Row) -> Row:
        """Return the measure of an observation, by the name of its element.

        The name is a cross-sectional measure, which represents a code of the measure dimension, or another measure, or
        else a code of the only dimension that has no value.
        """
        known = self._data_set.known
        primary = known.primary_measure
        measure = {} if value is None else {primary: value}
        if element in {"Obs", primary}:
            return measure
        if element in known.measured:
            dimension, code = known.measured[element]
            given = own.get(dimension) or above.get(dimension, code)
            if given != code:
                raise DatasetError(
                    f"line {self._events.line}: {element} is the measure of {dimension}={code}, but {dimension} is "
                    f"{str(given)[:40]!r} there; correct or remove one of the two"
                )
            return {dimension: code} | measure
        missing = () if known.dimensions is None else tuple(known.dimensions.difference(above, own))
        if element not in known.measures and len(missing) == 1:
            return {missing[0]: element} | measure
        return {} if value is None else {element: value}
