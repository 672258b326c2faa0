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
    ConstraintAttachment,
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


def write_constraint(one: Constraint, edition: Edition) -> Json:
    """Write a constraint of any class."""
    edition.until_2(one.reference_period, "the reference period of a constraint")
    edition.until_2(stored_parts(one.metadata_key_sets), "key sets of metadata")
    if edition.is_21 and (one.release_calendar or one.role is not None):
        raise UnwritableError("SDMX-JSON 2.1 cannot represent the release calendar or a role of a constraint")
    calendar, period = one.release_calendar, one.reference_period
    return obj(
        write_maintained(one, edition),
        {"type" if edition.is_10 else "role": one.role},
        constraintAttachment=None if one.attachment is None else _attachment(one.attachment, edition),
        cubeRegions=[_region(each, edition) for each in stored_parts(one.cube_regions)],
        dataKeySets=[_key_set(each, edition) for each in stored_parts(one.key_sets)],
        metadataKeySets=[_key_set(each, edition) for each in stored_parts(one.metadata_key_sets)],
        metadataTargetRegions=[_region(each, edition) for each in stored_parts(one.metadata_target_regions)],
        releaseCalendar=None
        if calendar is None
        else obj(periodicity=calendar.periodicity, offset=calendar.offset, tolerance=calendar.tolerance),
        referencePeriod=None if period is None else {"startTime": period[0], "endTime": period[1]},
    )


def _attachment(one: ConstraintAttachment, edition: Edition) -> Json:
    edition.until_2(one.data_sets or one.metadata_sets, "data sets that a constraint is attached to")
    has_sources = one.simple_data_sources or one.queryable_data_sources
    if edition.is_21 and has_sources:
        raise UnwritableError("SDMX-JSON 2.1 cannot represent data sources that a constraint is attached to")
    found: dict[str, Any] = {}
    for reference in one.references:
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
        _some("dataSet", "dataSets", [_set(each) for each in one.data_sets]),
        _some("metadataSet", "metadataSets", [_set(each) for each in one.metadata_sets]),
        _some("simpleDataSource", "simpleDataSources", list(one.simple_data_sources)),
        queryableDataSources=[_queryable(each) for each in one.queryable_data_sources],
    )


def _some(single: str, plural: str, found: list[Any]) -> Json:
    # Some schemas allow only a single object, others a list.
    return {single: found[0]} if len(found) == 1 and single != "simpleDataSource" else obj({plural: found})


def _set(one: SetReference) -> Json:
    return {"dataProvider": str(one.provider), "id": one.id}


def _queryable(one: QueryableDataSource) -> Json:
    return obj(
        dataURL=one.data_url,
        wsdlURL=one.wsdl_url,
        wadlURL=one.wadl_url,
        isRESTDatasource=one.is_rest,
        isWebServiceDatasource=one.is_web_service,
    )


def _key_set(one: KeySet, edition: Edition) -> Json:
    return {"isIncluded": one.is_included, "keys": [_region(each, edition, is_key=True) for each in one.keys]}


def _region(one: Region, edition: Edition, *, is_key: bool = False) -> Json:
    edition.since_2(one.annotations or one.valid_from or one.valid_to, "annotations or validity of a region")
    edition.until_2(one.report or one.metadata_target, "the report and metadata target of a region")
    components = [_selection(each, edition, is_key=False) for each in one.components]
    included = None if is_key and one.include else one.include
    return obj(
        {"isIncluded" if edition.is_10 and not one.report else "include": included},
        {"attributes" if edition.is_10 else "components": components},
        keyValues=[_selection(each, edition, is_key=is_key) for each in one.key_values],
        validFrom=one.valid_from,
        validTo=one.valid_to,
        annotations=write_annotations(one.annotations, edition),
        report=one.report,
        metadataTarget=one.metadata_target,
    )


def _selection(one: MemberSelection, edition: Edition, *, is_key: bool) -> Json:
    edition.since_2(not one.include or one.remove_prefix is not None, "selections that are left out, or lose prefixes")
    edition.until_2(one.data_sets or one.data_keys or one.objects, "data sets, keys and objects that are selected")
    return obj(
        _values(one.values, edition, is_key=is_key),
        id=one.id,
        timeRange=None if one.time_range is None else _range(one.time_range),
        include=None if one.include else False,
        removePrefix=one.remove_prefix,
        validFrom=one.valid_from,
        validTo=one.valid_to,
        dataSets=[_set(each) for each in one.data_sets],
        dataKeys=[_region(each, edition, is_key=True) for each in one.data_keys],
        objects=write_urns(one.objects),
    )


def _values(values: tuple[SelectedValue, ...], edition: Edition, *, is_key: bool) -> Json:
    if is_key and len(values) == 1 and values[0] == SelectedValue(value=values[0].value):
        return {"value": values[0].value}
    if not edition.is_10:
        return obj(values=[_value(one) for one in values])
    is_new = any(
        one.language or one.valid_from or one.valid_to or one.cascade_values == "excluderoot" for one in values
    )
    edition.since_2(is_new, "languages, validity, or 'excluderoot' of a selected value")
    return obj(
        values=[one.value for one in values if one.cascade_values is None],
        cascadeValues=[one.value for one in values if one.cascade_values is not None],
    )


def _value(one: SelectedValue) -> Json:
    cascade = true(one.cascade_values == "true") or one.cascade_values
    rest = obj(cascadeValues=cascade, lang=one.language, validFrom=one.valid_from, validTo=one.valid_to)
    # The schema allows a text, too, but pysdmx reads objects only.
    return {"value": one.value, **rest}


def _range(one: TimeRange) -> Json:
    return obj(
        beforePeriod=_bound(one.before),
        afterPeriod=_bound(one.after),
        startPeriod=_bound(one.start),
        endPeriod=_bound(one.end),
        validFrom=one.valid_from,
        validTo=one.valid_to,
    )


def _bound(one: PeriodBound | None) -> Json | None:
    return None if one is None else {"period": one.period, "isInclusive": one.is_inclusive}
