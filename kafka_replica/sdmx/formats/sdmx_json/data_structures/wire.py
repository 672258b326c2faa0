"""The structs of data structures and dataflows in SDMX-JSON."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from kafka_replica.sdmx.formats.sdmx_json.values.wire import (
    Wire,
    WireAnnotable,
    WireIdentifiable,
    WireMaintainable,
    WireRepresentation,
)

_DAYS_OF_YEAR: Final = {"REPORTING_YEAR_START_DAY", "REPORTING_YEAR_END_DAY"}
_FLAGS: Final = {"true": True, "1": True, "false": False, "0": False}


class WireRelationship(Wire, gc=False):
    """The attachment of an attribute. The empty objects (``none``, ``dataflow``) have a meaning if they are present."""

    none: dict[str, Any] | None = None
    dataflow: dict[str, Any] | None = None
    observation: dict[str, Any] | None = None
    primary_measure: str | None = None
    dimensions: list[str] | None = None
    group: str | None = None
    attachment_groups: list[str] | None = None
    are_dimensions_optional: list[bool] | None = None


class WireComponent(WireIdentifiable, gc=False):
    """A dimension, measure or attribute; ``assignmentStatus`` is 1.0, ``usage`` 2.x, ``isMandatory`` in neither."""

    type: str | None = None
    position: int | None = None
    concept: str | None = msgspec.field(name="conceptIdentity", default=None)
    concept_roles: list[str] | None = None
    representation: WireRepresentation | None = msgspec.field(name="localRepresentation", default=None)
    usage: str | None = None
    assignment_status: str | None = None
    is_mandatory: bool | str | None = None
    attribute_relationship: WireRelationship | None = None
    measure_relationship: list[str] | None = None

    @property
    def mandatory(self) -> bool:
        """True for a measure or attribute that needs a value."""
        written = self.usage or self.assignment_status
        if written is not None:
            return written.lower() == "mandatory"
        stated = self.is_mandatory
        if isinstance(stated, str):
            stated = _FLAGS.get(stated.lower())
        return self._is_day_of_year if stated is None else stated

    @property
    def _is_day_of_year(self) -> bool:
        """True for the attributes that are mandatory by default in the schemas of 2.x."""
        if self.id not in _DAYS_OF_YEAR or self.representation is None:
            return False
        format_ = self.representation.format
        return format_ is not None and format_.data_type == "MonthDay"


class WireUsage(WireAnnotable, gc=False):
    """The use of a metadata attribute."""

    metadata_attribute_reference: str | None = None
    attribute_relationship: WireRelationship | None = None


class WireDimensionList(WireIdentifiable, gc=False):
    """The dimensions; 1.0 has lists of measure and time dimensions."""

    dimensions: list[WireComponent] | None = None
    measure_dimensions: list[WireComponent] | None = None
    time_dimensions: list[WireComponent] | None = None
    time_dimension: WireComponent | None = None


class WireMeasureList(WireIdentifiable, gc=False):
    """The measures; 1.0 has a primary measure."""

    measures: list[WireComponent] | None = None
    primary_measure: WireComponent | None = None


class WireAttributeList(WireIdentifiable, gc=False):
    """The attributes."""

    attributes: list[WireComponent] | None = None
    reporting_year_start_days: list[WireComponent] | None = None
    metadata_attribute_usages: list[WireUsage] | None = None


class WireGroup(WireIdentifiable, gc=False):
    """A group."""

    group_dimensions: list[str] | None = None
    attachment_constraint: str | None = None


class WireComponents(Wire, gc=False):
    """All components."""

    dimension_list: WireDimensionList | None = None
    measure_list: WireMeasureList | None = None
    attribute_list: WireAttributeList | None = None
    groups: list[WireGroup] | None = None


class WireDataStructure(WireMaintainable, gc=False):
    """A data structure."""

    data_structure_components: WireComponents | None = None
    metadata: str | None = None
    evolving_structure: bool | None = None


class WireDataflow(WireMaintainable, gc=False):
    """A dataflow."""

    structure: str | None = None
    dimension_constraint: list[str] | None = None
