"""Read constraints of SDMX-JSON."""

from __future__ import annotations

from itertools import chain
from typing import Final

from kafka_replica.sdmx.formats.json_shared.values import fail, read_reference, read_references
from kafka_replica.sdmx.formats.sdmx_json.constraints.wire import (
    WireAttachment,
    WireAvailability,
    WireBound,
    WireConstraint,
    WireKeySet,
    WirePeriod,
    WireRange,
    WireRegion,
    WireSelection,
    WireSet,
    WireValue,
)
from kafka_replica.sdmx.formats.sdmx_json.items import parts
from kafka_replica.sdmx.formats.sdmx_json.values.reading import Context
from kafka_replica.sdmx.model import (
    AttachmentConstraint,
    AvailabilityConstraint,
    Constraint,
    ConstraintAttachment,
    ContentConstraint,
    DataConstraint,
    KeySet,
    MemberSelection,
    MetadataConstraint,
    PeriodBound,
    QueryableDataSource,
    Region,
    ReleaseCalendar,
    SelectedValue,
    SetReference,
    TimeRange,
)
from kafka_replica.sdmx.urns.urn import Urn

_ROLES: Final = {"allowed": "Allowed", "actual": "Actual"}  # registries write them in lower case

_KINDS: Final[dict[str, type[Constraint]]] = {
    kind.__name__: kind for kind in (DataConstraint, ContentConstraint, MetadataConstraint, AttachmentConstraint)
}


def read_constraint(urn: Urn, wire: WireConstraint, context: Context) -> Constraint:
    """Build a constraint of any class."""
    maker = _Maker(urn, context)
    period, calendar = wire.reference_period, wire.release_calendar
    return _KINDS[urn.cls](
        urn=urn,
        role=_role(wire.role or wire.type),
        attachment=maker.attachment(wire.constraint_attachment) if wire.constraint_attachment else None,
        cube_regions=parts(urn, wire, (maker.region(cube_region) for cube_region in wire.cube_regions or ())),
        key_sets=parts(urn, wire, (maker.key_set(data_key_set) for data_key_set in wire.data_key_sets or ())),
        metadata_key_sets=parts(
            urn, wire, (maker.key_set(metadata_key_set) for metadata_key_set in wire.metadata_key_sets or ())
        ),
        metadata_target_regions=parts(
            urn,
            wire,
            (maker.region(metadata_target_region) for metadata_target_region in wire.metadata_target_regions or ()),
        ),
        release_calendar=ReleaseCalendar(
            periodicity=calendar.periodicity, offset=calendar.offset, tolerance=calendar.tolerance
        )
        if calendar
        else None,
        reference_period=maker.period(period) if period else None,
        **context.maintained(wire),
    )


def _role(written: str | None) -> str | None:
    return None if written is None else _ROLES.get(written.lower(), written)


def read_availability_constraint(wire: WireAvailability, context: Context) -> AvailabilityConstraint:
    """Build an AvailabilityConstraint, which has no URN."""
    maker = _Maker("an availability constraint", context)
    return AvailabilityConstraint(
        attachment=maker.attachment(wire.constraint_attachment) if wire.constraint_attachment else None,
        cube_regions=(maker.region(wire.cube_region),) if wire.cube_region else (),
        series_count=wire.series_count,
        obs_count=wire.obs_count,
        annotations=context.annotated(wire).get("annotations", ()),
    )


def read_region(urn: Urn, wire: WireRegion, context: Context) -> Region:
    """Build a region or a key of the artefact with that URN. Raises MessageError."""
    return _Maker(urn, context).region(wire)


def read_set_reference(urn: Urn, wire: WireSet, context: Context) -> SetReference:
    """Build a reference to a data set. Raises MessageError."""
    return _Maker(urn, context).set_reference(wire)


