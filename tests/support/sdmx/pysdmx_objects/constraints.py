"""Data constraints. Content whose loss would change the meaning is refused: see :func:`data_constraint`."""

from __future__ import annotations

from typing import Any

from kafka_replica.sdmx.model import Constraint, ConstraintAttachment, KeySet, MemberSelection, PeriodBound, Region
from support.sdmx.pysdmx_objects.basics import Work
from support.sdmx.pysdmx_objects.library import pysdmx

_KINDS = {
    "DataStructure": "data_structures",
    "Dataflow": "dataflows",
    "ProvisionAgreement": "provision_agreements",
}


def data_constraint(one: Constraint, work: Work) -> Any:
    """Convert a data constraint of allowed content (3.x, or the content constraint of 2.1)."""
    if one.is_stub:
        return pysdmx().DataConstraint(**work.maintained(one))
    if (one.role or "Allowed").lower() != "allowed":
        raise work.refused("it has data constraints of allowed content only")
    if one.metadata_target_regions or one.metadata_key_sets or one.release_calendar or one.reference_period:
        raise work.refused("it has no regions or keys of metadata, calendars and reference periods in constraints")
    return pysdmx().DataConstraint(
        **work.maintained(one),
        constraint_attachment=None if one.attachment is None else _attachment(one.attachment, work),
        cube_regions=tuple(_region(region, work) for region in one.cube_regions),
        key_sets=tuple(_key_set(keys, work) for keys in one.key_sets),
    )


def _attachment(one: ConstraintAttachment, work: Work) -> Any:
    found: dict[str, list[str]] = {}
    providers = [str(urn) for urn in one.references if urn.cls == "DataProvider"]
    others = [urn for urn in one.references if urn.cls != "DataProvider"]
    if len(providers) > 1 or any(urn.cls not in _KINDS for urn in others):
        raise work.refused("constraints are attached to one provider, or to data structures, dataflows and agreements")
    if one.data_sets or one.metadata_sets or one.simple_data_sources or one.queryable_data_sources:
        raise work.refused("constraints are not attached to data sets and sources")
    for urn in others:
        found.setdefault(_KINDS[urn.cls], []).append(str(urn))
    return pysdmx().ConstraintAttachment(data_provider=providers[0] if providers else None, **found)


def _region(one: Region, work: Work) -> Any:
    _check(one, work)
    values = tuple(_selection(selection, work) for selection in (*one.key_values, *one.components))
    return pysdmx().CubeRegion(key_values=values, is_included=one.include)


def _check(one: Region, work: Work) -> None:
    if any(not selection.include for selection in (*one.key_values, *one.components)):
        raise work.refused("a region is in or out as a whole")
    if one.valid_from or one.valid_to:
        raise work.refused("regions have no validity")


def _selection(one: MemberSelection, work: Work) -> Any:
    if one.remove_prefix or one.data_sets or one.data_keys or one.objects:
        raise work.refused(f"{one.id} selects other things than values")
    if any(value.cascade_values for value in one.values):
        raise work.refused("values do not cascade")
    model = pysdmx()
    return model.CubeKeyValue(
        id=one.id,
        values=tuple(
            model.CubeValue(value.value, work.instant(value.valid_from), work.instant(value.valid_to))
            for value in one.values
        ),
        time_range=_time_range(one),
        valid_from=work.instant(one.valid_from),
        valid_to=work.instant(one.valid_to),
    )


def _time_range(one: MemberSelection) -> Any:
    found = one.time_range
    if found is None:
        return None
    return pysdmx().CubeTimeRange(
        before_period=_bound(found.before),
        after_period=_bound(found.after),
        start_period=_bound(found.start),
        end_period=_bound(found.end),
    )


def _bound(one: PeriodBound | None) -> Any:
    return None if one is None else pysdmx().TimePeriodBoundary(one.period, one.is_inclusive)


def _key_set(one: KeySet, work: Work) -> Any:
    return pysdmx().KeySet(keys=tuple(_key(key, work) for key in one.keys), is_included=one.is_included)


def _key(one: Region, work: Work) -> Any:
    parts = (*one.key_values, *one.components)
    if any(len(part.values) != 1 or part.time_range is not None for part in parts):
        raise work.refused("a key has one value for each component")
    return pysdmx().DataKey(
        keys_values=tuple(_key_value(part) for part in parts),
        valid_from=work.instant(one.valid_from),
        valid_to=work.instant(one.valid_to),
    )


def _key_value(one: MemberSelection) -> Any:
    return pysdmx().DataKeyValue(one.id, one.values[0].value)
