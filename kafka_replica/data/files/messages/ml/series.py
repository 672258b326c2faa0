"""Read series, observations and groups of a data set, event by event: the common base for generic and specific data.

Source: SDMX-ML 2.0, ``generic`` and ``compact``; 2.1, ``data/generic`` and ``data/structurespecific``; 3.0 and 3.1,
``data/structurespecific``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import ClassVar, Final

from kafka_replica.data.errors import DatasetError
from kafka_replica.data.files.messages.groups import Row
from kafka_replica.data.files.messages.ml.data_set import DEEPEST, MOST_COMPONENTS, DataSet, Taken
from kafka_replica.data.files.messages.ml.events import Events
from kafka_replica.data.files.messages.ml.unknown import UnknownElements
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
        "DataProvider": ("skip", NOTHING),
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
        """True if the innermost series or observation contains an element that is not read."""

    def begin(self, data_set: DataSet) -> None:
        """Begin a data set, whose element has just started."""
        self.data_set, self._line = data_set, self.events.parser.CurrentLineNumber
        self.events.handle(self.start, self.end, self.events.refuse_text)

    def take(self, rows: Taken) -> None:
        """Pass a row, or a run of rows, on to the reader of the message."""
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
        if self.data_set.is_deletion and not self._has_rows:
            self.unknown.note(
                f"the data set in line {self._line + self.events.skipped_lines} has the action delete, but nothing "
                "that was read names what is deleted; it deletes nothing"
            )
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
        self.series, self.above, self.has_unread = self.components(attributes), None, False
        self._series_line = self.events.parser.CurrentLineNumber

    def series_end(self) -> None:
        """End a series; a series without observations is a row of its own."""
        series, self.series = self.series, None
        if series is not None and self.above is None:
            self.check(series)
            if self._is_unclear(series):
                self.note_unclear("series", self._series_line)
                return
            off = self.data_set.switched_off
            own = series if off is None else series | {off: SWITCHED_OFF}
            self.take((self._series_line, self.data_set.above_flat(series), own))
        self.above = None

    def obs_start(self, attributes: dict[str, str]) -> None:
        """Begin an observation."""
        self.refuse_within("Obs", self.obs, self.group if self.series is None else None)
        if self.above is None and self.series is not None:
            self.check(self.series)
            self.above = self.data_set.above_series(self.series)
            if self.data_set.is_deletion and not self.series.keys() <= self.above.keys():
                self.take((self._series_line, self.data_set.standing, self.series))  # its attributes
        self.obs, self.has_unread = self.components(attributes), False
        self.obs_line = self.events.parser.CurrentLineNumber

    def obs_end(self) -> None:
        """End an observation, which is a row."""
        obs, self.obs = self.obs, None
        if obs is None:
            return
        self.check(obs)
        if self._is_unclear(obs):
            self.note_unclear("observation", self.obs_line)
            return
        above = self.above
        if above is None or self.series is None:
            above = self.data_set.above_flat(obs)
        elif self.data_set.is_grouped_by_observation:
            above = self.data_set.above_observation(self.series, obs)
        self.take((self.obs_line, above, obs))

    def _is_unclear(self, row: Row) -> bool:
        """Return whether it is unknown what a series or observation deletes.

        An omitted dimension means any value; but one that omits all, or names something that is not read, does not
        mean everything that it could.
        """
        return self.data_set.is_deletion and (self.has_unread or not row)

    def note_unclear(self, what: str, line: int) -> None:
        """Note a series or observation of which it is unknown what it deletes; of several, the first."""
        self.unknown.note(
            f"the {what} in line {line + self.events.skipped_lines} of a data set with the action delete names "
            "nothing, or something that is not read; it deletes nothing",
            of=f"deletion of {what}",
        )

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
        self._has_series = False
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
        if self.data_set.is_deletion and self.data_set.is_key(group):
            self.note_group_without_attributes(line)
        elif group:
            self.data_set.add_group(line, None, group)

    def note_group_without_attributes(self, line: int) -> None:
        """Note that a group does not name the attributes to delete, unless series in it are deleted (2.0)."""
        if self._has_series:
            return
        self.unknown.note(
            f"the group in line {line + self.events.skipped_lines} of a data set with the action delete names no "
            "attribute; it deletes nothing"
        )

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
        """Refuse an element outside of the element that it is a part of.

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
        self.has_unread = True

    def other_end(self) -> None:
        """Handle the end of such an element, if it was not skipped."""

    def skip(self, attributes: dict[str, str]) -> None:
        """Skip the element that has just started."""
        del attributes
        self.depth -= 1
        self.events.skip()

    def nothing(self) -> None:
        """Do nothing at the end of an element."""
