"""Metadata sets, which pysdmx calls metadata reports."""

from __future__ import annotations

from typing import Any

from kafka_replica.sdmx.model import MetadataSet, MetadataSetOfReports, ReportedAttribute
from support.sdmx.pysdmx_objects.basics import Work, written
from support.sdmx.pysdmx_objects.library import pysdmx


def metadata_report(one: MetadataSet, work: Work) -> Any:
    """Convert a metadata set of 3.x. Raises NotExpressibleError for a set of 2.1 or 2.0."""
    if isinstance(one, MetadataSetOfReports):
        raise work.refused("it is of SDMX 2.1 or 2.0, where each report has targets of its own")
    actions = {action.value.lower(): action for action in pysdmx().ActionType}
    if one.action is not None and one.action.lower() not in actions:
        raise work.refused(f"it has no action {one.action!r}")
    return pysdmx().MetadataReport(
        **work.maintained(one),
        metadataflow=written(one.metadataflow) or "",
        metadataProvisionAgreement=written(one.metadata_provision_agreement),
        targets=one.targets,
        attributes=tuple(_attribute(part, work) for part in one.attributes),
        publicationPeriod=one.publication_period,
        publicationYear=one.publication_year,
        reportingBegin=one.reporting_begin_date,
        reportingEnd=one.reporting_end_date,
        action=None if one.action is None else actions[one.action.lower()],
    )


def _attribute(one: ReportedAttribute, work: Work) -> Any:
    """Convert a value to text, several values to a list, and texts to the one in the language."""
    texts = (one.texts.in_language(work.language), one.structured_texts.in_language(work.language))
    found = [*one.values, *(text for text in texts if text is not None)]
    return pysdmx().MetadataAttribute(
        id=one.id,
        value=found[0] if len(found) == 1 else found or None,
        attributes=tuple(_attribute(child, work) for child in one.attributes),
        annotations=work.annotations(one.annotations),
    )
