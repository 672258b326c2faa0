"""The parts of constraints, in both directions: regions, selections, ranges of time, keys."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

from kafka_replica.sdmx.errors import NotExpressibleError
from kafka_replica.sdmx.exchange.sdmx1.library import sdmx1
from kafka_replica.sdmx.exchange.sdmx1.shared_parts import Edition, truth
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


def _selections(region: Region) -> list[tuple[Any, MemberSelection]]:
    common = sdmx1().common
    dimensions = [(common.Dimension(id=selection.id), selection) for selection in region.key_values]
    return dimensions + [(common.DataAttribute(id=selection.id), selection) for selection in region.components]


def _selection_to(member_selection: MemberSelection, component: Any, urn: Urn, edition: Edition) -> Any:
    module = sdmx1().v21 if edition == "2.1" else sdmx1().v30
    if member_selection.data_sets or member_selection.data_keys or member_selection.objects:
        raise refused(urn, f"{member_selection.id} selects sets, keys or objects")
    values = [_value_to(value, module, urn) for value in member_selection.values]
    if member_selection.time_range is not None:
        values.append(_range_to(member_selection.time_range, module))
    made = module.MemberSelection(values_for=component, included=member_selection.include, values=values)
    if member_selection.remove_prefix is not None and edition == "3.0":
        made.remove_prefix = member_selection.remove_prefix
    return made


def _value_to(selected_value: SelectedValue, module: Any, urn: Urn) -> Any:
    if selected_value.cascade_values == "excluderoot":
        raise refused(urn, f"{selected_value.value!r} cascades without its root")
    made = module.MemberValue(
        value=selected_value.value, cascade_values=True if selected_value.cascade_values else None
    )
    if module is sdmx1().v30:
        made.valid_from, made.valid_to = selected_value.valid_from, selected_value.valid_to
    return made


def _range_to(time_range: TimeRange, module: Any) -> Any:
    common = sdmx1().common
    if time_range.before is not None:
        return module.BeforePeriod(**_bound_to(time_range.before))
    if time_range.after is not None:
        return module.AfterPeriod(**_bound_to(time_range.after))
    start = None if time_range.start is None else common.StartPeriod(**_bound_to(time_range.start))
    end = None if time_range.end is None else common.EndPeriod(**_bound_to(time_range.end))
    return module.RangePeriod(start=start, end=end)


def _bound_to(period_bound: PeriodBound) -> dict[str, Any]:
    return {"is_inclusive": period_bound.is_inclusive, "period": _period(period_bound.period)}


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
    found = [(_is_dimension(component), _selection_from(member)) for component, member in obj.member.items()]
    return Region(
        key_values=tuple(one for is_dimension, one in found if is_dimension),
        components=tuple(one for is_dimension, one in found if not is_dimension),
        include=truth(obj.included),
    )


def _is_dimension(component: Any) -> bool:
    return isinstance(component, sdmx1().common.DimensionComponent)


def _selection_from(obj: Any) -> MemberSelection:
    plain = [value for value in obj.values if hasattr(value, "value")]
    ranges = [value for value in obj.values if not hasattr(value, "value")]
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
    return KeySet(keys=tuple(_key_from(key) for key in obj.keys), is_included=truth(obj.included))


def _key_from(obj: Any) -> Region:
    found = [
        (_is_dimension(part), MemberSelection(id=part.id, values=(SelectedValue(value=str(key_value.value)),)))
        for part, key_value in obj.key_value.items()
    ]
    return Region(
        key_values=tuple(one for is_dimension, one in found if is_dimension),
        components=tuple(one for is_dimension, one in found if not is_dimension),
        include=truth(obj.included),
        valid_from=getattr(obj, "valid_from", None),
        valid_to=getattr(obj, "valid_to", None),
    )
