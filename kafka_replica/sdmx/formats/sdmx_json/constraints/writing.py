"""Write constraints as SDMX-JSON."""

from __future__ import annotations

from typing import Any, Final

from kafka_replica.sdmx.containers import stored_parts
from kafka_replica.sdmx.errors import UnwritableError
from kafka_replica.sdmx.formats.json_shared.values import Json, obj, true, write_urns
from kafka_replica.sdmx.formats.sdmx_json.edition import Edition
from kafka_replica.sdmx.formats.sdmx_json.values.writing import write_annotations, write_maintained
from kafka_replica.sdmx.model import (
    Constraint,
    KeySet,
    MemberSelection,
    PeriodBound,
    QueryableDataSource,
    Region,
    SelectedValue,
    SetReference,
    TimeRange,
)

_ATTACHED: Final = {
    "DataStructure": "dataStructures",
    "MetadataStructure": "metadataStructures",
    "Dataflow": "dataflows",
    "Metadataflow": "metadataflows",
    "ProvisionAgreement": "provisionAgreements",
    "MetadataProvisionAgreement": "metadataProvisionAgreements",
}


def write_constraint(constraint: Constraint, edition: Edition) -> Json:
    """Write a constraint of any class."""
    edition.until_2(constraint.reference_period, "the reference period of a constraint")
    edition.until_2(stored_parts(constraint.metadata_key_sets), "key sets of metadata")
    if edition.is_21 and (constraint.release_calendar or constraint.role is not None):
        raise UnwritableError("SDMX-JSON 2.1 cannot represent the release calendar or a role of a constraint")
    calendar, period = constraint.release_calendar, constraint.reference_period
    return obj(
        write_maintained(constraint, edition),
        {"type" if edition.is_10 else "role": constraint.role},
        constraintAttachment=_attachment(constraint, edition),
        cubeRegions=[_region(each, edition) for each in stored_parts(constraint.cube_regions)],
        dataKeySets=[_key_set(each, edition) for each in stored_parts(constraint.key_sets)],
        metadataKeySets=[_key_set(each, edition) for each in stored_parts(constraint.metadata_key_sets)],
        metadataTargetRegions=[_region(each, edition) for each in stored_parts(constraint.metadata_target_regions)],
        releaseCalendar=None
        if calendar is None
        else obj(periodicity=calendar.periodicity, offset=calendar.offset, tolerance=calendar.tolerance),
        referencePeriod=None if period is None else {"startTime": period[0], "endTime": period[1]},
    )


def _attachment(constraint: Constraint, edition: Edition) -> Json | None:
    constraint_attachment = constraint.attachment
    if constraint_attachment is None:
        return None
    is_single = constraint.urn.cls == "ContentConstraint"  # its schema allows one set or simple data source
    edition.until_2(
        constraint_attachment.data_sets or constraint_attachment.metadata_sets,
        "data sets that a constraint is attached to",
    )
    has_sources = constraint_attachment.simple_data_sources or constraint_attachment.queryable_data_sources
    if edition.is_21 and has_sources:
        raise UnwritableError("SDMX-JSON 2.1 cannot represent data sources that a constraint is attached to")
    found: dict[str, Any] = {}
    for reference in constraint_attachment.references:
        if reference.cls in {"DataProvider", "MetadataProvider"}:
            found[reference.cls[0].lower() + reference.cls[1:]] = str(reference)
        elif reference.cls == "MetadataSet":
            found.setdefault("metadataSets", []).append(str(reference))
        elif reference.cls in _ATTACHED:
            found.setdefault(_ATTACHED[reference.cls], []).append(str(reference))
        else:
            raise UnwritableError(f"a constraint cannot be attached to {reference}")
    return obj(
        found,
        _some("dataSet", [_set(each) for each in constraint_attachment.data_sets], is_single=is_single),
        _some("metadataSet", [_set(each) for each in constraint_attachment.metadata_sets], is_single=is_single),
        _some("simpleDataSource", list(constraint_attachment.simple_data_sources), is_single=is_single),
        queryableDataSources=[_queryable(each) for each in constraint_attachment.queryable_data_sources],
    )


def _some(name: str, found: list[Any], *, is_single: bool) -> Json:
    """Write objects as a list, or as one object where the schema allows only one. Raises UnwritableError."""
    if not is_single:
        return obj({f"{name}s": found})
    if len(found) > 1:
        raise UnwritableError(f"SDMX-JSON 1.0 has a place for only one {name}, but there are {len(found)}")
    return {name: found[0]} if found else {}


def _set(set_reference: SetReference) -> Json:
    return {"dataProvider": str(set_reference.provider), "id": set_reference.id}