class _Maker:
    """A builder for the parts of one constraint."""

    def __init__(self, urn: Urn | str, context: Context) -> None:
        self.urn, self.context = urn, context

    def period(self, wire: WirePeriod) -> tuple[str, str]:
        if wire.start_time is None or wire.end_time is None:
            fail(self.urn, "its reference period has no startTime or no endTime")
        return wire.start_time, wire.end_time

    def region(self, wire: WireRegion) -> Region:
        included = wire.is_included if wire.include is None else wire.include
        return Region(
            key_values=tuple(self._selection(key_value) for key_value in wire.key_values or ()),
            components=tuple(
                self._selection(component) for component in chain(wire.components or (), wire.attributes or ())
            ),
            include=included is not False,
            valid_from=wire.valid_from,
            valid_to=wire.valid_to,
            annotations=tuple(self.context.annotation(annotation) for annotation in wire.annotations or ()),
            report=wire.report,
            metadata_target=wire.metadata_target,
        )

    def key_set(self, wire: WireKeySet) -> KeySet:
        included = wire.include if wire.is_included is None else wire.is_included
        return KeySet(keys=tuple(self.region(key) for key in wire.keys or ()), is_included=included is not False)

    def _selection(self, wire: WireSelection) -> MemberSelection:
        if wire.id is None:
            fail(self.urn, "a selection of values names no component")
        values: list[WireValue | str] = list(wire.values or ())
        if wire.value is not None:
            values.append(wire.value)
        data_keys = [*(wire.data_keys or ()), *([wire.data_key] if wire.data_key else [])]
        data_sets = [*(wire.data_sets or ()), *([wire.data_set] if wire.data_set else [])]
        return MemberSelection(
            id=wire.id,
            values=(
                *(self._value(value) for value in values),
                *(
                    SelectedValue(value=cascade_value, cascade_values="true")
                    for cascade_value in wire.cascade_values or ()
                ),
            ),
            time_range=self._range(wire.time_range) if wire.time_range else None,
            include=wire.include is not False,
            remove_prefix=wire.remove_prefix,
            valid_from=wire.valid_from,
            valid_to=wire.valid_to,
            data_sets=tuple(self.set_reference(data_set) for data_set in data_sets),
            data_keys=tuple(self.region(data_key) for data_key in data_keys),
            objects=read_references([*(wire.objects or ()), *([wire.object] if wire.object else [])], self.urn),
        )

    def attachment(self, wire: WireAttachment) -> ConstraintAttachment:
        metadata_sets = [*([wire.metadata_set] if wire.metadata_set else []), *(wire.metadata_sets or ())]
        data_sets = [*([wire.data_set] if wire.data_set else []), *(wire.data_sets or ())]
        written = (
            [one for one in (wire.data_provider, wire.metadata_provider) if one],
            [one for one in (wire.data_structure, wire.dataflow, wire.provision_agreement) if one],
            [metadata_set for metadata_set in metadata_sets if isinstance(metadata_set, str)],
            wire.data_structures,
            wire.metadata_structures,
            wire.dataflows,
            wire.metadataflows,
            wire.provision_agreements,
            wire.metadata_provision_agreements,
        )
        simple = [*([wire.simple_data_source] if wire.simple_data_source else []), *(wire.simple_data_sources or ())]
        return ConstraintAttachment(
            references=read_references([text for texts in written for text in texts or ()], self.urn),
            data_sets=tuple(self.set_reference(data_set) for data_set in data_sets),
            metadata_sets=tuple(
                self.set_reference(metadata_set) for metadata_set in metadata_sets if isinstance(metadata_set, WireSet)
            ),
            simple_data_sources=tuple(simple),
            queryable_data_sources=tuple(
                QueryableDataSource(
                    data_url=queryable_data_source.data_url or fail(self.urn, "a queryable data source has no dataURL"),
                    wsdl_url=queryable_data_source.wsdl_url,
                    wadl_url=queryable_data_source.wadl_url,
                    is_rest=bool(queryable_data_source.is_rest),
                    is_web_service=bool(queryable_data_source.is_web_service),
                )
                for queryable_data_source in wire.queryable_data_sources or ()
            ),
        )

    def set_reference(self, wire: WireSet) -> SetReference:
        provider = read_reference(wire.data_provider, self.urn)
        if provider is None or wire.id is None:
            fail(self.urn, "a reference to a data set needs a provider and an id")
        return SetReference(provider=provider, id=wire.id)

    def _value(self, wire: WireValue | str) -> SelectedValue:
        if isinstance(wire, str):
            return SelectedValue(value=wire)
        if wire.value is None:
            fail(self.urn, "a selected value is missing")
        cascade = str(wire.cascade_values).lower() if wire.cascade_values else None
        return SelectedValue(
            value=wire.value,
            cascade_values=None if cascade == "false" else cascade,
            language=wire.lang,
            valid_from=wire.valid_from,
            valid_to=wire.valid_to,
        )

    def _range(self, wire: WireRange) -> TimeRange:
        return TimeRange(
            before=self._bound(wire.before_period),
            after=self._bound(wire.after_period),
            start=self._bound(wire.start_period),
            end=self._bound(wire.end_period),
            valid_from=wire.valid_from,
            valid_to=wire.valid_to,
        )

    def _bound(self, wire: WireBound | None) -> PeriodBound | None:
        if wire is None:
            return None
        if wire.period is None:
            fail(self.urn, "a range of time has an end without a period")
        return PeriodBound(period=wire.period, is_inclusive=wire.is_inclusive is not False)
