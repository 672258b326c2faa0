"""A plan under construction: explicit maps, and the implicit rules for components without a map."""

from __future__ import annotations

from collections.abc import Iterable

from kafka_replica.data.errors import MapError
from kafka_replica.data.mapping.map_ends import measures_of
from kafka_replica.data.mapping.model import Copy, DateMap, FixedValues, MapPlan, MapSide, ValueMap
from kafka_replica.sdmx import DataStructure, Urn


class PlanBuilder:
    """Collects the parts of a plan, and checks that the components that they name exist.

    Args:
        artefact: the structure map.
        source: the source structure.
        target: the target structure.
    """

    def __init__(self, artefact: Urn, source: MapSide, target: MapSide) -> None:
        self.artefact, self.source, self.target = artefact, source, target
        self._copies: list[Copy] = []
        self._fixed: list[FixedValues] = []
        self._source_fixed: list[FixedValues] = []
        self._values: list[ValueMap] = []
        self._dates: list[DateMap] = []
        self._notes: list[str] = []

    def add(self, parts: Iterable[Copy | FixedValues | ValueMap | DateMap]) -> None:
        """Add the definitions of a map for target components. Raises MapError: a component is not in its structure."""
        for part in parts:
            match part:
                case Copy(source, target):
                    self._check([source], [target])
                    self._copies.append(part)
                case FixedValues(component, values):
                    self._check([], [component])
                    if len(values) > 1 and component in self.target.dimensions:
                        raise MapError(
                            f"compiling {self.artefact}: the dimension {component} is fixed to {len(values)} values, "
                            "but has one in each row; correct the map"
                        )
                    self._fixed.append(part)
                case ValueMap(sources, targets):
                    self._check(sources, targets)
                    self._values.append(part)
                case DateMap(source, target):
                    frequency = [] if part.frequency is None else [part.frequency]
                    in_source = frequency if part.frequency_in_source else []
                    self._check([source, *in_source], [target, *(frequency if not in_source else [])])
                    self._dates.append(part)

    def add_source_fixed(self, fixed: FixedValues) -> None:
        """Add the fixed value of a source component."""
        self._check([fixed.component], [])
        self._source_fixed.append(fixed)

    def note(self, sentence: str) -> None:
        """Add a note about something that the map leaves open."""
        self._notes.append(sentence)

    def _check(self, sources: Iterable[str], targets: Iterable[str]) -> None:
        for names, side in ((sources, self.source), (targets, self.target)):
            unknown = [name for name in names if name not in side.components]
            if unknown:
                raise MapError(
                    f"compiling {self.artefact}: {unknown[0]} is not a component of {side.urn}; correct the map, or "
                    "use a version in which both match"
                )

    def add_implicit(self, source: DataStructure, target: DataStructure, *, by_id: bool) -> None:
        """Add copies to unmapped targets by equal ids (always for measures), and from one sole measure to another."""
        named = {copy.target for copy in self._copies} | {one.component for one in self._fixed}
        named |= {id_ for value in self._values for id_ in value.targets} | {date.target for date in self._dates}
        measures = measures_of(target)
        of_source = measures_of(source)
        for id_ in self.target.components:
            if id_ in named:
                continue
            if id_ in self.source.components and (by_id or id_ in measures or id_ == self.target.time):
                self._copies.append(Copy(id_, id_, is_explicit=False))
            elif [id_] == measures and len(of_source) == 1:
                self._copies.append(Copy(of_source[0], id_, is_explicit=False))
            elif id_ == self.target.time and self.source.time is not None:
                self._copies.append(Copy(self.source.time, id_, is_explicit=False))
            else:
                self.note(f"{id_}: no map sets it")

    def plan(self, version: int, severities: tuple[tuple[str, str], ...]) -> MapPlan:
        """Return the plan. Raises MapError: a part depends on a result that is only available later."""
        made = MapPlan(
            artefact=self.artefact,
            version=version,
            source=self.source,
            target=self.target,
            copies=tuple(self._copies),
            fixed_values=tuple(self._fixed),
            source_fixed_values=tuple(self._source_fixed),
            values=tuple(self._values),
            dates=tuple(self._dates),
            severities=severities,
            notes=tuple(self._notes),
        )
        self._check_order(made)
        return made

    def _check_order(self, plan: MapPlan) -> None:
        """Check that frequencies are computed before dates, and dates before values whose rules depend on them."""
        timed = {target for value in plan.values if value.breaks for target in value.targets}
        if timed and plan.time_is_mapped and plan.target.time not in set(plan.targets) - timed:
            raise MapError(
                f"compiling {self.artefact}: rules for {', '.join(sorted(timed))} are valid for a time only, but "
                f"{plan.source.urn} has no time dimension and no other map sets a period; correct the map"
            )
        needed = {date.frequency for date in plan.dates if date.frequency is not None and not date.frequency_in_source}
        for frequency in sorted(needed):
            if frequency not in plan.targets:
                raise MapError(
                    f"compiling {self.artefact}: the format of dates depends on {frequency}, which no map sets; "
                    "correct "
                    "the map"
                )
            if frequency in timed and plan.time_is_mapped:
                raise MapError(
                    f"compiling {self.artefact}: {frequency} depends on the period, whose format depends on "
                    f"{frequency}; "
                    "correct the map"
                )