def _queryable(queryable_data_source: QueryableDataSource) -> Json:
    return obj(
        dataURL=queryable_data_source.data_url,
        wsdlURL=queryable_data_source.wsdl_url,
        wadlURL=queryable_data_source.wadl_url,
        isRESTDatasource=queryable_data_source.is_rest,
        isWebServiceDatasource=queryable_data_source.is_web_service,
    )


def _key_set(key_set: KeySet, edition: Edition) -> Json:
    return {"isIncluded": key_set.is_included, "keys": [_region(each, edition, is_key=True) for each in key_set.keys]}


def _region(region: Region, edition: Edition, *, is_key: bool = False) -> Json:
    edition.since_2(region.annotations or region.valid_from or region.valid_to, "annotations or validity of a region")
    edition.until_2(region.report or region.metadata_target, "the report and metadata target of a region")
    components = [_selection(each, edition, is_key=False) for each in region.components]
    included = None if is_key and region.include else region.include
    return obj(
        {"isIncluded" if edition.is_10 and not region.report else "include": included},
        {"attributes" if edition.is_10 else "components": components},
        keyValues=[_selection(each, edition, is_key=is_key) for each in region.key_values],
        validFrom=region.valid_from,
        validTo=region.valid_to,
        annotations=write_annotations(region.annotations, edition),
        report=region.report,
        metadataTarget=region.metadata_target,
    )


def _selection(member_selection: MemberSelection, edition: Edition, *, is_key: bool) -> Json:
    edition.since_2(
        not member_selection.include or member_selection.remove_prefix is not None,
        "selections that are left out, or lose prefixes",
    )
    edition.until_2(
        member_selection.data_sets or member_selection.data_keys or member_selection.objects,
        "data sets, keys and objects that are selected",
    )
    data_keys = [_region(each, edition, is_key=True) for each in member_selection.data_keys]
    return obj(
        _key_value(member_selection, edition) if is_key else _values(member_selection.values, edition),
        _some("dataSet", [_set(each) for each in member_selection.data_sets], is_single=is_key),
        _some("dataKey", data_keys, is_single=is_key),
        _some("object", write_urns(member_selection.objects), is_single=is_key),
        id=member_selection.id,
        timeRange=None if member_selection.time_range is None else _range(member_selection.time_range),
        include=None if member_selection.include else False,
        removePrefix=member_selection.remove_prefix,
        validFrom=member_selection.valid_from,
        validTo=member_selection.valid_to,
    )


def _key_value(member_selection: MemberSelection, edition: Edition) -> Json:
    """Write the values of a component in a key, which are plain texts. Raises UnwritableError."""
    values = [value.value for value in member_selection.values]
    if member_selection.values != tuple(SelectedValue(value=value) for value in values):
        raise UnwritableError(
            f"SDMX-JSON cannot represent a cascade, language or validity of a value of {member_selection.id} in a key"
        )
    if len(values) > 1 and not edition.is_21:
        raise UnwritableError(f"{edition.format.title} has a place for one value of {member_selection.id} in a key")
    return {"value": values[0]} if len(values) == 1 else obj(values=values)


def _values(values: tuple[SelectedValue, ...], edition: Edition) -> Json:
    if not edition.is_10:
        return obj(values=[_value(value) for value in values])
    is_new = any(
        value.language or value.valid_from or value.valid_to or value.cascade_values == "excluderoot"
        for value in values
    )
    edition.since_2(is_new, "languages, validity, or 'excluderoot' of a selected value")
    return obj(
        values=[value.value for value in values if value.cascade_values is None],
        cascadeValues=[value.value for value in values if value.cascade_values is not None],
    )


def _value(selected_value: SelectedValue) -> Json:
    cascade = true(selected_value.cascade_values == "true") or selected_value.cascade_values
    rest = obj(
        cascadeValues=cascade,
        lang=selected_value.language,
        validFrom=selected_value.valid_from,
        validTo=selected_value.valid_to,
    )
    # The schema allows a text, too, but pysdmx reads objects only.
    return {"value": selected_value.value, **rest}


def _range(time_range: TimeRange) -> Json:
    return obj(
        beforePeriod=_bound(time_range.before),
        afterPeriod=_bound(time_range.after),
        startPeriod=_bound(time_range.start),
        endPeriod=_bound(time_range.end),
        validFrom=time_range.valid_from,
        validTo=time_range.valid_to,
    )


def _bound(period_bound: PeriodBound | None) -> Json | None:
    return None if period_bound is None else {"period": period_bound.period, "isInclusive": period_bound.is_inclusive}
