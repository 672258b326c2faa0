"""Data sets of generic messages (2.0 and 2.1), whose components are elements ``Value``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar, Final

from kafka_replica.common.wording import did_you_mean
from kafka_replica.data.errors import DatasetError
from kafka_replica.data.files.messages.attribute_groups import Row
from kafka_replica.data.files.messages.ml.data_set import Taken
from kafka_replica.data.files.messages.ml.element_values import ElementValueReader, Value
from kafka_replica.data.files.messages.ml.events import Events
from kafka_replica.data.files.messages.ml.header import Reference
from kafka_replica.data.files.messages.ml.known_components import WHITESPACE, KnownComponents
from kafka_replica.data.files.messages.ml.series import NOTHING, SeriesReader
from kafka_replica.data.files.messages.ml.unknown_elements import UnknownElements

_OF_VALUES: Final = frozenset({"id", "concept", "value", "startTime"})
"""The XML attributes of elements with a value."""


class GenericReader(SeriesReader):
    """The handlers of events within a generic data set.

    Args:
        events: the parser.
        take: is called with each row.
        unknown: decides on elements without a handler.
        key_family: returns the structure whose id a data set of 2.0 gives in an element.
        only_groups: whether everything except groups is skipped.
    """

    handlers: ClassVar[Mapping[str, tuple[str, str]]] = {
        **SeriesReader.handlers,
        "Value": ("value_start", NOTHING),
        "SeriesKey": ("series_key_start", "values_end"),
        "ObsKey": ("obs_key_start", "values_end"),
        "GroupKey": ("group_key_start", "values_end"),
        "Attributes": ("attributes_start", "values_end"),
        "Time": ("time_start", NOTHING),
        "ObsDimension": ("obs_dimension_start", NOTHING),
        "ObsValue": ("obs_value_start", NOTHING),
        "KeyFamilyRef": ("key_family_start", NOTHING),
    }

    def __init__(
        self,
        events: Events,
        take: Callable[[Taken], None],
        unknown: UnknownElements,
        key_family: Callable[[str], tuple[Reference, KnownComponents]],
        *,
        only_groups: bool,
    ) -> None:
        super().__init__(events, take, unknown, only_groups=only_groups)
        self._key_family = key_family
        self._target: Row | None = None

    def value_start(self, attributes: dict[str, str]) -> None:
        """Set a component; its name is ``concept`` in 2.0."""
        name, value = attributes.get("id") or attributes.get("concept"), attributes.get("value")
        if self._target is None:
            raise DatasetError(
                f"line {self.events.line}: Value is not within SeriesKey, ObsKey, GroupKey or Attributes; the value of "
                "an observation is in ObsValue"
            )
        if name and value:
            self._set(self._target, self.data_set.known.name_of(name), value)
        elif value:
            raise DatasetError(
                f"line {self.events.line}: Value has no id (in 2.0, no concept), which names its component"
            )
        else:
            self._refuse_other_attributes("Value", attributes)
            if name:
                self._refuse_empty(self._target, name)

    def _refuse_empty(self, target: Row, name: str) -> None:
        if target is not self.data_set.attributes:
            self.refuse_empty(name)

    def _refuse_other_attributes(self, element: str, attributes: dict[str, str]) -> None:
        """Refuse XML attributes of an element without a value: one of them may be the value."""
        for name in attributes:
            if name not in _OF_VALUES and "}" not in name:
                raise DatasetError(
                    f"line {self.events.line}: {element} has no value, but the XML attribute {name[:80]!r}, which is "
                    f"not part of SDMX-ML{did_you_mean(name, _OF_VALUES)}"
                )

    def _set(self, target: Row, name: str, value: str) -> None:
        if name in self.data_set.known.collapsed:
            value = value.strip(WHITESPACE)
            if not value:
                self._refuse_empty(target, name)
                return
        if target.setdefault(name, value) != value:
            self.refuse_second(name, target[name], value)

    def series_key_start(self, attributes: dict[str, str]) -> None:
        """Begin the key of a series."""
        self.refuse_outside("SeriesKey", "Series", self.series)
        self.attributes_start(attributes)

    def obs_key_start(self, attributes: dict[str, str]) -> None:
        """Begin the key of an observation."""
        self.refuse_outside("ObsKey", "Obs", self.obs)
        self.attributes_start(attributes)

    def group_key_start(self, attributes: dict[str, str]) -> None:
        """Begin the key of a group."""
        del attributes
        self.refuse_outside("GroupKey", "Group", self.group)
        self._target = self.group_key = {}

    def attributes_start(self, attributes: dict[str, str]) -> None:
        """Begin the attributes of the innermost element."""
        del attributes
        self._target = self.innermost()

    def values_end(self) -> None:
        """End a key or attributes."""
        self._target = None

    def obs_dimension_start(self, attributes: dict[str, str]) -> None:
        """Set the dimension at the observation. If the header names it, the element need not."""
        name, value = self.data_set.at_observation, attributes.get("value")
        if not self.data_set.names_observation:
            name = attributes.get("id") or name
        if self.obs is None:
            self.refuse_outside("ObsDimension", "Obs", self.obs)
        elif value:
            self._set(self.obs, name or attributes.get("id", ""), value)
        else:
            self._refuse_other_attributes("ObsDimension", attributes)
            self._refuse_empty(self.obs, "ObsDimension")

    def obs_value_start(self, attributes: dict[str, str]) -> None:
        """Set the measure."""
        value = attributes.get("value")
        if self.obs is None:
            self.refuse_outside("ObsValue", "Obs", self.obs)
        elif value:
            self._set(self.obs, self.data_set.known.primary_measure, value)
        else:
            self._refuse_other_attributes("ObsValue", attributes)
            self._refuse_empty(self.obs, "ObsValue")

    def time_start(self, attributes: dict[str, str]) -> None:
        """Read the time of an observation (2.0)."""
        del attributes
        self.refuse_outside("Time", "Obs", self.obs)
        self.depth -= 1
        ElementValueReader(self.events, self._take_time, takes_empty=True)

    def _take_time(self, value: Value) -> None:
        if self.obs is not None and isinstance(value, str) and value.strip():
            self.obs[self.data_set.known.time] = value.strip()
        else:
            self.refuse_empty(self.data_set.known.time)

    def key_family_start(self, attributes: dict[str, str]) -> None:
        """Read the structure of the data set (2.0)."""
        del attributes
        self.depth -= 1
        ElementValueReader(self.events, self._take_key_family)

    def _take_key_family(self, value: Value) -> None:
        if isinstance(value, str) and self.data_set.is_unnamed:
            self.data_set.refer(*self._key_family(value.strip()))

    def commit_group(self, line: int, group: Row) -> None:
        """Add a group; the attributes of a group without a key apply to the series inside it (2.0)."""
        if self.group_key is None:
            self.data_set.scope = group
        else:
            self.add_group(line, self.group_key, group, names_nothing=not group)
