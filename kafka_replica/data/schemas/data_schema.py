"""Generate the schema of structure-specific data messages, with a complex type for each part of a data set."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import date
from typing import Literal

from kafka_replica.data.schemas.attachment import Attachment, attributes_by_part
from kafka_replica.data.schemas.explicit_measures import ExplicitMeasures, measure_dimension, primary_measures
from kafka_replica.data.schemas.schema_document import (
    ANNOTATIONS,
    ANY_LOCAL,
    PROVIDER,
    SchemaVersion,
    attribute,
    complex_value,
    element,
    enumerated_ids,
    fixed_id,
    metadata_element,
    restriction,
    schema_document,
)
from kafka_replica.data.schemas.simple_types import TIME_PERIOD, SimpleTypes, ValueType, is_name_in_xml, name_in_xml
from kafka_replica.data.schemas.type_names import FIXED_NAMES, comp_name, possible_names
from kafka_replica.data.schemas.xsd_types import OBSERVATIONAL
from kafka_replica.errors import UsageError
from kafka_replica.sdmx import AttributeRelationship, EffectiveComponent, ResolvedStructure, UnwritableError

ALL_DIMENSIONS = "AllDimensions"
_START_DAY = "REPORTING_YEAR_START_DAY"
_OBS_VALUE = "OBS_VALUE"
_GROUP_IDS = "GroupType.ID"
_TYPE = "type"


def data_schema(
    resolved: ResolvedStructure,
    *,
    version: SchemaVersion = "3.0",
    dimension_at_observation: str | None = None,
    complete: bool = False,
    deletion: bool = False,
    explicit: bool = False,
    as_of: date | None = None,
    schema_location: str = "",
) -> bytes:
    """Return the XML schema of the structure-specific data messages of a structure, dataflow or provision agreement.

    Only codes that the constraints allow are valid. The target namespace is the URN of the artefact with the dimension
    at the observation, as in the standard's samples. Attributes and measures are optional, as the standard requires,
    because a message may update a part of the data.

    Args:
        resolved: the result of ``Structures.resolve``.
        version: the version of SDMX-ML.
        dimension_at_observation: a dimension, or ``AllDimensions``; None means the measure dimension if measures are
            explicit, or else the time dimension, or ``AllDimensions`` without a time dimension.
        complete: whether mandatory attributes and measures are required, as in the validation of complete data. In 3.x
            this applies only to those of observations, because others may be in an element Atts.
        deletion: whether values of dimensions are optional, because a message that deletes may leave them out (3.x).
        explicit: whether each measure of a measure dimension has an observation type of its own (2.1). As the standard
            requires, this is ignored if the structure has no measure dimension, or if another dimension is at the
            observation.
        as_of: the date on which constraints must be valid; None means today in UTC.
        schema_location: the prefix of the standard's file names in ``schemaLocation``; a path must end with ``/``.

    Raises:
        UnwritableError: messages of this version cannot represent data of this structure, or explicit measures.
        UsageError: the structure does not have the dimension.

    Source: SDMX 2.1 Section 3A and SDMX 3.0 Section 3, "Structure Specific"; SDMXDataStructureSpecific.xsd.
    """
    measures = measure_dimension(resolved) if explicit else None
    chosen = dimension_at_observation or _default_at_observation(resolved, measures)
    _check_at_observation(resolved, chosen)
    measured = measures.id if measures is not None and chosen in {ALL_DIMENSIONS, measures.id} else None
    if measured is not None:
        _check_explicit_measures(resolved, measured, version)
    types = _DataSchemaTypes(resolved, version, None if chosen == ALL_DIMENSIONS else chosen, measured, as_of)
    types.complete, types.deletion = complete, deletion and version != "2.1"
    ending = "" if measured is None else ":explicit"
    return schema_document(version, f"{resolved.urn}:ObsLevelDim:{chosen}{ending}", schema_location, types.text())


def _default_at_observation(resolved: ResolvedStructure, measures: EffectiveComponent | None) -> str:
    """Return the dimension at the observation if the caller names none; ``measures`` is the measure dimension."""
    time = resolved.data_structure.time_dimension
    return next((one.id for one in (measures, time) if one is not None), ALL_DIMENSIONS)


def _check_at_observation(resolved: ResolvedStructure, chosen: str) -> None:
    """Raise UsageError if the structure does not have the dimension."""
    dimensions = [dimension.id for dimension in resolved.dimensions]
    if chosen not in {ALL_DIMENSIONS, *dimensions}:
        raise UsageError(
            f"generating the schema of {resolved.urn}: {chosen} is not one of its dimensions, {', '.join(dimensions)}; "
            f"all of them are {ALL_DIMENSIONS}"
        )


def _check_explicit_measures(resolved: ResolvedStructure, measured: str, version: SchemaVersion) -> None:
    """Raise UnwritableError if messages of the version cannot have explicit measures."""
    if version != "2.1":
        raise UnwritableError(
            f"messages of SDMX-ML {version} have no explicit measures, as {measured} of {resolved.urn} can have in "
            "2.1; generate the schema of version 2.1, or without explicit measures"
        )


def _is_possible(id_: str) -> bool:
    """Return whether messages can have a component of this id; ``type`` is the attribute of their own parts."""
    return id_ != _TYPE and is_name_in_xml(id_)


class _DataSchemaTypes:
    """The types of one schema."""

    complete = False
    deletion = False

    def __init__(
        self,
        resolved: ResolvedStructure,
        version: SchemaVersion,
        at_observation: str | None,
        measured: str | None,
        as_of: date | None,
    ) -> None:
        self._urn, self._at_observation = resolved.urn, at_observation
        self._version: SchemaVersion = version
        self._is_3 = version != "2.1"
        self._groups = resolved.data_structure.groups
        components = resolved.used_components.values()
        self._types = SimpleTypes(is_3=self._is_3, as_of=as_of, taken=possible_names(resolved))
        self._measured = measured
        grouped = {id_ for group in self._groups.values() for id_ in group.dimensions}
        self._dimensions = {
            dimension.id: self._types.value_type(dimension)
            for dimension in resolved.dimensions
            if dimension.id != self._measured or dimension.id in grouped
        }
        measures = (each for each in components if each.kind == "measure")
        self._measures = [
            self._types.value_type(measure) for measure in (measures if self._is_3 else primary_measures(resolved))
        ]
        self._explicit = None if measured is None else ExplicitMeasures(resolved, self._types, as_of)
        described = [
            *((None, component) for component in components if component.kind == "attribute"),
            *resolved.metadata_attributes.items(),
        ]
        # Metadata attributes without a relationship may be at any level, but 2.1 has none in data. Those that the data
        # structure does not name are left out if messages cannot contain them.
        relationships: list[tuple[ValueType, AttributeRelationship | None]] = [
            (self._types.value_type(one, id_), one.relationship)
            for id_, one in described
            if one.relationship is not None or (self._is_3 and _is_possible(id_ or one.id))
        ]
        self._attached: Attachment = attributes_by_part(relationships, self._groups, at_observation)
        self._all = [*self._dimensions.values(), *self._measures, *(one for one, _ in relationships)]
        self._comp_names = {
            **{measure.id: comp_name(measure.id, "MEASURE") for measure in self._measures},
            **{one.id: comp_name(one.id, "ATTRIBUTE") for one, _ in relationships},
        }
        self._time_series = version == "2.1" and at_observation == TIME_PERIOD
        self._check()

    def text(self) -> Iterator[str]:
        """Yield the definitions of all types."""
        yield from self._types.definitions
        if self._is_3:
            yield from (complex_value(self._comp_names[one.id], one) for one in self._all if self._has_comp(one))
            yield self._attributes_type()
        yield from self._group_types()
        if self._at_observation is not None:
            yield self._series_type()
        yield self._observation_type()
        if self._explicit is not None:
            yield from self._explicit.definitions(required=self.complete)
        yield self._data_set_type()

    def _check(self) -> None:
        """Raise UnwritableError if messages of the version cannot represent a component, or names are not unique."""
        if not self._is_3:
            strange = [measure.id for measure in self._measures if measure.id != _OBS_VALUE]
            strange += [one.id for one in self._all if not one.is_attribute]
            if strange:
                raise UnwritableError(
                    f"SDMX-ML 2.1 cannot represent {', '.join(dict.fromkeys(strange))} of {self._urn}: its only "
                    "measure is OBS_VALUE, and a value is a single text; generate the schema of version 3.0"
                )
        names = [name_in_xml(group, "group") for group in self._groups]
        names += [self._comp_names[one.id] for one in self._all if self._has_comp(one)]
        names += FIXED_NAMES
        names += [] if self._explicit is None else self._explicit.types
        counts = {
            **Counter(names),
            **{f"component {id_}": n for id_, n in Counter(one.id for one in self._all).items()},
        }
        twice = [name for name, count in counts.items() if count > 1]
        if twice or any(one.id == _TYPE for one in self._all):
            raise UnwritableError(
                f"structure-specific messages of {self._urn} are ambiguous: {', '.join(twice) or 'type'} also names "
                "another component"
            )

    def _has_comp(self, value: ValueType) -> bool:
        return self._is_3 and value.is_complex and value.id not in self._dimensions

    def _elements(self, values: Iterable[ValueType], *others: str) -> list[str]:
        comps = [element("Comp", "dsd:CompType")] if any(self._has_comp(value) for value in values) else []
        return [ANNOTATIONS, *comps, *others, metadata_element(self._version)]

    def _keys(self, ids: Iterable[str], use: Literal["required", "optional"] = "required") -> Iterator[str]:
        wanted = "optional" if self.deletion else use
        yield from (attribute(id_, self._dimensions[id_].type, wanted) for id_ in ids if id_ in self._dimensions)

    def _values(self, values: Iterable[ValueType], *, of_observations: bool = False) -> Iterator[str]:
        for value in values:
            if not value.is_attribute:
                continue
            required = self.complete and value.is_mandatory and not self._has_comp(value)
            required = required and (of_observations or not self._is_3)
            yield attribute(value.id, value.type, "required" if required else "optional")

    def _unused(self, used: Iterable[str], *, time: bool = False) -> Iterator[str]:
        """Yield prohibitions of the attributes that the base types declare, but that this part does not have."""
        has = set(used)
        if not self._is_3 and _START_DAY not in has:
            yield attribute(_START_DAY, "xs:gMonthDay", "prohibited")
        if time and TIME_PERIOD not in has:
            yield attribute(TIME_PERIOD, OBSERVATIONAL, "prohibited")

    def _attributes_type(self) -> str:
        """Return the type of the element Atts, whose values belong to the data set or to some dimensions (3.x)."""
        # Without series, the attributes of observations are among these, too.
        of_observations = self._attached.of_dimensions if self._at_observation else self._attached.observations
        values = list(dict.fromkeys([*self._attached.data_set, *self._attached.series, *of_observations]))
        comps = [element("Comp", "dsd:CompType")] if any(self._has_comp(value) for value in values) else []
        given = [*self._keys(self._dimensions, "optional"), *self._values(values)]
        return restriction("AttsType", "dsd:AttsType", [ANNOTATIONS, *comps], [*given, *self._time_if_unused()])

    def _time_if_unused(self) -> list[str]:
        return [] if TIME_PERIOD in self._names() else [attribute(TIME_PERIOD, OBSERVATIONAL, "prohibited")]

    def _names(self) -> set[str]:
        return {one.id for one in self._all}

    def _group_types(self) -> Iterator[str]:
        several = len(self._groups) > 1
        ids = _GROUP_IDS if several else "common:IDType"
        if several:
            start = [] if self._is_3 else [attribute(_START_DAY, "xs:gMonthDay", "optional")]
            attributes = [attribute("type", ids, "optional"), *start, ANY_LOCAL]
            yield enumerated_ids(ids, self._groups)
            yield restriction(
                "GroupType", "dsd:GroupType", self._elements(self._all), attributes, abstract=' abstract="true"'
            )
        for id_, group in self._groups.items():
            values = self._attached.groups[id_]
            own = [*self._keys(group.dimensions), *self._values(values)]
            fixed = fixed_id("type", ids, id_)
            unused = self._unused([*group.dimensions, *(value.id for value in values)])
            base = "GroupType" if several else "dsd:GroupType"
            yield restriction(id_, base, self._elements(values), [*own, fixed, *unused])

    def _series_type(self) -> str:
        values = self._attached.series
        keys = [dimension for dimension in self._dimensions if dimension != self._at_observation]
        comps, last = self._elements(values)[1:-1], metadata_element(self._version)
        return restriction(
            "SeriesType",
            "dsd:TimeSeriesType" if self._time_series else "dsd:SeriesType",
            [ANNOTATIONS, *comps, element("Obs", "ObsType"), last],
            [*self._keys(keys), *self._values(values),
             *self._unused([*keys, *(value.id for value in values)], time=not self._time_series)],
        )  # fmt: skip

    def _observation_type(self) -> str:
        measures = self._measures if self._explicit is None else [self._explicit.widest]
        values = [*self._attached.observations, *measures]
        keys = list(self._dimensions) if self._at_observation is None else [self._at_observation]
        keys = [id_ for id_ in keys if id_ != self._measured]
        used = [*keys, *(value.id for value in values)]
        prohibited = [
            attribute("type", "common:IDType", "prohibited")
            if self._explicit is None
            else self._explicit.id_attribute()
        ]
        if not self._is_3 and _OBS_VALUE not in used:
            prohibited.append(attribute(_OBS_VALUE, "xs:anySimpleType", "prohibited"))
        return restriction(
            "ObsType",
            "dsd:TimeSeriesObsType" if self._time_series else "dsd:ObsType",
            self._elements(values),
            [*self._keys(keys), *self._values(values, of_observations=True), *prohibited,
             *self._unused(used, time=not self._time_series)],
            abstract="" if self._explicit is None else ' abstract="true"',
        )  # fmt: skip

    def _data_set_type(self) -> str:
        values = self._attached.data_set
        main, type_ = ("Obs", "ObsType") if self._at_observation is None else ("Series", "SeriesType")
        group = [] if not self._groups else ["GroupType" if len(self._groups) > 1 else next(iter(self._groups))]
        if self._is_3:
            choice = [element("Atts", "AttsType", ""), *(element("Group", one, "") for one in group)]
            inside = "".join([*choice, element(main, type_, "")])
            content = [f'<xs:choice minOccurs="0" maxOccurs="unbounded">{inside}</xs:choice>']
        else:
            only = element(main, type_, ' maxOccurs="unbounded"')
            content = [*(element("Group", one) for one in group), f'<xs:choice minOccurs="0">{only}</xs:choice>']
        return restriction(
            "DataSetType",
            "dsd:TimeSeriesDataSetType" if self._time_series else "dsd:DataSetType",
            [ANNOTATIONS, PROVIDER, *content, metadata_element(self._version)],
            [*self._values(values), *self._unused(value.id for value in values)],
        )
