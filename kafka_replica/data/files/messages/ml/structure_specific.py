"""Read data sets of compact (2.0) and structure-specific messages (2.1 to 3.1), whose components are XML attributes."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import compress
from typing import ClassVar, Final

from kafka_replica.data.errors import DatasetError
from kafka_replica.data.files.messages.attribute_groups import Row
from kafka_replica.data.files.messages.ml.data_set import DataSet, Run, Taken, run_of
from kafka_replica.data.files.messages.ml.element_values import ElementValueReader, Value
from kafka_replica.data.files.messages.ml.known_components import WHITESPACE
from kafka_replica.data.files.messages.ml.qualified_attributes import has_namespace, without_prefixes
from kafka_replica.data.files.messages.ml.series import NOTHING, SeriesReader
from kafka_replica.data.files.messages.ml.unknown_elements import OF_W3C

_QUALIFIED_TYPE: Final = "}type"
"""The end of the qualified names ``xsi:type`` and, in structure-specific messages, ``ss:type``; both have one value."""
_TYPE: Final = "type"
_FEW: Final = 100


class SpecificReader(SeriesReader):
    """The handlers of events within a compact or structure-specific data set."""

    handlers: ClassVar[Mapping[str, tuple[str, str]]] = {
        **SeriesReader.handlers,
        "Atts": ("group_start", "group_end"),
        "Comp": ("component_start", "component_end"),
        "Value": ("component_value_start", NOTHING),
        "Metadata": ("metadata_start", NOTHING),
    }

    def begin(self, data_set: DataSet) -> None:
        """Begin a data set, whose element has just started."""
        super().begin(data_set)
        self._parser = self.events.parser
        self._usual: str | None = None
        self._shared: Row = {}
        self._plain: set[tuple[str, ...]] = set()
        self._names: tuple[str, ...] = ()
        # The current run: usual observations. The last one has not ended yet if ``_is_in_run``.
        self._lines: list[int] = []
        self._values: list[Row] = []
        self._is_in_run = False
        self._component: tuple[str, list[Value]] | None = None
        self._element = ""
        self._read: set[tuple[str, ...]] = set()
        """The names of elements with an empty or qualified XML attribute, and of all their XML attributes, if none of
        these has a prefix to remove."""

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Handle the start of an element; there is a fast path for observations like the previous one.

        Raises:
            DatasetError: the element is not allowed here.
        """
        if name == self._usual and self.obs is None:
            names = tuple(attributes)
            if names == self._names or self._are_plain(names):
                self.obs = attributes
                self._values.append(attributes)
                self._lines.append(self._parser.CurrentLineNumber)
                self._is_in_run = True
                return
        self.end_run()
        self._element = name
        super().start(name, attributes)
        if name.rpartition("}")[2] == "Obs":
            self._expect(name, tuple(attributes))
            if name == self._usual:
                self.depth -= 1  # because the fast path in end() does not decrease it

    def _are_plain(self, names: tuple[str, ...]) -> bool:
        """Return whether an observation with these components is usual; it begins a new run."""
        if names not in self._plain:
            return False
        self.end_run()
        self._names = names
        return True

    def end_run(self) -> None:
        """Take the rows of the current run, without an observation that has not ended yet."""
        if self._is_in_run:
            self.obs_line, self.obs = self._lines.pop(), self.components(self._values.pop())
            self._is_in_run = False
        if not self._values:
            return
        lines, self._lines = self._lines, []
        values, self._values = self._values, []
        run = run_of(self.data_set.known.names_of(self._names), self._shared, lines, values)
        if has_namespace(run.names):
            _remove_qualified(run)
        self._collapse(run)
        if any("" in column for column in run.columns):
            for line, value in zip(lines, values, strict=True):
                super().take((line, self._shared, self.components(value)))
        else:
            super().take(run)

    def _collapse(self, run: Run) -> None:
        """Remove whitespace around values of a run that is not part of them, if there is any."""
        collapsed = self.data_set.known.collapsed
        for at, (name, column) in enumerate(zip(run.names, run.columns, strict=True)):
            if name not in collapsed:
                continue
            text = "".join(column)
            if " " in text or not text.isprintable():  # whitespace other than blanks is not printable
                run.columns[at] = [one.strip(WHITESPACE) for one in column]

    def take(self, rows: Taken) -> None:
        """Pass a row on, after the rows of the current run."""
        self.end_run()
        super().take(rows)

    def _expect(self, name: str, names: tuple[str, ...]) -> None:
        """Enable the fast path, until the end of the series, for observations that inherit the same values."""
        data_set = self.data_set
        if self.obs is None or len(names) > _FEW or data_set.is_explicit:
            return
        others = len(names) - len(self.obs)
        if others and others != sum(one.startswith(OF_W3C) for one in names):
            return
        if data_set.is_deletion:
            return  # because each row is checked
        if self.series is None:
            shared = None if data_set.groups or data_set.attributes else data_set.structure_columns
        else:
            shared = None if data_set.is_grouped_by_observation else self.above
        if shared is None:
            return
        if len(self._plain) > _FEW:
            self._plain.clear()
        self._plain.add(names)
        self._names = names
        self._usual, self._shared = name, shared

    def end(self, name: str) -> None:
        """Handle the end of an element, or of the data set."""
        if name != self._usual:
            if not self.depth:
                self.end_run()  # the data set ends
            super().end(name)
        elif self._is_in_run:
            self.obs, self._is_in_run = None, False
        elif self.obs is not None:
            self._end_first()

    def _end_first(self) -> None:
        """Begin a run with an observation that has ended, or take it alone if elements have added values to it."""
        obs, self.obs = self.obs or {}, None
        if tuple(obs) == self.data_set.known.names_of(self._names):
            self._lines.append(self.obs_line)
            self._values.append(obs)
        else:
            self.take((self.obs_line, self._shared, obs))

    def series_start(self, attributes: dict[str, str]) -> None:
        """Begin a series."""
        self._usual = None
        super().series_start(attributes)

    def series_end(self) -> None:
        """End a series; a series without observations is a row of its own."""
        self._usual = None
        super().series_end()

    def obs_start(self, attributes: dict[str, str]) -> None:
        """Begin an observation, whose type may name its measure."""
        type_ = None
        if self.data_set.is_explicit:
            type_ = next((value for name, value in attributes.items() if name.endswith(_QUALIFIED_TYPE)), None)
        if not self.is_old:
            type_ = attributes.pop(_TYPE, type_)
        super().obs_start(attributes)
        if self.deletes and not self.data_set.is_explicit:
            names = (name for name in attributes if not name.startswith(OF_W3C))
            if type_ is not None or any(name.endswith(_QUALIFIED_TYPE) for name in names):
                self.mark_unread()  # the type is the measure to delete
        if self.obs is not None:
            self.check(self.obs)
            if self.data_set.is_explicit:
                self.data_set.set_measure(self.obs, type_)

    def group_start(self, attributes: dict[str, str]) -> None:
        """Begin a group."""
        if not self.is_old:
            attributes.pop(_TYPE, None)
        super().group_start(attributes)

    def components(self, attributes: dict[str, str]) -> Row:
        """Return the components: XML attributes without a namespace that are not empty.

        Prefixes of the message's own namespaces are removed from the names of the XML attributes before.
        """
        known = self.data_set.known
        row = {name: value for name, value in attributes.items() if value and "}" not in name}
        if len(row) < len(attributes) and self._remove_prefixes(attributes):
            row = {name: value for name, value in attributes.items() if value and "}" not in name}
        row = known.values_of(row, self.events.line)
        if self.data_set.is_deletion:
            for name, value in attributes.items():
                if "}" not in name and not (value and known.name_of(name) in row):
                    self.refuse_empty(name)
        return row

    def _remove_prefixes(self, attributes: dict[str, str]) -> bool:
        """Remove the prefixes of components from the names of XML attributes; return whether there were any."""
        names = (self._element, *attributes)
        if names in self._read:
            return False
        found = without_prefixes(self._element, attributes, self.unknown, self.events.line)
        if found.keys() == attributes.keys():
            if len(self._read) > _FEW:
                self._read.clear()
            self._read.add(names)
            return False
        attributes.clear()
        attributes.update(found)
        return True

    def other_start(self, name: str, attributes: dict[str, str]) -> None:
        """Begin a group, whose element is called like the group in 2.0; any other element is unknown."""
        if self.is_old and self.depth == 1:
            self.group_start(attributes)
        else:
            super().other_start(name, attributes)

    def other_end(self) -> None:
        """End a group of 2.0."""
        self.group_end()

    def metadata_start(self, attributes: dict[str, str]) -> None:
        """Skip reference metadata (3.x), with a note on the first."""
        del attributes
        self.depth -= 1
        self.unknown.skip_metadata()
        self.has_unread = True

    def component_start(self, attributes: dict[str, str]) -> None:
        """Begin a component that is an element (3.x)."""
        self.refuse_within("Comp", self._component)
        if not attributes.get("id"):
            raise DatasetError(f"line {self.events.line}: Comp has no id, which names its component")
        self._component = attributes["id"], []

    def component_value_start(self, attributes: dict[str, str]) -> None:
        """Read a value of a component."""
        del attributes
        self.refuse_outside("Value", "Comp", self._component)
        self.depth -= 1
        ElementValueReader(self.events, self._take_value)

    def _take_value(self, value: Value) -> None:
        if self._component is not None:
            self._component[1].append(value)

    def component_end(self) -> None:
        """Set the component: to its value, or to a list if it has several values."""
        is_empty = self._component is not None and not any(self._component[1])
        if is_empty and self.data_set.is_deletion and self.innermost() is not self.data_set.attributes:
            self.refuse_empty("" if self._component is None else self._component[0])
        if self._component is not None and self._component[1]:
            name, values = self._component
            target = self.innermost()
            value = self.data_set.known.value_of(name, values[0] if len(values) == 1 else values)
            if value and target.setdefault(name, value) != value:
                self.refuse_second(name, target[name], value)
            self.check(target)
        self._component = None


def _remove_qualified(run: Run) -> None:
    """Remove the XML attributes in a namespace from a run."""
    are_own = ["}" not in name for name in run.names]
    run.names, run.columns = tuple(compress(run.names, are_own)), [*compress(run.columns, are_own)]
