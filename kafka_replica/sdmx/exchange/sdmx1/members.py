"""The parts of constraints, in both directions: regions, selections, ranges of time, keys."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

from kafka_replica.sdmx.errors import NotExpressibleError
from kafka_replica.sdmx.exchange.sdmx1.basics import Edition, truth
from kafka_replica.sdmx.exchange.sdmx1.library import sdmx1
from kafka_replica.sdmx.model import KeySet, MemberSelection, PeriodBound, Region, SelectedValue, TimeRange
from kafka_replica.sdmx.urns.urn import Urn


def refused(urn: Urn, why: str) -> NotExpressibleError:
    """Return the error for content that would have another meaning in sdmx1."""
    return NotExpressibleError(f"converting {urn} to sdmx1: {why}, and the constraint would mean something else")


def region_to(one: Region, urn: Urn, edition: Edition) -> Any:
    """Convert a cube region."""
    region = sdmx1().common.CubeRegion(included=one.include)
    for component, selection in _selections(one):
        region.member[component] = _selection_to(selection, component, urn, edition)
    return region


def _selections(one: Region) -> list[tuple[Any, MemberSelection]]:
    common = sdmx1().common
    dimensions = [(common.Dimension(id=selection.id), selection) for selection in one.key_values]
    return dimensions + [(common.DataAttribute(id=selection.id), selection) for selection in one.components]


def _selection_to(one: MemberSelection, component: Any, urn: Urn, edition: Edition) -> Any:
    module = sdmx1().v21 if edition == "2.1" else sdmx1().v30
    if one.data_sets or one.data_keys or one.objects:
        raise refused(urn, f"{one.id} selects sets, keys or objects")
    values = [_value_to(value, module, urn) for value in one.values]
    if one.time_range is not None:
        values.append(_range_to(one.time_range, module))
    made = module.MemberSelection(values_for=component, included=one.include, values=values)
    if one.remove_prefix is not None and edition == "3.0":
        made.remove_prefix = one.remove_prefix
    return made


def _value_to(one: SelectedValue, module: Any, urn: Urn) -> Any:
    if one.cascade_values == "excluderoot":
        raise refused(urn, f"{one.value!r} cascades without its root")
    made = module.MemberValue(value=one.value, cascade_values=True if one.cascade_values else None)
    if module is sdmx1().v30:
        made.valid_from, made.valid_to = one.valid_from, one.valid_to
    return made


def _range_to(one: TimeRange, module: Any) -> Any:
    common = sdmx1().common
    if one.before is not None:
        return module.BeforePeriod(**_bound_to(one.before))
    if one.after is not None:
        return module.AfterPeriod(**_bound_to(one.after))
    start = None if one.start is None else common.StartPeriod(**_bound_to(one.start))
    end = None if one.end is None else common.EndPeriod(**_bound_to(one.end))
    return module.RangePeriod(start=start, end=end)


def _bound_to(one: PeriodBound) -> dict[str, Any]:
    return {"is_inclusive": one.is_inclusive, "period": _period(one.period)}


def _period(text: str) -> Any:
    """Return a date if the text round-trips as one, because sdmx1's writer needs a date; otherwise the text."""
    for kind in (date, datetime):
        try:
            found = kind.fromisoformat(text)
        except ValueError:
            continue
        if found.isoformat() == text:
            return found
    return text


def keys_to(keys: KeySet, urn: Urn, edition: Edition) -> Any:
    """Convert a key set of data."""
    module, common = (sdmx1().v21 if edition == "2.1" else sdmx1().v30), sdmx1().common
    made = module.DataKeySet(included=keys.is_included)
    for key in keys.keys:
        own = module.DataKey(included=key.include)
        if edition == "3.0":
            own.valid_from, own.valid_to = key.valid_from, key.valid_to
        for component, selection in _selections(key):
            if len(selection.values) != 1 or selection.time_range is not None:
                raise refused(urn, f"a key must have exactly one value for {selection.id}")
            own.key_value[component] = common.ComponentValue(value_for=component, value=selection.values[0].value)
        made.keys.append(own)
    return made


def region_from(obj: Any) -> Region:
    """Build a cube region."""
    found = [(_is_dimension(component), _selection_from(one)) for component, one in obj.member.items()]
    return Region(
        key_values=tuple(one for is_dimension, one in found if is_dimension),
        components=tuple(one for is_dimension, one in found if not is_dimension),
        include=truth(obj.included),
    )


def _is_dimension(component: Any) -> bool:
    return isinstance(component, sdmx1().common.DimensionComponent)


def _selection_from(obj: Any) -> MemberSelection:
    plain = [one for one in obj.values if hasattr(one, "value")]
    ranges = [one for one in obj.values if not hasattr(one, "value")]
    return MemberSelection(
        id=obj.values_for.id,
        values=tuple(_value_from(one) for one in plain),
        time_range=_range_from(ranges[0]) if ranges else None,
        include=truth(obj.included),
        remove_prefix=getattr(obj, "remove_prefix", None) or None,
    )


def _value_from(obj: Any) -> SelectedValue:
    return SelectedValue(
        value=obj.value,
        cascade_values="true" if obj.cascade_values else None,
        valid_from=getattr(obj, "valid_from", None),
        valid_to=getattr(obj, "valid_to", None),
    )


def _range_from(obj: Any) -> TimeRange:
    kind = type(obj).__name__
    if kind == "BeforePeriod":
        return TimeRange(before=_bound_from(obj))
    if kind == "AfterPeriod":
        return TimeRange(after=_bound_from(obj))
    return TimeRange(start=_bound_from(obj.start), end=_bound_from(obj.end))


def _bound_from(obj: Any) -> PeriodBound | None:
    if obj is None:
        return None
    period = obj.period if isinstance(obj.period, str) else obj.period.isoformat()
    return PeriodBound(period=period, is_inclusive=obj.is_inclusive)


def keys_from(obj: Any) -> KeySet:
    """Build a key set of data."""
    return KeySet(keys=tuple(_key_from(one) for one in obj.keys), is_included=truth(obj.included))


def _key_from(obj: Any) -> Region:
    found = [
        (_is_dimension(part), MemberSelection(id=part.id, values=(SelectedValue(value=str(one.value)),)))
        for part, one in obj.key_value.items()
    ]
    return Region(
        key_values=tuple(one for is_dimension, one in found if is_dimension),
        components=tuple(one for is_dimension, one in found if not is_dimension),
        include=truth(obj.included),
        valid_from=getattr(obj, "valid_from", None),
        valid_to=getattr(obj, "valid_to", None),
    )
