"""Data sets of generic messages (2.0 and 2.1), whose components are elements ``Value``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar

from kafka_replica.data.files.messages.ml.data_set import Taken
from kafka_replica.data.files.messages.ml.events import Events
from kafka_replica.data.files.messages.ml.groups import Row
from kafka_replica.data.files.messages.ml.header import Reference
from kafka_replica.data.files.messages.ml.known import KnownComponents
from kafka_replica.data.files.messages.ml.series import NOTHING, SeriesReader
from kafka_replica.data.files.messages.ml.values import Value, ValueReader


class GenericReader(SeriesReader):
    """The handlers of events within a generic data set.

    Args:
        events: the parser.
        take: is called with each row.
        key_family: returns the structure whose id a data set of 2.0 gives in an element.
        only_groups: whether everything except groups is skipped.
    """

    handlers: ClassVar[Mapping[str, tuple[str, str]]] = {
        **SeriesReader.handlers,
        "Value": ("value_start", NOTHING),
        "SeriesKey": ("series_key_start", NOTHING),
        "ObsKey": ("obs_key_start", NOTHING),
        "GroupKey": ("group_key_start", NOTHING),
        "Attributes": ("attributes_start", NOTHING),
        "Time": ("time_start", NOTHING),
        "ObsDimension": ("obs_dimension_start", NOTHING),
        "ObsValue": ("obs_value_start", NOTHING),
        "KeyFamilyRef": ("key_family_start", NOTHING),
    }

    def __init__(
        self,
        events: Events,
        take: Callable[[Taken], None],
        key_family: Callable[[str], tuple[Reference, KnownComponents]],
        *,
        only_groups: bool,
    ) -> None:
        super().__init__(events, take, only_groups=only_groups)
        self._key_family = key_family
        self._target: Row = {}

    def value_start(self, attributes: dict[str, str]) -> None:
        """Set a component; its name is ``concept`` in 2.0."""
        name, value = attributes.get("id") or attributes.get("concept"), attributes.get("value")
        if name and value:
            self._set(self._target, name, value)

    def _set(self, target: Row, name: str, value: str) -> None:
        if target.setdefault(name, value) != value:
            self.refuse_second(name, target[name], value)

    def series_key_start(self, attributes: dict[str, str]) -> None:
        """Begin the key of a series."""
        self.attributes_start(attributes)

    def obs_key_start(self, attributes: dict[str, str]) -> None:
        """Begin the key of an observation."""
        self.attributes_start(attributes)

    def group_key_start(self, attributes: dict[str, str]) -> None:
        """Begin the key of a group."""
        del attributes
        self._target = self.group_key = {}

    def attributes_start(self, attributes: dict[str, str]) -> None:
        """Begin the attributes of the innermost element."""
        del attributes
        self._target = self.innermost()

    def obs_dimension_start(self, attributes: dict[str, str]) -> None:
        """Set the dimension at the observation. If the header names it, the element need not."""
        name, value = self.data_set.at_observation, attributes.get("value")
        if not self.data_set.names_observation:
            name = attributes.get("id") or name
        if self.obs is not None and value:
            self.obs[name or attributes.get("id", "")] = value

    def obs_value_start(self, attributes: dict[str, str]) -> None:
        """Set the measure."""
        value = attributes.get("value")
        if self.obs is not None and value:
            self._set(self.obs, self.data_set.known.primary_measure, value)

    def time_start(self, attributes: dict[str, str]) -> None:
        """Read the time of an observation (2.0)."""
        del attributes
        self.depth -= 1
        ValueReader(self.events, self._take_time)

    def _take_time(self, value: Value) -> None:
        if self.obs is not None and isinstance(value, str) and value.strip():
            self.obs[self.data_set.known.time] = value.strip()

    def key_family_start(self, attributes: dict[str, str]) -> None:
        """Read the structure of the data set (2.0)."""
        del attributes
        self.depth -= 1
        ValueReader(self.events, self._take_key_family)

    def _take_key_family(self, value: Value) -> None:
        if isinstance(value, str) and self.data_set.is_unnamed:
            self.data_set.refer(*self._key_family(value.strip()))

    def commit_group(self, line: int, group: Row) -> None:
        """Add a group; the attributes of a group without a key apply to the series inside it (2.0)."""
        if self.group_key is None:
            self.data_set.scope = group
        elif group:
            self.data_set.add_group(line, self.group_key, group)
