"""Deletions: what they name in the target, and those that would delete more there than their sender named.

Source: SDMX-CSV 2.0 and 2.1 field guides, "Further details for data actions": an omitted dimension means any value;
omitted measures and attributes are only deleted if all are omitted; and a value of those that are not omitted is only a
mark, "any valid value, e.g. the dash character".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from kafka_replica.data.mapping.inverse import lossless_frequencies
from kafka_replica.data.mapping.mapping_engine import Expression
from kafka_replica.data.mapping.model import AMBIGUOUS, DateMap, ValueMap
from kafka_replica.data.mapping.source_components import SourceComponents
from kafka_replica.data.validation.deletions import DATAFLOW, NARROWER, OBS_KEY, SERIES_KEY, STRUCTURE, given_part
from kafka_replica.data.validation.model import ACTION
from kafka_replica.sdmx.values.text_types import anchored

NAMED: Final = "-"
"""The value of a measure or attribute that a deletion names, and for which the map has no value."""


class WideDeletion(NamedTuple):
    """A reason why deletions would delete more in the target, with the component, and the rows for which it is true."""

    is_found: Expression
    component: str
    message: str


class Deletions:
    """The deletions among the rows of a frame.

    Args:
        rows: the rows.
        targets: the components of the target that get a value.
        unknown: the columns of the frame that neither the source nor SDMX-CSV defines.
    """

    def __init__(self, rows: SourceComponents, targets: Sequence[str], unknown: Sequence[str]) -> None:
        self._rows, self._plan, self._engine = rows, rows.plan, rows.engine
        self._targets, self._unknown = targets, unknown
        self._deletes = rows.is_delete()
        self._may_be_any = rows.has_actions() and rows.engine.may_hold(self._deletes)

    def excused(self, targets: Sequence[str]) -> Expression | None:
        """Return whether a row is a deletion, whose values do not matter; None if a target is a dimension."""
        if not self._may_be_any or not self._plan.target.dimensions.isdisjoint(targets):
            return None
        return self._deletes

    def is_left_out(self, target: str) -> Expression | None:
        """Return whether a row is a deletion that does not name this measure or attribute; None if no row is one."""
        excused = self.excused([target])
        return None if excused is None else excused & ~self._rows.is_any_given(self._rows.values_of([target]))

    def value_of(self, target: str, made: Expression) -> Expression:
        """Return the text of a target, from the text that maps give it."""
        deletes, left_out = self.excused([target]), self.is_left_out(target)
        if deletes is None or left_out is None:
            return made
        engine = self._engine
        named = [(deletes & ~left_out, engine.text(NAMED))]
        return engine.coalesce([engine.case([(~left_out, made)]), engine.case(named)])

    def wide(
        self, targets: Mapping[str, Expression], maps: Mapping[str, ValueMap], blame: Mapping[str, Sequence[Expression]]
    ) -> Iterator[WideDeletion]:
        """Yield the reasons why deletions would delete more in the target.

        Args:
            targets: the text of each target.
            maps: the representation maps by the columns of their outcomes.
            blame: by target, whether another error gives the reason why it has no value.
        """
        if not self._may_be_any:
            return
        dimensions = [target for target in self._targets if target in self._plan.target.dimensions]
        is_open = self._engine.any_of([self._engine.is_null(targets[target]) for target in dimensions])
        if len(dimensions) < len(self._plan.target.dimensions):
            is_open = ~self._engine.any_of([])
        reasons = (
            *self._without_value(dimensions, targets, blame), *self._unreached_dimensions(dimensions, is_open),
            *self._unreached_values(), *self._merged(maps, targets, is_open), *self._not_read(),
        )  # fmt: skip
        for is_found, component, message in reasons:
            yield WideDeletion(self._deletes & is_found, component, message)

    def _without_value(
        self, dimensions: Sequence[str], targets: Mapping[str, Expression], blame: Mapping[str, Sequence[Expression]]
    ) -> Iterator[WideDeletion]:
        engine, rows = self._engine, self._rows
        for target in dimensions:
            given = engine.any_of([rows.is_given(name) for name in rows.sources_of([target])])
            lost = given & engine.is_null(targets[target]) & ~engine.any_of(blame.get(target, []))
            message = f"the map gives the dimension {target} no value, so more would be deleted"
            yield WideDeletion(lost, target, message)

    def _unreached_dimensions(self, dimensions: Sequence[str], is_open: Expression) -> Iterator[WideDeletion]:
        engine, rows, source = self._engine, self._rows, self._plan.source
        reached = {*rows.sources_of(dimensions)}
        others = [name for name in source.components if name in source.dimensions - reached and engine.has(name)]
        if not others:
            return
        restricted = engine.any_of([self._restricts(name) for name in others]) & is_open
        # Without measures and attributes, such a row deletes what is not attached to the dimension.
        off = engine.any_of([~engine.is_null(engine.source(name)) & ~rows.is_given(name) for name in others])
        lost = restricted | (off & ~rows.is_any_given(self._values()))
        yield WideDeletion(
            lost, ACTION, "the deletion is restricted by dimensions that do not reach the target, which would be "
            "deleted for all their values"
        )  # fmt: skip

    def _restricts(self, name: str) -> Expression:
        """Return whether a source dimension has a value other than the only one that the map fixes it to."""
        given, fixed_values = self._rows.is_given(name), self._plan.source_fixed_values
        fixed = [text for fixed_value in fixed_values if fixed_value.component == name for text in fixed_value.values]
        return given & ~(self._engine.source(name) == self._engine.text(fixed[0])) if len(fixed) == 1 else given

    def _unreached_values(self) -> Iterator[WideDeletion]:
        values = self._values()
        if not values:
            return
        others = [target for target in self._targets if target not in self._plan.target.dimensions]
        reaching = self._rows.is_any_given(self._rows.values_of(others))
        yield WideDeletion(
            self._rows.is_any_given(values) & ~reaching, ACTION, "the deletion names measures or attributes of which "
            "none reaches the target, where whole observations would be deleted"
        )  # fmt: skip

    def _values(self) -> list[str]:
        source = self._plan.source
        return [name for name in source.components if name not in source.dimensions and self._engine.has(name)]

    def _merged(
        self, maps: Mapping[str, ValueMap], targets: Mapping[str, Expression], is_open: Expression
    ) -> Iterator[WideDeletion]:
        """Find open deletions by a value that the map merges with other values, whose data would be deleted, too."""
        plan, dimensions = self._plan, self._plan.target.dimensions
        apart = {copy.source for copy in plan.copies if copy.target in dimensions}
        apart = apart.union(*(one.sources for one in plan.values if one.is_one_to_one(dimensions)))
        merged = [
            self._merging_date(date, targets) for date in plan.dates
            if date.target in dimensions and date.source not in apart
        ]  # fmt: skip
        merged += [
            self._merging_value(column, value_map) for column, value_map in maps.items()
            if not dimensions.isdisjoint(value_map.targets) and not apart.issuperset(value_map.sources)
        ]  # fmt: skip
        if merged:
            yield WideDeletion(
                self._engine.any_of(merged) & is_open, ACTION, "the deletion leaves dimensions open, and other values "
                "become the same in the target, whose data would be deleted, too"
            )  # fmt: skip

    def _merging_value(self, column: str, value_map: ValueMap) -> Expression:
        """Return whether a row has an outcome that other values may have, too."""
        engine, shared = self._engine, value_map.shared_outcomes(self._plan.target.dimensions)
        if shared is None:
            return ~engine.is_null(engine.column(column)) & ~(engine.column(column) == engine.text(AMBIGUOUS))
        found = engine.look_up(engine.column(column), dict.fromkeys(shared, "x"))
        return ~engine.is_null(engine.needed_where(self._deletes, found))

    def _merging_date(self, date_map: DateMap, targets: Mapping[str, Expression]) -> Expression:
        """Return whether a row has a date that is written less precisely than it was read."""
        engine, lossless = self._engine, lossless_frequencies(date_map)
        if None in lossless:
            return engine.any_of([])
        named = [frequency for frequency in lossless if frequency is not None]
        frequency = engine.text(None) if date_map.frequency is None else targets[date_map.frequency]
        written = self._rows.is_given(date_map.source) & ~engine.is_null(targets[date_map.target])
        return written & ~engine.is_one_of(frequency, sorted(named))

    def _not_read(self) -> Iterator[WideDeletion]:
        """Find deletions that name something which mapping does not read."""
        engine, source = self._engine, self._plan.source
        ordered = [name for name in source.components if name in source.dimensions]
        empty = {name: engine.is_null(engine.source(name)) for name in ordered}
        is_open = engine.any_of(list(empty.values()))
        for name in self._unknown:
            lost = ~engine.is_null(engine.column(name)) & (is_open | ~self._rows.is_any_given(self._values()))
            message = f"{name} is not a component of the source, so a deletion by it would delete more"
            yield WideDeletion(lost, name, message)
        for key, named in ((SERIES_KEY, [name for name in ordered if name != source.time]), (OBS_KEY, ordered)):
            if self._is_structure_column(key):
                text = engine.source(key)
                lost = [
                    empty[name]
                    & engine.fits(text, anchored(given_part(n)))
                    & ~self._is_key_without(text, name, ordered)
                    for n, name in enumerate(named)
                ]
                message = f"{key} has a part for a dimension that its column leaves open, so more would be deleted"
                yield WideDeletion(engine.any_of(lost), key, message)
        kinds, part = NARROWER.get(source.urn.cls, ()), list[Expression]()
        if kinds and self._is_structure_column(STRUCTURE):
            part.append(engine.is_one_of(engine.lower(engine.source(STRUCTURE)), kinds))
        if "dataflow" in kinds and self._is_structure_column(DATAFLOW):
            part.append(engine.is_null(engine.source(STRUCTURE)) & ~engine.is_null(engine.source(DATAFLOW)))
        if part:
            message = f"the deletion is of only a part of the data of {source.urn.reference}"
            yield WideDeletion(engine.any_of(part) & is_open, ACTION, message)
        texts = [engine.source(name) == engine.text("") for name in source.components if engine.has_texts(name)]
        if texts:
            listed = ", ".join(name for name in source.components if engine.has_texts(name))
            message = f"one of {listed} is an empty text, which is written as no value, so other data would be deleted"
            yield WideDeletion(engine.any_of(texts), ACTION, message)

    def _is_key_without(self, key: Expression, dimension: str, dimensions: Sequence[str]) -> Expression:
        """Return whether a key leaves a dimension out, separator included, and has the values of all others."""
        engine, others = self._engine, [name for name in dimensions if name != dimension]
        same = [key == engine.joined([engine.source(name) for name in others], ".")] if others else []
        return engine.any_of(same)

    def _is_structure_column(self, name: str) -> bool:
        return self._engine.has(name) and name not in self._plan.source.components
