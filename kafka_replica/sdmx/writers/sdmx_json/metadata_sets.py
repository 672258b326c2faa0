"""Metadata sets as SDMX-JSON 2.x, for their own kind of message.

Source: sdmx-json-metadata-schema.json of 2.0 and 2.1.
"""

from __future__ import annotations

from typing import Any

from kafka_replica.sdmx.errors import UnwritableError
from kafka_replica.sdmx.model import MetadataSet, ReportedAttribute
from kafka_replica.sdmx.writers.json_parts import Json, obj, parts, urn
from kafka_replica.sdmx.writers.sdmx_json.values import Edition, annotations_of, maintained


def metadata_set(one: MetadataSet, edition: Edition) -> Json:
    """Write a metadata set."""
    return obj(
        maintained(one, edition),
        action=one.action,
        metadataflow=urn(one.metadataflow),
        metadataProvisionAgreement=urn(one.metadata_provision_agreement),
        targets=parts(one.targets),
        attributes=[_reported(each, edition) for each in parts(one.attributes)],
        reportingBegin=one.reporting_begin_date,
        reportingEnd=one.reporting_end_date,
        publicationYear=one.publication_year,
        publicationPeriod=one.publication_period,
    )


def _reported(one: ReportedAttribute, edition: Edition) -> Json:
    return obj(
        id=one.id,
        value=_value(one),
        attributes=[_reported(each, edition) for each in one.attributes],
        annotations=annotations_of(one.annotations, edition),
    )


def _value(one: ReportedAttribute) -> Any:
    if one.structured_texts.texts:
        raise UnwritableError(f"SDMX-JSON has no place for the structured text of {one.id}")
    if one.texts.texts:
        return dict(one.texts.texts)
    return one.values[0] if len(one.values) == 1 else list(one.values)
