"""Data constraints of Fusion-JSON: their structs, and their conversion to the model."""

from __future__ import annotations

from kafka_replica.common.wording import counted
from kafka_replica.sdmx.containers import parts_of
from kafka_replica.sdmx.errors import MessageError
from kafka_replica.sdmx.formats.fusion.common import maintained
from kafka_replica.sdmx.formats.fusion.wire import Wire, WireMaintainable
from kafka_replica.sdmx.formats.json_shared.values import references
from kafka_replica.sdmx.model import (
    ConstraintAttachment,
    DataConstraint,
    KeySet,
    MemberSelection,
    Region,
    SelectedValue,
)
from kafka_replica.sdmx.urn import Urn


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


def data_constraint(urn: Urn, wire: WireConstraint) -> DataConstraint:
    """Build a DataConstraint."""
    base = maintained(wire)
    cubes = [
        Region(key_values=tuple(_selection(id_, one) for id_, one in cube.items()), include=include)
        for cube, include in ((wire.include_cube, True), (wire.exclude_cube, False))
        if cube
    ]
    series = [
        KeySet(keys=tuple(_keys(urn, one)), is_included=included)
        for one, included in ((wire.include_series, True), (wire.exclude_series, False))
        if one and one.rows
    ]
    stub = base["is_external_reference"] and not (cubes or series)
    attached = ConstraintAttachment(references=references(wire.attachments, urn)) if wire.attachments else None
    return DataConstraint(
        urn=urn,
        role=_role(wire.defining_data_present),
        attachment=attached,
        cube_regions=parts_of(urn, cubes, is_stub=stub),
        key_sets=parts_of(urn, series, is_stub=stub),
        **base,
    )


def _role(present: bool | None) -> str | None:
    return None if present is None else "Actual" if present else "Allowed"


def _selection(id_: str, wire: WireSelection) -> MemberSelection:
    # The same registries leave removePrefix out of other formats if it is false.
    cascaded = frozenset(wire.cascade or ())
    values = (
        SelectedValue(value=value, cascade_values="true" if value in cascaded else None) for value in wire.values or ()
    )
    return MemberSelection(id=id_, values=tuple(values), remove_prefix=wire.remove_prefix or None)


def _keys(urn: Urn, wire: WireSeries) -> list[Region]:
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
