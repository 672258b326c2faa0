"""Maps between structures, representations and items (3.x).

Source: SDMX 3.1 Section 2, "Structure Mapping"; SDMXStructureStructureMappings.xsd.
"""

from __future__ import annotations

from kafka_replica.sdmx.base import Annotation, Link, Maintainable
from kafka_replica.sdmx.urn import Urn
from kafka_replica.sdmx.value_object import ValueObject


class MappedValue(ValueObject, frozen=True, gc=False, kw_only=True):
    """A source value: literal, or a regular expression; the indexes cut the value before it is compared."""

    value: str
    is_reg_ex: bool = False
    start_index: int | None = None
    end_index: int | None = None


class RepresentationMapping(ValueObject, frozen=True, gc=False, kw_only=True):
    """One row of a representation map. No targets: these sources are mapped to nothing."""

    sources: tuple[MappedValue, ...]
    targets: tuple[str, ...] = ()
    valid_from: str | None = None
    valid_to: str | None = None
    annotations: tuple[Annotation, ...] = ()


class RepresentationMap(Maintainable, frozen=True, gc=False, kw_only=True):
    """Which values become which. Sources and targets are codelists or value lists, or data types by name."""

    sources: tuple[Urn | str, ...] = ()
    targets: tuple[Urn | str, ...] = ()
    mappings: tuple[RepresentationMapping, ...] = ()


class ComponentMap(ValueObject, frozen=True, gc=False, kw_only=True):
    """Which components become which; without a representation map values stay as they are."""

    sources: tuple[str, ...]
    targets: tuple[str, ...]
    representation_map: Urn | None = None
    annotations: tuple[Annotation, ...] = ()


class FixedValueMap(ValueObject, frozen=True, gc=False, kw_only=True):
    """A component of the target, or else of the source, that always has these values."""

    source: str | None = None
    target: str | None = None
    values: tuple[str, ...] = ()
    annotations: tuple[Annotation, ...] = ()


class DateMap(ValueObject, frozen=True, gc=False, kw_only=True):
    """What maps of dates share. The frequency of the result is one (``target_frequency``) or a dimension's.

    ``urn`` is None where the map has no id, which the standard allows.
    """

    sources: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    frequency_dimension: str | None = None
    mapped_frequencies: tuple[str, ...] = ()
    target_frequency: str | None = None
    resolve_period: str | None = None
    urn: Urn | None = None
    annotations: tuple[Annotation, ...] = ()
    links: tuple[Link, ...] = ()
    uri: str | None = None

    @property
    def id(self) -> str | None:
        """Its id, if it has one."""
        return self.urn.item if self.urn else None


class DatePatternMap(DateMap, frozen=True, gc=False, kw_only=True):
    """Dates that are written by a pattern."""

    source_pattern: str
    locale: str | None = None


class EpochMap(DateMap, frozen=True, gc=False, kw_only=True):
    """Dates that are counted from an instant (``base_period``) in ``epoch_period``, "second" say."""

    base_period: str
    epoch_period: str


class FrequencyFormatMapping(ValueObject, frozen=True, gc=False, kw_only=True):
    """How dates of a frequency are written; ``urn`` is None where it has no id."""

    frequency: str
    date_pattern: str
    urn: Urn | None = None
    annotations: tuple[Annotation, ...] = ()
    links: tuple[Link, ...] = ()
    uri: str | None = None


class StructureMap(Maintainable, frozen=True, gc=False, kw_only=True):
    """How data of one structure (or flow) becomes data of another; source and target None in a stub."""

    source: Urn | None = None
    target: Urn | None = None
    component_maps: tuple[ComponentMap, ...] = ()
    fixed_value_maps: tuple[FixedValueMap, ...] = ()
    date_pattern_maps: tuple[DatePatternMap, ...] = ()
    epoch_maps: tuple[EpochMap, ...] = ()
    frequency_format_mappings: tuple[FrequencyFormatMapping, ...] = ()


class ItemMap(ValueObject, frozen=True, gc=False, kw_only=True):
    """One item of the source and one of the target, by id; no target: it is mapped to nothing."""

    source: MappedValue
    target: str | None = None
    valid_from: str | None = None
    valid_to: str | None = None
    annotations: tuple[Annotation, ...] = ()


class ItemSchemeMap(Maintainable, frozen=True, gc=False, kw_only=True):
    """What maps between item schemes share; source and target None in a stub."""

    source: Urn | None = None
    target: Urn | None = None
    item_maps: tuple[ItemMap, ...] = ()


class ConceptSchemeMap(ItemSchemeMap, frozen=True, gc=False, kw_only=True):
    """A map between concept schemes."""


class CategorySchemeMap(ItemSchemeMap, frozen=True, gc=False, kw_only=True):
    """A map between category schemes."""


class OrganisationSchemeMap(ItemSchemeMap, frozen=True, gc=False, kw_only=True):
    """A map between organisation schemes."""


class ReportingTaxonomyMap(ItemSchemeMap, frozen=True, gc=False, kw_only=True):
    """A map between reporting taxonomies."""
