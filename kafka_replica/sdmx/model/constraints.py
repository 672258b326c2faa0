"""Constraints on data and metadata.

Source: SDMX 3.1 Section 2, "Constraints"; SDMXStructureConstraint.xsd of 2.1 and 3.x, and for regions and
keys of 2.1 SDMXCommon.xsd. ContentConstraint (2.1) is DataConstraint in 3.x.
"""

from __future__ import annotations

from kafka_replica.sdmx.base import Annotation, Maintainable
from kafka_replica.sdmx.model.provisions import QueryableDataSource
from kafka_replica.sdmx.urn import Urn
from kafka_replica.sdmx.value_object import ValueObject


class SelectedValue(ValueObject, frozen=True, gc=False, kw_only=True):
    """A value, or a pattern with ``%``; ``cascade_values`` is "true" or "excluderoot", None for neither."""

    value: str
    cascade_values: str | None = None
    language: str | None = None
    valid_from: str | None = None
    valid_to: str | None = None


class PeriodBound(ValueObject, frozen=True, gc=False, kw_only=True):
    """One end of a range of time."""

    period: str
    is_inclusive: bool = True


class TimeRange(ValueObject, frozen=True, gc=False, kw_only=True):
    """A range of time: before one period, after one, or from ``start`` to ``end``."""

    before: PeriodBound | None = None
    after: PeriodBound | None = None
    start: PeriodBound | None = None
    end: PeriodBound | None = None
    valid_from: str | None = None
    valid_to: str | None = None


class SetReference(ValueObject, frozen=True, gc=False, kw_only=True):
    """A data set or metadata set of 2.1: who provides it, and its id there."""

    provider: Urn
    id: str


class MemberSelection(ValueObject, frozen=True, gc=False, kw_only=True):
    """What is allowed (or, where ``include`` is false, not allowed) for one component.

    No values and no range: all values of the component. ``data_sets``, ``data_keys`` and ``objects`` are
    of 2.1, for targets of metadata.
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

    ``key_values`` are selections of dimensions, ``components`` those of attributes and measures.
    ``report`` and ``metadata_target`` are of 2.1.
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
    """Keys that are in, or out."""

    keys: tuple[Region, ...]
    is_included: bool = True


class ReleaseCalendar(ValueObject, frozen=True, gc=False, kw_only=True):
    """When data is released: durations, as written."""

    periodicity: str | None = None
    offset: str | None = None
    tolerance: str | None = None


class ConstraintAttachment(ValueObject, frozen=True, gc=False, kw_only=True):
    """What a constraint holds for: artefacts and providers by URN, data sets, or sources by address."""

    references: tuple[Urn, ...] = ()
    data_sets: tuple[SetReference, ...] = ()
    metadata_sets: tuple[SetReference, ...] = ()
    simple_data_sources: tuple[str, ...] = ()
    queryable_data_sources: tuple[QueryableDataSource, ...] = ()


class Constraint(Maintainable, frozen=True, gc=False, kw_only=True):
    """What all constraints share; ``role`` is "Allowed" or "Actual", None where the message says nothing.

    ``reference_period`` (2.1) is the first and the last instant that the constraint is about.
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
    """A constraint that attributes may be attached to (2.1)."""


class AvailabilityConstraint(ValueObject, frozen=True, gc=False, kw_only=True):
    """What data there is (3.1). It has neither id nor agency, so it is no artefact and has no URN."""

    attachment: ConstraintAttachment | None = None
    cube_regions: tuple[Region, ...] = ()
    series_count: int | None = None
    obs_count: int | None = None
    annotations: tuple[Annotation, ...] = ()
