"""A data set of a message: its structure, action, attributes and groups."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from operator import methodcaller
from typing import Any, Final, TypeAlias

from kafka_replica.data.errors import DatasetError
from kafka_replica.data.files.messages.attribute_groups import Group, Groups, Row
from kafka_replica.data.files.messages.ml.header import PROVISION, Reference
from kafka_replica.data.files.messages.ml.known_components import KnownComponents
from kafka_replica.data.validation.actions import SWITCHED_OFF

DEEPEST: Final = 20
"""The maximum number of nested elements within a data set."""
MOST_COMPONENTS: Final = 1_000
"""The maximum number of components in a row, which no data structure reaches."""

_LETTERS: Final = {
    "information": "I", "append": "A", "replace": "R", "delete": "D", "merge": "M",
    "update": "A",  # of 1.0, whose schema describes it as that of 2.0 describes Append
}  # fmt: skip
_ALL_DIMENSIONS: Final = "AllDimensions"
_DELETE: Final = "D"
_VALUES: Final = methodcaller("values")


Located: TypeAlias = tuple[int, Row, Row]
"""The line of a row's element, the values that the row inherits, and its own values, which take precedence."""


@dataclass(slots=True)
class Run:
    """Consecutive rows that inherit the same values and have values of the same components.

    Attributes:
        names: the components of their own values, in order.
        above: the values that they inherit.
        lines: the line of each row's element.
        columns: their own values, a column for each component.
    """

    names: tuple[str, ...]
    above: Row
    lines: Sequence[int]
    columns: list[Sequence[Any]]


Taken: TypeAlias = Located | Run


def run_of(names: tuple[str, ...], above: Row, lines: Sequence[int], values: Sequence[Row]) -> Run:
    """Return rows, whose own values have these names in this order, as a run."""
    return Run(names, above, lines, [*zip(*map(_VALUES, values), strict=True)])


