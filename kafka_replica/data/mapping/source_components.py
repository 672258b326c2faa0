"""The source components of a plan in the rows of a frame: whether they have values, and what is done with a row."""

from __future__ import annotations

from collections.abc import Sequence

from kafka_replica.data.mapping.mapping_engine import Expression, MappingEngine
from kafka_replica.data.mapping.model import MapPlan
from kafka_replica.data.validation.actions import SPELLINGS, SWITCHED_OFF
from kafka_replica.data.validation.model import ACTION


class SourceComponents:
    """The rows of a frame, as the source of a plan.

    Attributes:
        plan: the plan.
        engine: the engine with the frame.
    """

    def __init__(self, plan: MapPlan, engine: MappingEngine) -> None:
        self.plan, self.engine = plan, engine

    def sources_of(self, targets: Sequence[str]) -> list[str]:
        """Return the sources of all maps that give one of these targets a value."""
        plan, found = self.plan, dict[str, None]()
        for value_map in plan.values:
            if not {*targets}.isdisjoint(value_map.targets):
                found |= dict.fromkeys(value_map.sources)
        found |= dict.fromkeys(date.source for date in plan.dates if date.target in targets)
        found |= dict.fromkeys(copy.source for copy in plan.copies if copy.target in targets)
        return list(found)

    def values_of(self, targets: Sequence[str]) -> list[str]:
        """Return the measures and attributes of the frame among the sources of these targets."""
        dimensions = self.plan.source.dimensions
        return [name for name in self.sources_of(targets) if name not in dimensions and self.engine.has(name)]

    def is_given(self, name: str) -> Expression:
        """Return whether a source component has a value and is not switched off."""
        given, off = ~self.engine.is_null(self.engine.source(name)), self.switched_off([name])
        return given if off is None else given & ~off

    def is_any_given(self, values: Sequence[str]) -> Expression:
        """Return whether one of these measures and attributes of the frame has a value, of any type."""
        return self.engine.any_of([~self.engine.is_null(self.engine.column(name)) for name in values])

    def switched_off(self, names: Sequence[str]) -> Expression | None:
        """Return whether these sources are switched off, which requires an action; None if they never are."""
        engine, source = self.engine, self.plan.source
        if not self.has_actions() or not source.dimensions.issuperset(names):
            return None
        off = ~engine.is_null(engine.source(ACTION))
        for name in names:
            off = off & engine.any_of([engine.source(name) == engine.text(SWITCHED_OFF)])
        return off

    def has_actions(self) -> bool:
        """Return whether rows may name an action."""
        return self.engine.has(ACTION) and ACTION not in self.plan.source.components

    def is_delete(self) -> Expression:
        """Return whether a row is a deletion; never NULL."""
        engine = self.engine
        if not self.has_actions():
            return engine.any_of([])
        return engine.any_of([engine.source(ACTION) == engine.text(one) for one in sorted(SPELLINGS["delete"])])
