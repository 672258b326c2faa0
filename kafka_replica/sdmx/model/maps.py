"""Maps between structures, representations and items (3.x).

Source: SDMX 3.1 Section 2, "Structure Mapping"; SDMXStructureStructureMappings.xsd.
"""

from __future__ import annotations

from kafka_replica.common.html_tables import TableRows
from kafka_replica.sdmx.model.base import Annotation, Link, Maintainable
from kafka_replica.sdmx.model.value_object import ValueObject
from kafka_replica.sdmx.urns.urn import Urn


class MappedValue(ValueObject, frozen=True, gc=False, kw_only=True):
    """A source value: a literal or a regular expression; the indexes select a substring of the value to compare."""

    value: str
    is_reg_ex: bool = False
    start_index: int | None = None
    end_index: int | None = None


class RepresentationMapping(ValueObject, frozen=True, gc=False, kw_only=True):
    """A row of a representation map. Without targets, the sources are mapped to nothing."""

    sources: tuple[MappedValue, ...]
    targets: tuple[str, ...] = ()
    valid_from: str | None = None
    valid_to: str | None = None
    annotations: tuple[Annotation, ...] = ()


class RepresentationMap(Maintainable, frozen=True, gc=False, kw_only=True):
    """A map from values to values. Sources and targets are codelists or value lists, or data types by name."""

    sources: tuple[Urn | str, ...] = ()
    targets: tuple[Urn | str, ...] = ()
    mappings: tuple[RepresentationMapping, ...] = ()

    def _table(self) -> TableRows:
        rows = (
            (", ".join(source.value for source in row.sources), ", ".join(target or "" for target in row.targets))
            for row in self.mappings
        )
        return TableRows(("source", "target"), rows, len(self.mappings), "mapping")


class ComponentMap(ValueObject, frozen=True, gc=False, kw_only=True):
    """A map from components to components; without a representation map, values stay unchanged."""

    sources: tuple[str, ...]
    targets: tuple[str, ...]
    representation_map: Urn | None = None
    annotations: tuple[Annotation, ...] = ()


class FixedValueMap(ValueObject, frozen=True, gc=False, kw_only=True):
    """A component of the target, or of the source, that always has these values."""

    source: str | None = None
    target: str | None = None
    values: tuple[str, ...] = ()
    annotations: tuple[Annotation, ...] = ()


class DateMap(ValueObject, frozen=True, gc=False, kw_only=True):
    """The common part of date maps. The frequency of the result is fixed (``target_frequency``) or a dimension's value.

    ``urn`` is None if the map has no id, which the standard allows.
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
        """The id of the map, if it has one."""
        return self.urn.item if self.urn else None


class DatePatternMap(DateMap, frozen=True, gc=False, kw_only=True):
    """A map for dates that are written in a pattern."""

    source_pattern: str
    locale: str | None = None


class EpochMap(DateMap, frozen=True, gc=False, kw_only=True):
    """A map for dates that are counted from an instant (``base_period``) in ``epoch_period``, for example "second"."""

    base_period: str
    epoch_period: str


class FrequencyFormatMapping(ValueObject, frozen=True, gc=False, kw_only=True):
    """The format of dates of one frequency; ``urn`` is None if the mapping has no id."""

    frequency: str
    date_pattern: str
    urn: Urn | None = None
    annotations: tuple[Annotation, ...] = ()
    links: tuple[Link, ...] = ()
    uri: str | None = None


class StructureMap(Maintainable, frozen=True, gc=False, kw_only=True):
    """A map from data of one structure (or flow) to data of another; source and target are None in a stub."""

    source: Urn | None = None
    target: Urn | None = None
    component_maps: tuple[ComponentMap, ...] = ()
    fixed_value_maps: tuple[FixedValueMap, ...] = ()
    date_pattern_maps: tuple[DatePatternMap, ...] = ()
    epoch_maps: tuple[EpochMap, ...] = ()
    frequency_format_mappings: tuple[FrequencyFormatMapping, ...] = ()


class ItemMap(ValueObject, frozen=True, gc=False, kw_only=True):
    """An item of the source and an item of the target, by id; without a target, the source maps to nothing."""

    source: MappedValue
    target: str | None = None
    valid_from: str | None = None
    valid_to: str | None = None
    annotations: tuple[Annotation, ...] = ()


class ItemSchemeMap(Maintainable, frozen=True, gc=False, kw_only=True):
    """The common part of maps between item schemes; source and target are None in a stub."""

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