class DataSet:
    """A data set.

    Args:
        reference: its structure.
        action: its action.
        known: the components of its structure, as far as they are known.
        groups: all its groups, if they were read in an earlier pass; None if they come before its series.
        end: is called at its end.

    Attributes:
        at_observation: the dimension at the observation; None if observations have all dimensions.
        is_unnamed: whether nothing has named its structure yet.
        names_observation: whether the header names the dimension at the observation.
        is_explicit: whether observations name their measure by their type.
        attributes: its own attributes; in cross-sectional and malformed messages also dimensions.
        is_restricted: whether it deletes, and has a restriction that is not applied, such as a data provider.
        may_be_all: whether it deletes all data if it names nothing.
        is_failed: returns whether the message may report a failure, so that an empty data set deletes nothing.
        scope: the attributes of the group around the current series (2.0).
        groups: its groups.
    """

    def __init__(
        self, reference: Reference, action: str, known: KnownComponents, groups: Groups | None, end: Callable[[], None]
    ) -> None:
        self._letter = _LETTERS.get(action.strip().lower(), action)
        self.is_explicit = reference.is_explicit
        self.end = end
        self.attributes: Row = {}
        self.is_restricted = False
        self.may_be_all = True
        self._names_nothing = True
        self._names: set[str] = set()
        """The components of series and observations that it deletes, if the structure is unknown."""
        self.is_failed: Callable[[], bool] = bool
        self.scope: Row = {}
        self._takes_groups = groups is None
        self.groups = Groups(known.dimensions) if groups is None else groups
        self.refer(reference, known)

    def refer(self, reference: Reference, known: KnownComponents) -> None:
        """Set the structure, which an element within the data set may name (2.0)."""
        self.known = known
        self.is_unnamed = reference.text is None
        self.structure_columns: Row = {"ACTION": self._letter}
        if reference.text is not None:
            self.structure_columns = {
                "STRUCTURE": reference.kind,
                "STRUCTURE_ID": reference.text,
                "ACTION": self._letter,
            }
        at = reference.at_observation or known.time
        self.at_observation = None if at == _ALL_DIMENSIONS else at
        self.names_observation = reference.at_observation is not None

    @property
    def is_deletion(self) -> bool:
        """Return whether the data set deletes; each level then deletes only what it names, and nothing is inherited.

        Source: SDMX 2.1, Section 3A, Part IV: "only the supplied data attributes for that series will be deleted".
        """
        return self._letter == _DELETE

    @property
    def is_of_provider(self) -> bool:
        """Return whether its structure is a provision agreement, and so implies one data provider."""
        return self.structure_columns.get("STRUCTURE") == PROVISION

    def set_components(self, given: Row, line: int) -> None:
        """Set its attributes: the components among the XML attributes of its element, some of which may be empty.

        Raises:
            DatasetError: one of them has two values; the line is that of its element.
        """
        self._names_nothing = not given
        self.attributes = self.known.values_of({name: value for name, value in given.items() if value}, line)
        names = {name: self.known.name_of(name) for name in given}
        lost = {own for name, own in names.items() if not given[name] or own not in self.attributes}
        if lost.intersection(self.known.dimensions or ()):
            self.restrict()

    def restrict(self) -> None:
        """Note that the data set has a restriction that is not applied; this matters for deletions only."""
        self.is_restricted = self.is_deletion

    def is_open(self, row: Located) -> bool:
        """Return whether a row leaves a dimension open, as far as the dimensions are known."""
        _, above, own = row
        at = () if self.at_observation is None else (self.at_observation,)
        return any(one not in own and one not in above for one in self.known.dimensions or at)

    @property
    def key(self) -> Row:
        """Return the dimensions among its attributes, as far as the dimensions are known."""
        dimensions = self.known.dimensions or frozenset()
        return {name: value for name, value in self.attributes.items() if name in dimensions}

    @property
    def switched_off(self) -> str | None:
        """Return the dimension that a series without observations is not attached to."""
        return None if self.is_deletion else self.at_observation

    @property
    def is_grouped_by_observation(self) -> bool:
        """Return whether keys of groups contain the dimension at the observation."""
        return self.at_observation in self.groups.names and not self.is_deletion

    def add_group(self, line: int, key: Row | None, values: Row) -> None:
        """Add a group, unless all groups were read in an earlier pass."""
        if self._takes_groups:
            self.groups.add(line, key, values)

    def above_series(self, series: Row) -> Row:
        """Return the values that all observations of a series share; in a deletion only its key, if that is known."""
        if self.is_deletion:
            dimensions = self.known.dimensions
            key = series if dimensions is None else {one: series[one] for one in series if one in dimensions}
            return self.above_flat(series) | key | self.scope
        groups = {} if self.is_grouped_by_observation or not self.groups else self.groups.attributes_of(series)
        return self.structure_columns | series | self.attributes | self.scope | groups | series

    def above_observation(self, series: Row, obs: Row) -> Row:
        """Return the values that an observation inherits if groups depend on the dimension at the observation."""
        key = series
        if self.at_observation in obs:
            key = series | {self.at_observation: obs[self.at_observation]}
        return self.structure_columns | series | self.attributes | self.scope | self.groups.attributes_of(key) | series

    def above_flat(self, obs: Row) -> Row:
        """Return the values that an observation without a series, or a series without observations, inherits."""
        if self.is_deletion:
            if self.known.dimensions is None:
                self._names.update(obs)
            return self.structure_columns | self.key | self.scope
        groups = self.groups.attributes_of(obs) if self.groups else {}
        inherited = self.attributes | self.scope | groups
        return self.structure_columns | obs | inherited if inherited else self.structure_columns

    def set_measure(self, obs: Row, type_: str | None) -> None:
        """Set the measure dimension of an observation to the name of the observation's type.

        Raises:
            DatasetError: the message does not name the measure dimension, and several are possible.
        """
        name = self.at_observation
        if name is None:
            missing = () if self.known.dimensions is None else tuple(self.known.dimensions.difference(obs))
            if len(missing) != 1:
                raise DatasetError(
                    "it has explicit measures, but does not name their dimension; give the rules of the structure"
                )
            name = missing[0]
        if type_ and name not in obs:
            obs[name] = type_.rpartition(":")[2]

    def own_rows(self, line: int, *, has_rows: bool, is_bare: bool) -> Iterator[Located]:
        """Yield the rows that belong to no series or observation, with ``~`` for their other dimensions.

        These are the attributes of groups to which no row belongs, and those of a data set without any row. A deletion
        that consists only of its element is a row that deletes all data. A data set that has only dimensions names no
        data.

        Args:
            line: the line of its element.
            has_rows: whether it has a series or an observation.
            is_bare: whether its element contains nothing that may name data.
        """
        groups = [*self.groups.unused()]
        key = self.key
        are_apart = len(self.attributes) > len(key) and (self.is_deletion or not (has_rows or groups))
        is_bare = is_bare and self._names_nothing and self.may_be_all and not self.is_restricted
        if are_apart or (self.is_deletion and is_bare and not self.is_failed()):
            yield line, self.structure_columns, self._with_others_off(self.attributes)
        inherited = self.structure_columns | (key if self.is_deletion else self.attributes)
        for group in groups:
            if not self._is_key_only(group):
                yield group.line, inherited, self._with_others_off((group.key or {}) | group.values)

    def groups_without_attributes(self) -> Iterator[int]:
        """Yield the lines of groups that delete nothing, because without rules no name is known to be an attribute."""
        return (group.line for group in self.groups.unused() if self._is_key_only(group))

    def _is_key_only(self, group: Group) -> bool:
        """Return whether a group may have no attribute: names that are also in the keys of rows are its dimensions.

        A group deletes nothing but attributes (SDMX 2.1, Section 3A, Part IV).
        """
        is_unknown = self.is_deletion and group.key is None
        return is_unknown and (not self._names or group.values.keys() <= self._names)

    def is_key(self, group: Row) -> bool:
        """Return whether a group is known to have no attribute."""
        return not group or (self.known.dimensions is not None and group.keys() <= self.known.dimensions)

    def _with_others_off(self, own: Row) -> Row:
        others = () if self.is_deletion else sorted((self.known.dimensions or frozenset()) - own.keys())
        return own | dict.fromkeys(others, SWITCHED_OFF)
