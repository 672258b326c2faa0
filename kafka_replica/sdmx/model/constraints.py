"""Constraints on data and metadata.

Source: SDMX 3.1 Section 2, "Constraints"; SDMXStructureConstraint.xsd of 2.1 and 3.x, and for regions and
keys of 2.1 SDMXCommon.xsd. ContentConstraint (2.1) is DataConstraint in 3.x.
"""

from __future__ import annotations

from kafka_replica.sdmx.model.base import Annotation, Maintainable
from kafka_replica.sdmx.model.registrations import QueryableDataSource
from kafka_replica.sdmx.model.value_object import ValueObject
from kafka_replica.sdmx.urns.urn import Urn


class SelectedValue(ValueObject, frozen=True, gc=False, kw_only=True):
    """A value, or a pattern with ``%``; ``cascade_values`` is "true" or "excluderoot", or None without a cascade."""

    value: str
    cascade_values: str | None = None
    language: str | None = None
    valid_from: str | None = None
    valid_to: str | None = None


class PeriodBound(ValueObject, frozen=True, gc=False, kw_only=True):
    """A bound of a time range."""

    period: str
    is_inclusive: bool = True


class TimeRange(ValueObject, frozen=True, gc=False, kw_only=True):
    """A range of time: before a period, after a period, or from ``start`` to ``end``."""

    before: PeriodBound | None = None
    after: PeriodBound | None = None
    start: PeriodBound | None = None
    end: PeriodBound | None = None
    valid_from: str | None = None
    valid_to: str | None = None


class SetReference(ValueObject, frozen=True, gc=False, kw_only=True):
    """A data set or metadata set of 2.1, by its provider and the provider's id for it."""

    provider: Urn
    id: str


class MemberSelection(ValueObject, frozen=True, gc=False, kw_only=True):
    """The allowed values of one component, or the forbidden values if ``include`` is false.

    Without values and range, the selection covers all values of the component. ``data_sets``, ``data_keys`` and
    ``objects`` are from 2.1, for targets of metadata.
    """

    id: str
    values: tuple[SelectedValue, ...] = ()
    time_range: TimeRange | None = None
    include: bool = True
    remove_prefix: bool | None = None
    valid_from: str | None = None
    valid_to: str | None = None
    data_sets: tuple[SetReference, ...] = ()
    data_keys: tuple[Region, ...] = ()
    objects: tuple[Urn, ...] = ()


class Region(ValueObject, frozen=True, gc=False, kw_only=True):
    """A cube region, a target region of metadata, or one key of a key set.

    ``key_values`` are selections for dimensions, ``components`` are selections for attributes and measures.
    ``report`` and ``metadata_target`` are from 2.1.
    """

    key_values: tuple[MemberSelection, ...] = ()
    components: tuple[MemberSelection, ...] = ()
    include: bool = True
    valid_from: str | None = None
    valid_to: str | None = None
    annotations: tuple[Annotation, ...] = ()
    report: str | None = None
    metadata_target: str | None = None


class KeySet(ValueObject, frozen=True, gc=False, kw_only=True):
    """Keys that are included or excluded."""

    keys: tuple[Region, ...]
    is_included: bool = True


class ReleaseCalendar(ValueObject, frozen=True, gc=False, kw_only=True):
    """The release calendar of data: durations, as written."""

    periodicity: str | None = None
    offset: str | None = None
    tolerance: str | None = None


class ConstraintAttachment(ValueObject, frozen=True, gc=False, kw_only=True):
    """The targets of a constraint: artefacts and providers by URN, data sets, or sources by address."""

    references: tuple[Urn, ...] = ()
    data_sets: tuple[SetReference, ...] = ()
    metadata_sets: tuple[SetReference, ...] = ()
    simple_data_sources: tuple[str, ...] = ()
    queryable_data_sources: tuple[QueryableDataSource, ...] = ()


class Constraint(Maintainable, frozen=True, gc=False, kw_only=True):
    """The common part of all constraints; ``role`` is "Allowed" or "Actual", None if the message does not state it.

    ``reference_period`` (2.1) consists of the first and the last instant that the constraint covers.
    """

    role: str | None = None
    attachment: ConstraintAttachment | None = None
    cube_regions: tuple[Region, ...] = ()
    key_sets: tuple[KeySet, ...] = ()
    metadata_target_regions: tuple[Region, ...] = ()
    metadata_key_sets: tuple[KeySet, ...] = ()
    release_calendar: ReleaseCalendar | None = None
    reference_period: tuple[str, str] | None = None


class DataConstraint(Constraint, frozen=True, gc=False, kw_only=True):
    """A constraint on data (3.x)."""


class MetadataConstraint(Constraint, frozen=True, gc=False, kw_only=True):
    """A constraint on metadata (3.x)."""


class ContentConstraint(Constraint, frozen=True, gc=False, kw_only=True):
    """A constraint on data or metadata (2.1)."""


class AttachmentConstraint(Constraint, frozen=True, gc=False, kw_only=True):
    """A constraint to which attributes may be attached (2.1)."""


class AvailabilityConstraint(ValueObject, frozen=True, gc=False, kw_only=True):
    """The available data (3.1). The constraint has neither id nor agency, so it is not an artefact and has no URN."""

    attachment: ConstraintAttachment | None = None
    cube_regions: tuple[Region, ...] = ()
    series_count: int | None = None
    obs_count: int | None = None
    annotations: tuple[Annotation, ...] = ()
