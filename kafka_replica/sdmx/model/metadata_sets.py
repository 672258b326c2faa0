"""Metadata sets: of 3.x, and those of 2.1 and 2.0, which consist of reports with their own targets.

Source: SDMX 2.1 Section 2, "Metadata Set"; SDMXMetadataGeneric.xsd of 2.1 and 3.x; SDMXGenericMetadata.xsd 2.0.
"""

from __future__ import annotations

from kafka_replica.sdmx.containers import NO_TEXT, InternationalString
from kafka_replica.sdmx.model.base import Annotation, Maintainable
from kafka_replica.sdmx.model.constraints import Region, SetReference
from kafka_replica.sdmx.model.value_object import ValueObject
from kafka_replica.sdmx.urns.urn import Urn


class ReportedAttribute(ValueObject, frozen=True, gc=False, kw_only=True):
    """The content of a metadata set for one metadata attribute, and for the attributes below it.

    ``structured_texts`` hold XHTML as text. ``is_literal`` is set if the values are numbers or booleans of JSON;
    ``values`` holds their text as written.
    """

    id: str
    values: tuple[str, ...] = ()
    is_literal: bool = False
    texts: InternationalString = NO_TEXT
    structured_texts: InternationalString = NO_TEXT
    attributes: tuple[ReportedAttribute, ...] = ()
    annotations: tuple[Annotation, ...] = ()


class MetadataSet(Maintainable, frozen=True, gc=False, kw_only=True):
    """A metadata set of 3.x: its metadataflow or agreement, its ``targets`` (with wildcards), and its report."""

    metadataflow: Urn | None = None
    metadata_provision_agreement: Urn | None = None
    targets: tuple[str, ...] = ()
    attributes: tuple[ReportedAttribute, ...] = ()
    action: str | None = None
    reporting_begin_date: str | None = None
    reporting_end_date: str | None = None
    publication_year: str | None = None
    publication_period: str | None = None


class TargetObjectValue(ValueObject, frozen=True, gc=False, kw_only=True):
    """The subject of a report for one target object: an artefact or item, a key, a set, a constraint or a period.

    ``value`` and ``object_type`` are from 2.0, which gives the id and the class of the object.
    """

    id: str | None = None
    object: Urn | None = None
    data_key: Region | None = None
    data_set: SetReference | None = None
    constraint: Urn | None = None
    report_period: str | None = None
    value: str | None = None
    object_type: str | None = None


class MetadataReport(ValueObject, frozen=True, gc=False, kw_only=True):
    """A report: its report structure (``id``), metadata target, subject, and content.

    Structure-specific messages define the ids in the schema that is generated from the metadata structure; then the ids
    are None.
    """

    id: str | None = None
    target: str | None = None
    target_objects: tuple[TargetObjectValue, ...] = ()
    attributes: tuple[ReportedAttribute, ...] = ()
    annotations: tuple[Annotation, ...] = ()


class MetadataSetOfReports(MetadataSet, frozen=True, gc=False, kw_only=True):
    """A metadata set of 2.1 or 2.0.

    ``targets`` and ``attributes`` are those of all reports, one after the other; with one report, they match the
    content of a metadata set of 3.x. A provision agreement of metadata is in ``metadata_provision_agreement``.
    ``metadata_structure`` and ``metadata_structure_url`` name the structure that describes the set.
    """

    metadata_structure: Urn | None = None
    metadata_structure_url: str | None = None
    data_provider: Urn | None = None
    reports: tuple[MetadataReport, ...] = ()
