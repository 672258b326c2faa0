"""The actions of rows, and the values that each action requires.

Merge may omit values, which then stay unchanged, and so may append: "the absence of an observation value or a data
attribute at any level does not imply deletion". 2.1 deprecates append, and treats it as merge. Replace removes omitted
values, and information is the result of a query, so both require complete observations. Delete may omit anything,
including dimensions. Only a row that merges must have a value other than those of dimensions; no guide requires this
of append.

Source: SDMX-CSV 2.0 and 2.1 field guides, "Column content" and "Further details for data actions"; SDMX 2.1, Section
3A, Part IV.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Final, Literal, TypeAlias

from kafka_replica.data.validation.components import DescribedComponent
from kafka_replica.data.validation.conditions import ComponentText, Condition, Constant, In, IsNull, Not, every, some
from kafka_replica.data.validation.levels import level_of
from kafka_replica.data.validation.model import ACTION
from kafka_replica.errors import ConfigurationError
from kafka_replica.sdmx import Attribute, DataStructure

Action: TypeAlias = Literal["information", "append", "replace", "merge", "delete"]

SPELLINGS: Final = {
    action: frozenset({action[0].upper(), action.capitalize(), action})
    for action in ("information", "append", "replace", "merge", "delete")
}
"""The spellings of each action in SDMX-CSV, SDMX-ML and SDMX-JSON."""
SWITCHED_OFF: Final = "~"
"""The mark that replaces the value of a dimension that an attribute is not attached to."""


class Actions:
    """Conditions on the action of a row.

    Args:
        default: the action of rows without one.
        has_column: whether a column ``ACTION`` holds actions, instead of being a component of the data.
        structure: the data structure.
        components: its components.
    """

    def __init__(
        self, default: str, *, has_column: bool, structure: DataStructure, components: Sequence[DescribedComponent]
    ) -> None:
        if default not in SPELLINGS:
            raise ConfigurationError(f"validating with action={default!r}: give one of {', '.join(SPELLINGS)}")
        self._default, self._has_column = default, has_column
        self._structure, self._components = structure, components
        self._dimensions = [component.column.id for component in components if component.column.kind == "dimension"]

    def unknown(self) -> Condition:
        """Return whether the action is not defined by the standard."""
        every_one = frozenset(text for texts in SPELLINGS.values() for text in texts)
        return Not(In(ComponentText(ACTION), every_one)) if self._has_column else Constant(value=False)

    def any_of(self, *actions: Action) -> Condition:
        """Return whether a row has one of these actions; never unknown."""
        by_default = self._default in actions
        if not self._has_column:
            return Constant(value=by_default)
        texts = frozenset(text for action in actions for text in SPELLINGS[action])
        named = every(self._given(), In(ComponentText(ACTION), texts))
        return some(IsNull(ACTION), named) if by_default else named

    def switched_off(self, dimension: str) -> Condition:
        """Return whether a dimension is switched off, which requires an action; never unknown.

        The action is that of the row, or a default other than information, which is the action of any data frame.
        """
        off = every(Not(IsNull(dimension)), In(ComponentText(dimension), frozenset({SWITCHED_OFF})))
        if self._default != "information":
            return off
        return every(self._given(), off) if self._has_column else Constant(value=False)

    def is_partial(self, among: Collection[str] | None = None) -> Condition:
        """Return whether a row is about more than one observation, because a dimension is switched off.

        Args:
            among: the components of which only the dimensions are considered; None means all dimensions.
        """
        found = (dimension for dimension in self._dimensions if among is None or dimension in among)
        return some(*map(self.switched_off, found))

    def is_empty(self) -> Condition:
        """Return whether a row with the action merge has nothing to merge."""
        rest = [component.column.id for component in self._components if component.column.kind != "dimension"]
        return every(self.any_of("merge"), *(IsNull(one) for one in rest))

    def wrongly_off(self) -> Iterator[tuple[str, Condition]]:
        """Yield, for each dimension, whether it is switched off although a value in the row depends on it."""
        for dimension in self._dimensions:
            given = [
                Not(IsNull(component.column.id))
                for component in self._components
                if component.column.kind != "dimension" and dimension in self._needed_by(component)
            ]
            yield dimension, every(self.switched_off(dimension), some(*given))

    def _needed_by(self, described_component: DescribedComponent) -> AbstractSet[str]:
        """Return the dimensions that must not be switched off where an attribute or measure has a value."""
        component = described_component.component
        if not isinstance(component, Attribute) or component.relationship.kind == "observation":
            return set(self._dimensions)
        order = {id_: number for number, id_ in enumerate(self._dimensions)}
        return set(level_of(self._structure, component, order)) - set(component.relationship.optional_dimensions)

    @staticmethod
    def _given() -> Condition:
        return Not(IsNull(ACTION))
