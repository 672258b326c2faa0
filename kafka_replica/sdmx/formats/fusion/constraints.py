"""Data constraints of Fusion-JSON: cubes as tables of values, keys as rows."""

from __future__ import annotations

from kafka_replica.common.wording import counted
from kafka_replica.sdmx.containers import parts_of, stored_parts
from kafka_replica.sdmx.errors import MessageError, UnwritableError
from kafka_replica.sdmx.formats.fusion.values import Wire, WireMaintainable, read_maintained, write_maintained
from kafka_replica.sdmx.formats.json_shared.values import Json, obj, read_references, true, write_urns
from kafka_replica.sdmx.model import (
    ConstraintAttachment,
    DataConstraint,
    KeySet,
    MemberSelection,
    Region,
    SelectedValue,
)
from kafka_replica.sdmx.urns.urn import Urn


class WireSelection(Wire, gc=False, forbid_unknown_fields=True):
    """The values of one component; the values in ``cascade`` include their children."""

    values: list[str] | None = None
    cascade: list[str] | None = None
    remove_prefix: bool | None = None


class WireSeries(Wire, gc=False, forbid_unknown_fields=True):
    """Keys as a table: its columns (dimensions, then other components) and rows."""

    dims: list[str] | None = None
    comps: list[str] | None = None
    rows: list[list[str | None]] | None = None


class WireConstraint(WireMaintainable, gc=False):
    """A data constraint; ``type`` is redundant and left out."""

    defining_data_present: bool | None = None
    type: str | None = None
    attachments: list[str] | None = None
    include_cube: dict[str, WireSelection] | None = None
    exclude_cube: dict[str, WireSelection] | None = None
    include_series: WireSeries | None = None
    exclude_series: WireSeries | None = None


def read_data_constraint(urn: Urn, wire: WireConstraint) -> DataConstraint:
    """Build a DataConstraint."""
    base = read_maintained(wire)
    cubes = [
        Region(key_values=tuple(_read_selection(id_, value) for id_, value in cube.items()), include=include)
        for cube, include in ((wire.include_cube, True), (wire.exclude_cube, False))
        if cube
    ]
    series = [
        KeySet(keys=tuple(_read_keys(urn, one)), is_included=included)
        for one, included in ((wire.include_series, True), (wire.exclude_series, False))
        if one and one.rows
    ]
    stub = base["is_external_reference"] and not (cubes or series)
    attached = ConstraintAttachment(references=read_references(wire.attachments, urn)) if wire.attachments else None
    return DataConstraint(
        urn=urn,
        role=_read_role(wire.defining_data_present),
        attachment=attached,
        cube_regions=parts_of(urn, cubes, is_stub=stub),
        key_sets=parts_of(urn, series, is_stub=stub),
        **base,
    )


def _read_role(present: bool | None) -> str | None:
    return None if present is None else "Actual" if present else "Allowed"


def _read_selection(id_: str, wire: WireSelection) -> MemberSelection:
    # The same registries leave removePrefix out of other formats if it is false.
    cascaded = dict.fromkeys(wire.cascade or ())
    listed = frozenset(wire.values or ())
    values = (
        SelectedValue(value=value, cascade_values="true" if value in cascaded else None)
        for value in (*(wire.values or ()), *(value for value in cascaded if value not in listed))
    )
    return MemberSelection(id=id_, values=tuple(values), remove_prefix=wire.remove_prefix or None)


def _read_keys(urn: Urn, wire: WireSeries) -> list[Region]:
    dims, comps = wire.dims or [], wire.comps or []
    keys = []
    for row in wire.rows or ():
        if len(row) not in {len(dims), len(dims) + len(comps)}:
            held, wanted = counted(len(row), "value"), counted(len(dims), "dimension")
            raise MessageError(f"reading {urn}: a row of its series has {held} for {wanted}")
        found = [
            MemberSelection(id=id_, values=(SelectedValue(value=value),))
            for id_, value in zip((*dims, *comps), row, strict=False)
            if value is not None
        ]
        in_key = sum(value is not None for value in row[: len(dims)])
        keys.append(Region(key_values=tuple(found[:in_key]), components=tuple(found[in_key:])))
    return keys


def write_data_constraint(data_constraint: DataConstraint) -> Json:
    """Write a data constraint: cubes as tables of values, keys as rows."""
    if data_constraint.role not in {None, "Actual", "Allowed"}:
        raise UnwritableError(f"Fusion-JSON cannot represent the role {data_constraint.role!r} of a constraint")
    cubes = {region.include: region for region in stored_parts(data_constraint.cube_regions)}
    series = {keys.is_included: keys for keys in stored_parts(data_constraint.key_sets)}
    if len(cubes) != len(stored_parts(data_constraint.cube_regions)) or len(series) != len(
        stored_parts(data_constraint.key_sets)
    ):
        raise UnwritableError("Fusion-JSON has a place for one region and one key set of each kind")
    found = {
        name: {each.id: _write_selection(each) for each in (*region.key_values, *region.components)}
        for name, region in (("includeCube", cubes.get(True)), ("excludeCube", cubes.get(False)))
        if region is not None
    }
    rows = {
        name: _write_series(keys)
        for name, keys in (("includeSeries", series.get(True)), ("excludeSeries", series.get(False)))
        if keys is not None
    }
    references = data_constraint.attachment.references if data_constraint.attachment else ()
    return obj(
        write_maintained(data_constraint),
        found,
        rows,
        type=_write_kind(is_cube=bool(found), is_series=bool(rows)),
        definingDataPresent=None if data_constraint.role is None else data_constraint.role == "Actual",
        attachments=write_urns(references),
    )


def _write_kind(*, is_cube: bool, is_series: bool) -> str | None:
    """Return the type by which the registry distinguishes constraints of regions from constraints of series."""
    if is_cube is is_series:
        return None
    return "CubeRegionConstraint" if is_cube else "SeriesConstraint"


def _write_selection(member_selection: MemberSelection) -> Json:
    return obj(
        {"values": [value.value for value in member_selection.values]},
        cascade=[value.value for value in member_selection.values if value.cascade_values is not None],
        removePrefix=true(bool(member_selection.remove_prefix)),
    )


def _write_series(key_set: KeySet) -> Json:
    dims = list(dict.fromkeys(each.id for key in key_set.keys for each in key.key_values))
    comps = list(dict.fromkeys(each.id for key in key_set.keys for each in key.components))
    rows = []
    for key in key_set.keys:
        values = {each.id: _write_single(each) for each in (*key.key_values, *key.components)}
        rows.append([values.get(id_) for id_ in (*dims, *comps)])
    return {"dims": dims, "comps": comps, "rows": rows}


def _write_single(member_selection: MemberSelection) -> str:
    if len(member_selection.values) != 1:
        raise UnwritableError(f"Fusion-JSON has a place for one value of {member_selection.id} in a key")
    return member_selection.values[0].value
