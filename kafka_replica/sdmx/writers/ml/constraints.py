"""Constraints as SDMX-ML: content and attachment (2.1), data and metadata (3.x)."""

from __future__ import annotations

from kafka_replica.sdmx.errors import UnwritableError
from kafka_replica.sdmx.model import Constraint, ConstraintAttachment, QueryableDataSource, ReleaseCalendar
from kafka_replica.sdmx.writers.ml.edition import Edition
from kafka_replica.sdmx.writers.ml.regions import key_set, region, set_reference
from kafka_replica.sdmx.writers.ml.values import artefact, parts
from kafka_replica.sdmx.writers.ml.xml import el, flag, leaf


def constraint(one: Constraint, edition: Edition) -> str:
    """Write a <DataConstraint>, <MetadataConstraint>, <ContentConstraint> or <AttachmentConstraint>."""
    edition.until_3(one.reference_period, "the reference period of a constraint")
    edition.until_3(parts(one.metadata_key_sets), "key sets of metadata")
    if edition.is_31 and one.role is not None:
        raise UnwritableError(f"SDMX-ML 3.1 has no place for the role {one.role!r} of a constraint")
    if edition.is_31 and one.release_calendar:
        raise UnwritableError("SDMX-ML 3.1 has no place for the release calendar of a constraint")
    calendar = _calendar(one.release_calendar)
    content = [
        "" if one.attachment is None else _attachment(one.attachment, edition),
        "" if edition.is_21 else calendar,
        *[key_set("str:DataKeySet", each, edition) for each in parts(one.key_sets)],
        *[key_set("str:MetadataKeySet", each, edition) for each in parts(one.metadata_key_sets)],
        *[region("str:CubeRegion", each, edition) for each in parts(one.cube_regions)],
        *[region("str:MetadataTargetRegion", each, edition) for each in parts(one.metadata_target_regions)],
        calendar if edition.is_21 else "",
        _period(one.reference_period),
    ]
    role = {"type" if edition.is_21 else "role": one.role}
    return artefact(f"str:{one.urn.cls}", one, edition, content, **role)


def _calendar(one: ReleaseCalendar | None) -> str:
    if one is None:
        return ""
    return el(
        "str:ReleaseCalendar",
        leaf("str:Periodicity", one.periodicity),
        leaf("str:Offset", one.offset),
        leaf("str:Tolerance", one.tolerance),
    )


def _period(one: tuple[str, str] | None) -> str:
    return "" if one is None else el("str:ReferencePeriod", startTime=one[0], endTime=one[1])


def _attachment(one: ConstraintAttachment, edition: Edition) -> str:
    edition.until_3(one.data_sets or one.metadata_sets, "data sets that a constraint is attached to")
    if edition.is_31 and (one.simple_data_sources or one.queryable_data_sources):
        raise UnwritableError("SDMX-ML 3.1 has no place for data sources that a constraint is attached to")
    return el(
        "str:ConstraintAttachment",
        *[edition.ref(f"str:{urn.cls}", urn) for urn in one.references],
        *[el("str:DataSet", set_reference(each, edition)) for each in one.data_sets],
        *[el("str:MetadataSet", set_reference(each, edition)) for each in one.metadata_sets],
        *[leaf("str:SimpleDataSource", each) for each in one.simple_data_sources],
        *[queryable("str:QueryableDataSource", each) for each in one.queryable_data_sources],
    )


def queryable(tag: str, one: QueryableDataSource) -> str:
    """Write a data source that can be queried."""
    return el(
        tag,
        leaf("com:DataURL", one.data_url),
        leaf("com:WSDLURL", one.wsdl_url),
        leaf("com:WADLURL", one.wadl_url),
        isRESTDatasource=flag(one.is_rest),
        isWebServiceDatasource=flag(one.is_web_service),
    )
