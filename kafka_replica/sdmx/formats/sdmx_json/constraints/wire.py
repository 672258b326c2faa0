"""The structs of constraints in SDMX-JSON."""

from __future__ import annotations

import msgspec

from kafka_replica.sdmx.formats.sdmx_json.values.wire import Wire, WireAnnotable, WireAnnotation, WireMaintainable


class WireValue(Wire, gc=False):
    """A selected value."""

    value: str | None = None
    cascade_values: bool | str | None = None
    lang: str | None = None
    valid_from: str | None = None
    valid_to: str | None = None


class WireBound(Wire, gc=False):
    """An end of a range of time."""

    period: str | None = None
    is_inclusive: bool | None = None


class WireRange(Wire, gc=False):
    """A range of time."""

    before_period: WireBound | None = None
    after_period: WireBound | None = None
    start_period: WireBound | None = None
    end_period: WireBound | None = None
    valid_from: str | None = None
    valid_to: str | None = None


class WireSet(Wire, gc=False):
    """A data set or metadata set (1.0)."""

    data_provider: str | None = None
    id: str | None = None


class WireSelection(Wire, gc=False):
    """The selection for a component. In keys there may be a single ``value``; a list of cascading values is 1.0."""

    id: str | None = None
    value: str | None = None
    values: list[WireValue | str] | None = None
    cascade_values: list[str] | None = None
    time_range: WireRange | None = None
    include: bool | None = None
    remove_prefix: bool | None = None
    valid_from: str | None = None
    valid_to: str | None = None
    data_keys: list[WireRegion] | None = None
    data_key: WireRegion | None = None
    data_sets: list[WireSet] | None = None
    data_set: WireSet | None = None
    objects: list[str] | None = None
    object: str | None = None


class WireRegion(Wire, gc=False):
    """A region, or a key; ``isIncluded``, ``attributes``, ``report`` and ``metadataTarget`` are 1.0."""

    key_values: list[WireSelection] | None = None
    components: list[WireSelection] | None = None
    attributes: list[WireSelection] | None = None
    include: bool | None = None
    is_included: bool | None = None
    valid_from: str | None = None
    valid_to: str | None = None
    annotations: list[WireAnnotation] | None = None
    report: str | None = None
    metadata_target: str | None = None


class WireKeySet(Wire, gc=False):
    """A set of keys."""

    keys: list[WireRegion] | None = None
    is_included: bool | None = None
    include: bool | None = None


class WireQueryableDataSource(Wire, gc=False):
    """A data source that can be queried."""

    data_url: str | None = msgspec.field(name="dataURL", default=None)
    wsdl_url: str | None = msgspec.field(name="wsdlURL", default=None)
    wadl_url: str | None = msgspec.field(name="wadlURL", default=None)
    is_rest: bool | None = msgspec.field(name="isRESTDatasource", default=None)
    is_web_service: bool | None = msgspec.field(name="isWebServiceDatasource", default=None)


class WireAttachment(Wire, gc=False):
    """The objects a constraint applies to; availability has ``dataStructure``, ``dataflow``, ``provisionAgreement``."""

    data_provider: str | None = None
    metadata_provider: str | None = None
    data_structure: str | None = None
    dataflow: str | None = None
    provision_agreement: str | None = None
    data_structures: list[str] | None = None
    metadata_structures: list[str] | None = None
    dataflows: list[str] | None = None
    metadataflows: list[str] | None = None
    provision_agreements: list[str] | None = None
    metadata_provision_agreements: list[str] | None = None
    data_set: WireSet | None = None
    data_sets: list[WireSet] | None = None
    metadata_set: WireSet | None = None
    metadata_sets: list[WireSet | str] | None = None
    simple_data_source: str | None = None
    simple_data_sources: list[str] | None = None
    queryable_data_sources: list[WireQueryableDataSource] | None = None


class WireCalendar(Wire, gc=False):
    """A release calendar."""

    periodicity: str | None = None
    offset: str | None = None
    tolerance: str | None = None


class WirePeriod(Wire, gc=False):
    """A reference period (1.0)."""

    start_time: str | None = None
    end_time: str | None = None


class WireAvailability(WireAnnotable, gc=False):
    """The available data (2.1)."""

    constraint_attachment: WireAttachment | None = None
    cube_region: WireRegion | None = None
    series_count: int | None = None
    obs_count: int | None = None


class WireConstraint(WireMaintainable, gc=False):
    """A constraint of any class; the role is called ``type`` in 1.0."""

    role: str | None = None
    type: str | None = None
    constraint_attachment: WireAttachment | None = None
    cube_regions: list[WireRegion] | None = None
    data_key_sets: list[WireKeySet] | None = None
    metadata_key_sets: list[WireKeySet] | None = None
    metadata_target_regions: list[WireRegion] | None = None
    release_calendar: WireCalendar | None = None
    reference_period: WirePeriod | None = None
