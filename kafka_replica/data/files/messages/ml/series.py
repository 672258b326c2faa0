"""Read series, observations and groups of a data set, event by event: the common base for generic and specific data.

Source: SDMX-ML 2.0, ``generic`` and ``compact``; 2.1, ``data/generic`` and ``data/structurespecific``; 3.0 and 3.1,
``data/structurespecific``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import ClassVar, Final

from kafka_replica.data.errors import DatasetError
from kafka_replica.data.files.messages.attribute_groups import Row
from kafka_replica.data.files.messages.ml.data_set import DEEPEST, MOST_COMPONENTS, DataSet, Run, Taken
from kafka_replica.data.files.messages.ml.events import Events
from kafka_replica.data.files.messages.ml.unknown_elements import OF_W3C, UnknownElements
from kafka_replica.data.validation.actions import SWITCHED_OFF

_MOST_NAMES: Final = 1_000
NOTHING: Final = "nothing"
_NOT_DATA: Final = frozenset({"Annotations", "KeyFamilyRef"})
"""Elements in data sets that name no data, and do not restrict it."""
_OF_SDMX: Final = "sdmx.org/"


class SeriesReader:
    """The handlers of events within a data set.

    Args:
        events: the parser.
        take: is called with each row.
        unknown: decides on elements without a handler.
        is_old: whether the message has version 1.0 or 2.0.
        only_groups: whether everything except groups is skipped.
    """

    handlers: ClassVar[Mapping[str, tuple[str, str]]] = {
        "Series": ("series_start", "series_end"),
        "Obs": ("obs_start", "obs_end"),
        "Group": ("group_start", "group_end"),
        "Annotations": ("skip", NOTHING),
        "DataProvider": ("provider_start", NOTHING),
    }
    """The methods for the start and the end of elements, by local name."""

    def __init__(
        self,
        events: Events,
        take: Callable[[Taken], None],
        unknown: UnknownElements,
        *,
        is_old: bool = False,
        only_groups: bool = False,
    ) -> None:
        self.events, self._take, self.unknown, self.is_old = events, take, unknown, is_old
        self._handlers = {name: (getattr(self, one), getattr(self, end)) for name, (one, end) in self.handlers.items()}
        if only_groups:
            self._handlers |= dict.fromkeys(("Series", "Obs"), (self.skip, self.nothing))
        self._starts: dict[str, Callable[[dict[str, str]], None]] = {}
        self._ends: dict[str, Callable[[], None]] = {}
        self.data_set: DataSet
        self.deletes = False
        """True if the data set deletes: a copy of its property, because each element needs it."""
        self.depth = 0
        self.series: Row | None = None
        self.obs: Row | None = None
        self.group: Row | None = None
        self.group_key: Row | None = None
        self.above: Row | None = None
        self._line = self._series_line = self._group_line = self.obs_line = 0
        self._has_rows = False
        self._is_bare = True
        self._has_series = False
        """True if the current group contains a series."""
        self.has_unread = False
        """True if the innermost series, observation or group has a part that is not read."""
        self._is_narrowed = False
        """True if the current series has such a part, which may restrict its observations as well."""
        self._has_open_rows = self._has_open_in_series = False
        """True if the data set, or the current series, has deleted something, and left a dimension open."""

    def begin(self, data_set: DataSet) -> None:
        """Begin a data set, whose element has just started."""
        self.data_set, self._line = data_set, self.events.parser.CurrentLineNumber
        self.deletes = data_set.is_deletion
        self.events.handle(self.start, self.end, self.events.refuse_text)

    def take(self, rows: Taken) -> None:
        """Pass a row, or a run of rows, on to the reader of the message."""
        if self.deletes and not isinstance(rows, Run) and self.data_set.is_open(rows):
            if self.data_set.is_restricted:
                self.unknown.deletions.note_restricted(rows[0])
                return
            self._has_open_rows = True
            self._has_open_in_series = self.series is not None
        self._has_rows = True
        self._take(rows)

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Handle the start of an element.

        Raises:
            DatasetError: the element is not allowed here.
        """
        self.depth += 1
        if self.depth > DEEPEST:
            raise DatasetError(f"line {self.events.line}: more than {DEEPEST} elements are nested in a data set")
        handler = self._starts.get(name)
        if handler is None:
            self._resolve(name)
            handler = self._starts[name]
        handler(attributes)
        if self.deletes and any("}" in one and _is_unread(one) for one in attributes):
            self.mark_unread()

    def end(self, name: str) -> None:
        """Handle the end of an element, or of the data set."""
        self.depth -= 1
        if self.depth < 0:
            self._end_data_set()
            return
        if name not in self._ends:
            self._resolve(name)
        self._ends[name]()

    def _end_data_set(self) -> None:
        for row in self.data_set.own_rows(self._line, has_rows=self._has_rows, is_bare=self._is_bare):
            self.take(row)
        for line in self.data_set.groups_without_attributes():
            self.unknown.deletions.note_unknown_group(line)
        if self.data_set.is_deletion and not self._has_rows:
            self.unknown.deletions.note_data_set(self._line)
        self.data_set.end()

    def _resolve(self, name: str) -> None:
        if len(self._starts) > _MOST_NAMES:
            self._starts.clear()
            self._ends.clear()
        local = name.rpartition("}")[2]
        self._is_bare = self._is_bare and local in _NOT_DATA and _OF_SDMX in name.lower()
        other = (partial(self.other_start, name), self.other_end)
        self._starts[name], self._ends[name] = self._handlers.get(local, other)

    def series_start(self, attributes: dict[str, str]) -> None:
        """Begin a series."""
        self.refuse_within("Series", self.series, self.obs)
        if self.group is not None:
            self._has_series = True
            self._commit_group()
        self.series, self.above = self.components(attributes), None
        self.has_unread = self._is_narrowed = self._has_open_in_series = False
        self._series_line = self.events.parser.CurrentLineNumber

    def series_end(self) -> None:
        """End a series; a series without observations is a row of its own."""
        series, self.series = self.series, None
        if series is not None and self.above is None:
            self._end_empty_series(series)
        self.above, self.has_unread, self._is_narrowed = None, False, False

    def _end_empty_series(self, series: Row) -> None:
        self.check(series)
        if self._is_unclear(series):
            self.unknown.deletions.note_unclear("series", self._series_line)
            return
        off = self.data_set.switched_off
        own = series if off is None else series | {off: SWITCHED_OFF}
        self.take((self._series_line, self.data_set.above_flat(series), own))

    def obs_start(self, attributes: dict[str, str]) -> None:
        """Begin an observation."""
        self.refuse_within("Obs", self.obs, self.group if self.series is None else None)
        if self.above is None and self.series is not None:
            self.check(self.series)
            self.above = self.data_set.above_series(self.series)
            if self.data_set.is_deletion and not self.series.keys() <= self.above.keys():
                self._take_attributes(self.series)
        self.obs, self.has_unread = self.components(attributes), False
        self.obs_line = self.events.parser.CurrentLineNumber

    def _take_attributes(self, series: Row) -> None:
        """Delete the attributes of a series whose observations are deleted, too."""
        if self.has_unread:
            self.unknown.deletions.note_unclear("series", self._series_line)
        else:
            self.take((self._series_line, self.data_set.above_flat(series), series))

    def obs_end(self) -> None:
        """End an observation, which is a row."""
        obs, self.obs = self.obs, None
        if obs is None:
            return
        self.check(obs)
        if self._is_unclear(obs):
            self.unknown.deletions.note_unclear("observation", self.obs_line)
            return
        above = self.above
        if above is None or self.series is None:
            above = self.data_set.above_flat(obs)
        elif self.data_set.is_grouped_by_observation:
            above = self.data_set.above_observation(self.series, obs)
        self.take((self.obs_line, above, obs))

    def _is_unclear(self, row: Row) -> bool:
        """Return whether it is unknown what a series or observation deletes.

        An omitted dimension means any value. But an element that omits all dimensions, or has an unread part, is not
        assumed to delete everything that it could mean.
        """
        return self.deletes and (self.has_unread or self._is_narrowed or not row)

    def mark_unread(self) -> None:
        """Note that the innermost element has a part that is not read, and that may restrict what it deletes.

        Raises:
            DatasetError: the element is a series, and has already deleted an observation that the part may restrict.
        """
        self.has_unread = True
        if self.obs is None and self.series is not None:
            self._refuse_late("series", has_open=self._has_open_in_series)
            self._is_narrowed = True

    def _restrict(self) -> None:
        """Note that the data set has a restriction that is not applied."""
        self._refuse_late("data set", has_open=self._has_open_rows)
        self.data_set.restrict()

    def _refuse_late(self, element: str, *, has_open: bool) -> None:
        if has_open:
            raise self.unknown.deletions.late(element)

    def refuse_empty(self, name: str) -> None:
        """Refuse a component without a value in a deletion, where no value would mean any value.

        Raises:
            DatasetError: the data set has the action delete.
        """
        if self.data_set.is_deletion:
            raise DatasetError(
                f"line {self.events.line}: {name[:80]} has no value in a data set with the action delete, so it is "
                "unknown what is deleted; give the value, or leave it out to delete all values"
            )

    def group_start(self, attributes: dict[str, str]) -> None:
        """Begin a group."""
        self.refuse_within("Group", self.series, self.obs, self.group)
        self.group, self.group_key = self.components(attributes), None
        self._has_series = self.has_unread = False
        self._group_line = self.events.parser.CurrentLineNumber

    def group_end(self) -> None:
        """End a group."""
        if self.group is not None:
            self._commit_group()
        self.group = None
        self.data_set.scope = {}

    def _commit_group(self) -> None:
        """Add the current group, either before the first series in it (2.0) or at its end."""
        group = self.group or {}
        self.check(group)
        self.commit_group(self._group_line, group)
        self.group = {}

    def commit_group(self, line: int, group: Row) -> None:
        """Add a complete group to the data set."""
        self.add_group(line, None, group, names_nothing=self.data_set.is_key(group))

    def add_group(self, line: int, key: Row | None, values: Row, *, names_nothing: bool) -> None:
        """Add a group to the data set, or note that it deletes nothing, unless series in it are deleted (2.0)."""
        if not self.data_set.is_deletion:
            names_nothing = not values
        elif names_nothing and not self._has_series:
            self.unknown.deletions.note_group(line)
        elif self.has_unread and not names_nothing:
            self.unknown.deletions.note_unclear("group", line)
            return
        if not names_nothing:
            self.data_set.add_group(line, key, values)

    def components(self, attributes: dict[str, str]) -> Row:
        """Return the components among the XML attributes of an element."""
        del attributes
        return {}

    def innermost(self) -> Row:
        """Return the components of the innermost element.

        Raises:
            DatasetError: the innermost element is a series whose observations have begun.
        """
        if self.obs is not None:
            return self.obs
        if self.series is None:
            return self.data_set.attributes if self.group is None else self.group
        if self.above is not None:
            raise DatasetError(f"line {self.events.line}: the series has components after its observations")
        return self.series

    def refuse_within(self, name: str, *others: object) -> None:
        """Refuse an element within others.

        Raises:
            DatasetError: one of the others has begun.
        """
        if any(other is not None for other in others):
            raise DatasetError(f"line {self.events.line}: {name} is within an element where it has no meaning")

    def refuse_outside(self, name: str, of: str, element: object) -> None:
        """Refuse an element outside of the element that must contain it.

        Raises:
            DatasetError: the other element, called ``of``, has not begun.
        """
        if element is None:
            raise DatasetError(
                f"line {self.events.line}: {name} is not within {of}, so its value would be lost; move or remove it"
            )

    def refuse_second(self, name: str, first: object, second: object) -> None:
        """Refuse a second value of a component in one element.

        Raises:
            DatasetError: always.
        """
        raise DatasetError(
            f"line {self.events.line}: {name} has two values in one element: {str(first)[:40]!r} and "
            f"{str(second)[:40]!r}; only one of the two would be read"
        )

    def check(self, row: Row) -> None:
        """Check the number of components of a row.

        Raises:
            DatasetError: the row has more components than any data structure.
        """
        if len(row) > MOST_COMPONENTS:
            raise DatasetError(f"line {self.events.line}: there are more than {MOST_COMPONENTS:,} components")

    def other_start(self, name: str, attributes: dict[str, str]) -> None:
        """Handle the start of an element for which there is no other method.

        Raises:
            DatasetError: the element is not an extension of the sender.
        """
        del attributes
        self.depth -= 1
        self.unknown.skip_or_refuse(name, self.handlers)
        self.mark_unread()
        if not self.depth:
            self._restrict()

    def other_end(self) -> None:
        """Handle the end of such an element, if it was not skipped."""

    def provider_start(self, attributes: dict[str, str]) -> None:
        """Skip the data provider, to whose data the data set is restricted; a provision agreement implies it."""
        if not self.data_set.is_of_provider:
            self._restrict()
        self.skip(attributes)

    def skip(self, attributes: dict[str, str]) -> None:
        """Skip the element that has just started."""
        del attributes
        self.depth -= 1
        self.events.skip()

    def nothing(self) -> None:
        """Do nothing at the end of an element."""


def _is_unread(attribute: str) -> bool:
    """Return whether an XML attribute in a namespace is not read; the type of an element names no data."""
    return not (attribute.startswith(OF_W3C) or (_OF_SDMX in attribute.lower() and attribute.endswith("}type")))
