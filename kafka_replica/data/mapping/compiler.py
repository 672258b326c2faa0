"""Compile a structure map of 3.x, or one in a structure set of 2.1, to a plan."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime
from typing import Final

from kafka_replica.data.errors import MapError
from kafka_replica.data.mapping.catalogue import severities_of_map_rules
from kafka_replica.data.mapping.date_patterns import (
    DEFAULTS,
    PatternDate,
    Reading,
    UnusableDateError,
    Writing,
    reading_of_pattern,
    unit_count_of,
    writing_of_pattern,
)
from kafka_replica.data.mapping.map_ends import side_of
from kafka_replica.data.mapping.model import Copy, DateMap, FixedValues, MapPlan, Resolve, ValueMap
from kafka_replica.data.mapping.plan_builder import PlanBuilder
from kafka_replica.data.mapping.representation_maps import value_map_of
from kafka_replica.data.mapping.structure_sets import compile_map_in_set
from kafka_replica.errors import UsageError
from kafka_replica.sdmx import Structures, Urn
from kafka_replica.sdmx.errors import ArtefactNotFoundError
from kafka_replica.sdmx.lookups.suggestions import suggestion_for
from kafka_replica.sdmx.model import ComponentMap, DatePatternMap, EpochMap, StructureMap, StructureSet
from kafka_replica.sdmx.values.periods import period

_CLASSES: Final = ("StructureMap", "StructureSet")
_RESOLVE: Final[Mapping[str, Resolve]] = {
    "startofperiod": "startOfPeriod",
    "midperiod": "midPeriod",
    "endofperiod": "endOfPeriod",
}


def compile_map(
    structures: Structures,
    reference: Urn | str,
    *,
    rules: Mapping[str, str] | None = None,
    implicit: bool = True,
    as_of: date | None = None,
) -> MapPlan:
    """Return the plan of a structure map in one version.

    Args:
        structures: the version.
        reference: the URN of a structure map (3.x), of a structure map in a structure set (2.1), or of a structure set
            with only one; or a short reference to one of these, ``A:MAP(1.0)``.
        rules: rule code to ``error``, ``warning``, ``information`` or ``off``.
        implicit: whether unmapped target components are copied from source components with the same id; otherwise only
            measures and the time dimension are.
        as_of: the date near which years of two digits are assumed; today if None.

    Raises:
        UsageError: the reference is to another kind of artefact, or to several maps.
        MapError: the map cannot be carried out.
        ArtefactNotFoundError: the map, or an artefact that it refers to, is not in this version.
        SdmxError: one of these artefacts cannot be read.
    """
    severities = severities_of_map_rules(rules)
    from_year = (as_of or datetime.now(UTC).date()).year - 80
    found = _look_up(structures, reference)
    if isinstance(found, StructureMap):
        return _compiled(structures, found, severities, from_year, implicit=implicit)
    return compile_map_in_set(structures, *found, severities, implicit=implicit)


def _look_up(structures: Structures, reference: Urn | str) -> StructureMap | tuple[StructureSet, str | None]:
    if isinstance(reference, str) and not reference.startswith("urn:"):
        missing: ArtefactNotFoundError | None = None
        for class_ in _CLASSES:
            try:
                return _of_urn(structures, Urn.of_reference(class_, reference))
            except ArtefactNotFoundError as error:
                missing = error
        raise ArtefactNotFoundError(
            f"mapping by {reference!r}: version {structures.version} does not contain this structure map or "
            "structure set; "
            f"{suggestion_for(structures, Urn.of_reference(_CLASSES[0], reference), *_CLASSES)}"
        ) from missing
    return _of_urn(structures, Urn.parse(reference) if isinstance(reference, str) else reference)


def _of_urn(structures: Structures, urn: Urn) -> StructureMap | tuple[StructureSet, str | None]:
    if urn.cls == "StructureMap" and urn.item is None:
        return structures.structure_map(urn)
    if urn.cls in {"StructureMap", "StructureSet"}:
        return structures.structure_set(Urn.of("StructureSet", urn.agency, urn.id, urn.version)), urn.item
    raise UsageError(f"mapping by {urn}: give the URN of a StructureMap or StructureSet")


def _compiled(
    structures: Structures,
    map_: StructureMap,
    severities: tuple[tuple[str, str], ...],
    from_year: int,
    *,
    implicit: bool,
) -> MapPlan:
    source, source_structure = side_of(structures, map_.source, map_.urn, "source")
    target, target_structure = side_of(structures, map_.target, map_.urn, "target")
    building = PlanBuilder(map_.urn, source, target)
    for component_map in map_.component_maps:
        building.add(_component_map(structures, component_map, building))
    for fixed in map_.fixed_value_maps:
        if fixed.target is not None and fixed.values:
            building.add([FixedValues(fixed.target, fixed.values)])
        elif fixed.source is not None and fixed.values:
            building.add_source_fixed(FixedValues(fixed.source, fixed.values))
    date_maps: tuple[DatePatternMap | EpochMap, ...] = (*map_.date_pattern_maps, *map_.epoch_maps)
    for date_map in date_maps:
        building.add(_date_map(map_, date_map, from_year))
    building.add_implicit(source_structure, target_structure, by_id=implicit)
    return building.plan(structures.version, severities)


def _component_map(
    structures: Structures, component_map: ComponentMap, building: PlanBuilder
) -> list[Copy] | list[ValueMap]:
    if component_map.representation_map is None:
        if len(component_map.sources) == len(component_map.targets):
            return [
                Copy(source, target)
                for source, target in zip(component_map.sources, component_map.targets, strict=True)
            ]
        if len(component_map.sources) == 1:
            return [Copy(component_map.sources[0], target) for target in component_map.targets]
        raise MapError(
            f"compiling {building.artefact}: {', '.join(component_map.sources)} are mapped to "
            f"{', '.join(component_map.targets)} without a representation map, so the assignment of values is "
            "unclear; add one"
        )
    found = structures.representation_map(component_map.representation_map)
    dimensions, urn = building.target.dimensions, str(found.urn)
    return [value_map_of(component_map.sources, component_map.targets, found.mappings, dimensions, urn)]


def _date_map(map_: StructureMap, date_pattern_map: DatePatternMap | EpochMap, from_year: int) -> Iterator[DateMap]:
    what = f"compiling {map_.urn}: the map of the date in {', '.join(date_pattern_map.sources)}"
    locale = date_pattern_map.locale if isinstance(date_pattern_map, DatePatternMap) else None
    if len(date_pattern_map.sources) != len(date_pattern_map.targets):
        numbers = f"{len(date_pattern_map.sources)} and {len(date_pattern_map.targets)}"
        raise MapError(f"{what} has sources and targets in different numbers ({numbers}); correct the map")
    try:
        reading = _reading(date_pattern_map, from_year)
        writings = _writings(map_, date_pattern_map, locale)
    except UnusableDateError as error:
        raise MapError(f"{what} cannot be used: {error}; correct the map") from error
    if date_pattern_map.target_frequency is not None:
        wanted = dict(writings).get(date_pattern_map.target_frequency)
        if wanted is None:
            raise MapError(
                f"{what} has the frequency {date_pattern_map.target_frequency!r}, for which no date format is "
                "known; correct the map"
            )
        writings = ((None, wanted),)
    elif date_pattern_map.frequency_dimension is None:
        raise MapError(f"{what} names neither a frequency nor a component with the frequency; correct the map")
    resolve = _RESOLVE.get((date_pattern_map.resolve_period or _default_resolve(reading)).replace("_", "").lower())
    if resolve is None:
        raise MapError(
            f"{what} uses {date_pattern_map.resolve_period!r}; the standard allows {', '.join(_RESOLVE.values())}"
        )
    for source, target in zip(date_pattern_map.sources, date_pattern_map.targets, strict=True):
        frequency = None if date_pattern_map.target_frequency is not None else date_pattern_map.frequency_dimension
        yield DateMap(
            source, target, ((None, reading),), writings, frequency, frequency_in_source=False, resolve=resolve,
            artefact=str(map_.urn),
        )  # fmt: skip


def _default_resolve(reading: Reading) -> Resolve:
    """Return how to resolve a date if the map does not define this: by the standard, to the end of the period.

    A time of day is a point in time: 10:30 means 10:30:00, not 10:30:59.
    """
    has_time = isinstance(reading, PatternDate) and reading.clock_s is not None
    return "startOfPeriod" if has_time else "endOfPeriod"


def _reading(date_pattern_map: DatePatternMap | EpochMap, from_year: int) -> Reading:
    if isinstance(date_pattern_map, DatePatternMap):
        return reading_of_pattern(date_pattern_map.source_pattern, date_pattern_map.locale, from_year)
    base = period(date_pattern_map.base_period)
    if base is None:
        raise UnusableDateError(f"its base period {date_pattern_map.base_period!r} is invalid")
    return unit_count_of(base.start_s, date_pattern_map.epoch_period)


def _writings(
    map_: StructureMap, date_pattern_map: DatePatternMap | EpochMap, locale: str | None
) -> tuple[tuple[str | None, Writing], ...]:
    """Return formats by frequency: the standard's formats, overridden by those that the date map selects."""
    found: dict[str, Writing] = {name: writing_of_pattern(pattern, None) for name, pattern in DEFAULTS.items()}
    for mapping in map_.frequency_format_mappings:
        id_ = None if mapping.urn is None or mapping.urn.item is None else mapping.urn.item.rpartition(".")[2]
        if not date_pattern_map.mapped_frequencies or {mapping.frequency, id_} & set(
            date_pattern_map.mapped_frequencies
        ):
            found[mapping.frequency] = writing_of_pattern(mapping.date_pattern, locale)
    return tuple(found.items())
