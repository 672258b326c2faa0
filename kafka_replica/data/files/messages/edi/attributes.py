"""Attributes of data sets, groups, series and observations, which come after the series of their data set.

Source: SDMX 2.1 Section 4, "SDMX-EDI: Syntax and Documentation": FNS, REL+Z01, ARR, IDE+Z10 and Z11, CDV, FTX.
"""

from __future__ import annotations

from typing import Final, TypeAlias

from kafka_replica.data.files.messages.attribute_groups import Groups, Row
from kafka_replica.data.files.messages.edi.periods import periods_of
from kafka_replica.data.files.messages.edi.structure import Components
from kafka_replica.sdmx.formats.edi.reading.messages import part
from kafka_replica.sdmx.formats.edi.reading.syntax import Segment, fail
from kafka_replica.sdmx.formats.edi.reading.texts import Texts

ObsKey: TypeAlias = tuple[tuple[str, ...], str]
"""The key of a series, and a period."""
_DATA_SET, _DIMENSIONS, _OBSERVATION = "1", "4", "5"
_SCOPES: Final = {_DATA_SET, _DIMENSIONS, _OBSERVATION}
_MOST_OBSERVATIONS: Final = 2_000_000
DELETED: Final = "#N/A"
"""The value of a deleted attribute, for which the message itself gives no value."""


class Attributes:
    """The attributes of a data set, segment by segment.

    Attributes:
        data_set: the attributes of the data set.
        groups: the attributes of series and of groups of series.
        observations: the attributes of observations, by key and period.
        is_deletion: whether the data set deletes rows; an attribute then needs no value.
        segments: the number of the segment with each observation's attributes, by key and period.
    """

    def __init__(self, components: Components) -> None:
        self._components = components
        self.data_set: Row = {}
        self.groups = Groups(frozenset({*components.series, components.time}))
        self.observations: dict[ObsKey, Row] = {}
        self.segments: dict[ObsKey, int] = {}
        self.is_deletion = False
        self._scope = ""
        self._values: Row = {}
        self._key: Row = {}
        self._target: list[Row] = []
        self._name = ""
        self._texts = Texts()
        self._number = 0

    def take(self, segment: Segment) -> None:
        """Process a segment after FNS or REL. Raises MessageError."""
        elements = segment.elements()
        tag, first = segment.tag, part(elements, 0)
        if tag == "REL":
            self.finish()
            self._scope = part(elements, 1)
            if first != "Z01" or self._scope not in _SCOPES:
                fail(segment.number, f"REL+{first[:9]}+{self._scope[:9]} is not one of REL+Z01+1, +4 and +5")
        elif tag == "ARR":
            self.finish()
            self._begin(segment, elements[1] if len(elements) > 1 else [])
        elif tag == "IDE":
            if first not in {"Z10", "Z11"}:
                fail(segment.number, f"IDE+{first[:9]} among attributes is neither IDE+Z10 nor IDE+Z11")
            if not self._target:
                fail(segment.number, "an attribute before ARR, which states its position")
            self._finish_value()
            self._name = part(elements, 1)
            if not self._name:
                fail(segment.number, "IDE names no attribute")
        elif tag == "CDV":
            self._set(segment, first)
        elif tag == "FTX":
            self._texts.add(segment)
            self._set(segment, str(next(iter(self._texts.together().values()), "")))

    def finish(self) -> None:
        """Complete the attributes of the current series, group or observation."""
        self._finish_value()
        if self._key and self._values:
            self.groups.add(self._number, self._key, self._values)
        self._key, self._values, self._target = {}, {}, []

    def _finish_value(self) -> None:
        if self._name and self.is_deletion:
            for one in self._target:
                one.setdefault(self._name, DELETED)
        self._name, self._texts = "", Texts()

    def _set(self, segment: Segment, value: str) -> None:
        if not self._name:
            fail(segment.number, f"{segment.tag} is not the value of an attribute (IDE+Z10 or IDE+Z11)")
        if value:
            for one in self._target:
                one[self._name] = value

    def _begin(self, segment: Segment, given: list[str]) -> None:
        """Set the object to which the next attributes belong: a data set, a series or group, or observations."""
        key = [one.strip() for one in given]
        series, self._number = self._components.series, segment.number
        expected = {_DATA_SET: 0, _DIMENSIONS: len(series), _OBSERVATION: len(series) + 2}.get(self._scope)
        if expected is None:
            fail(segment.number, "ARR of attributes before REL+Z01, which states their level")
        if len(key) != expected and any(key[expected:] if self._scope == _DATA_SET else [True]):
            fail(
                segment.number,
                f"a key of {len(key)} parts for attributes of level {self._scope}; the structure needs {expected} "
                f"({', '.join(series)})",
            )
        if self._scope == _DATA_SET:
            self._target = [self.data_set]
        elif self._scope == _DIMENSIONS:
            self._key = {name: value for name, value in zip(series, key, strict=True) if value}
            self._target = [self._values if self._key else self.data_set]
        else:
            try:
                periods = periods_of(key[-2], key[-1])
            except ValueError as error:
                fail(segment.number, str(error))
            if len(self.observations) + len(periods) > _MOST_OBSERVATIONS:
                fail(segment.number, f"attributes of more than {_MOST_OBSERVATIONS:,} observations")
            keys = [(tuple(key[:-2]), period) for period in periods]
            self.segments.update(dict.fromkeys(keys, segment.number))
            self._target = [self.observations.setdefault(each, {}) for each in keys]
