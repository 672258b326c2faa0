"""The kit's checks of XML schemas of data, in its order; the first reason is the one that it reports.

Source: SchemasSemanticChecker.js. Rules that the kit has, but that the registry has no case for, are left out: data
structures without a time dimension, and with the attribute REPORTING_YEAR_START_DAY.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from support.conformance.data_structure import Component, DataStructure
from support.conformance.schema_document import ComplexType, SchemaDocument

TIME: Final = "TIME_PERIOD"
ALL: Final = "AllDimensions"
_START_DAY: Final = "REPORTING_YEAR_START_DAY"
_ANNOTATIONS: Final = {"ref": "common:Annotations", "minOccurs": "0"}
_PROVIDER: Final = {
    "name": "DataProvider", "type": "common:DataProviderReferenceType", "minOccurs": "0", "form": "unqualified",
}  # fmt: skip
_MANY: Final = {"maxOccurs": "unbounded", "form": "unqualified"}
_ID: Final = "common:IDType"
_TYPES: Final = {
    "String": "xs:string", "Integer": "xs:int", "Decimal": "xs:decimal", "Double": "xs:double",
    "ObservationalTimePeriod": "common:ObservationalTimePeriodType",
}  # fmt: skip
"""The types for the text types that the registry has."""
_FACETS: Final = {
    "minLength": "minLength", "maxLength": "maxLength", "minValue": "minInclusive", "maxValue": "maxInclusive",
    "decimals": "fractionDigits", "pattern": "pattern",
}  # fmt: skip


class Expected(NamedTuple):
    """The properties with which a schema is compared.

    Attributes:
        structure: the data structure.
        at_observation: the dimension at the observation, or ``AllDimensions``.
        measures: the text type of each measure concept, by id, if measures are explicit; otherwise None.
        constrained: the values that a constraint allows, by component.
    """

    structure: DataStructure
    at_observation: str
    measures: dict[str, str] | None
    constrained: dict[str, set[str]]

    @property
    def is_time_series(self) -> bool:
        """True if the time dimension is at the observation."""
        return self.at_observation == TIME


def failures(expected: Expected, schema: SchemaDocument) -> Iterator[str]:
    """Yield the reasons for which the kit rejects a schema."""
    if any(not value.is_restriction for value in schema.simple.values()):
        yield "a simple type is no restriction"
    needed = ("DataSetType", "ObsType", *(() if expected.at_observation == ALL else ("SeriesType",)))
    lacking = [name for name in needed if name not in schema.complex]
    if lacking:
        yield f"no type {', '.join(lacking)}"
        return
    yield from _simple_types(expected, schema)
    yield from _data_set(expected, schema.complex["DataSetType"], schema)
    if expected.at_observation != ALL:
        yield from _series(expected, schema.complex["SeriesType"], schema)
    yield from _groups(expected, schema)
    if expected.measures is not None:
        yield from _measures(expected, expected.measures, schema)
    yield from _observation(expected, schema.complex["ObsType"], schema)
    yield from _placement(expected, schema)


def _simple_types(expected: Expected, schema: SchemaDocument) -> Iterator[str]:
    with_facets = [component for component in expected.structure.components if component.facets]
    if sum(bool(each.facets) for each in schema.simple.values()) > len(with_facets):
        yield "more simple types with facets than components"
    for facet in with_facets:
        found = schema.simple.get(facet.id)
        facets = {_FACETS[name]: value for name, value in facet.facets.items()}
        if found is None or not facets.items() <= found.facets.items() or found.base != _type_of(facet):
            yield f"the simple type with the facets of {facet.id} has another name or content"
    for component in expected.structure.components:
        if component.list_of("Codelist") is None:
            continue
        listed = schema.list_of(component.id)
        if listed is None:
            yield f"no enumeration for {component.id}"
        elif not expected.constrained.get(component.id, set()) <= set(listed.values):
            yield f"the enumeration for {component.id} lacks values that the constraint allows"


def _type_of(component: Component) -> str:
    return _TYPES.get(component.text_format.get("textType", ""), "")


def _data_set(expected: Expected, type_: ComplexType, schema: SchemaDocument) -> Iterator[str]:
    yield from _base(type_, "dsd:TimeSeriesDataSetType" if expected.is_time_series else "dsd:DataSetType")
    if not _has_element(type_.elements(), _PROVIDER):
        yield "DataSetType has no DataProvider"
    groups = expected.structure.groups
    if groups:
        named = next(iter(groups)) if len(groups) == 1 else "GroupType"
        if not _has_element(type_.elements(), {"name": "Group", "type": named, "minOccurs": "0", **_MANY}):
            yield "DataSetType has no Group"
    main = "Obs" if expected.at_observation == ALL else "Series"
    if not _has_element(type_.elements("choice"), {"name": main, "type": f"{main}Type", **_MANY}):
        yield f"DataSetType has no {main}"
    yield from _start_day(type_)
    yield from _attributes(type_, _related(expected.structure, "None"), "optional", schema)


def _series(expected: Expected, type_: ComplexType, schema: SchemaDocument) -> Iterator[str]:
    yield from _base(type_, "dsd:TimeSeriesType" if expected.is_time_series else "dsd:SeriesType")
    if not _has_element(type_.elements(), {"name": "Obs", "type": "ObsType", "minOccurs": "0", **_MANY}):
        yield "SeriesType has no Obs"
    keys = [one for one in expected.structure.of_kind("Dimension") if one.id != expected.at_observation]
    yield from _attributes(type_, keys, "required", schema)
    yield from _start_day(type_)
    of_series = [
        one
        for one in _related(expected.structure, "Dimension")
        if ("Dimension", expected.at_observation) not in one.relationships
        and not {"Group", "AttachmentGroup"} & {kind for kind, _ in one.relationships}
    ]
    yield from _attributes(type_, of_series, "optional", schema)
    if expected.is_time_series:
        for group in expected.structure.groups:
            yield from _attributes(type_, _of_group(expected.structure, group), "optional", schema)


def _groups(expected: Expected, schema: SchemaDocument) -> Iterator[str]:
    groups = expected.structure.groups
    several = len(groups) > 1
    if several:
        yield from _abstract_group(groups, schema)
    for group, dimensions in groups.items():
        type_ = schema.complex.get(group)
        if type_ is None:
            yield f"no type {group}"
            continue
        yield from _base(type_, "dsd:GroupType")
        keys = [one for one in expected.structure.of_kind("Dimension") if one.id in dimensions]
        yield from _attributes(type_, keys, "required", schema)
        yield from _start_day(type_)
        yield from _attributes(type_, _of_group(expected.structure, group), "optional", schema)
        if not type_.has("type", "GroupType.ID" if several else _ID, "optional", group):
            yield f"the type {group} does not fix its id"


def _abstract_group(groups: Iterable[str], schema: SchemaDocument) -> Iterator[str]:
    type_, ids = schema.complex.get("GroupType"), schema.simple.get("GroupType.ID")
    if type_ is None or ids is None:
        yield "no type GroupType or GroupType.ID"
        return
    yield from _base(type_, "dsd:GroupType")
    if not (type_.is_abstract and type_.has("type", "GroupType.ID", "optional") and "##local" in type_.takes_any):
        yield "GroupType has another content"
    if ids.base != _ID or sorted(ids.values) != sorted(groups):
        yield "GroupType.ID has another content"


def _measures(expected: Expected, measures: dict[str, str], schema: SchemaDocument) -> Iterator[str]:
    ids = schema.type_of_values(set(measures))
    primary = expected.structure.of_kind("PrimaryMeasure")[0]
    for measure, text_type in measures.items():
        type_ = schema.complex.get(measure)
        if type_ is None or ids is None:
            yield f"no type {measure}, or no type of all ids"
        elif not type_.has("type", ids.name, "optional", measure):
            yield f"the type {measure} does not fix its id"
        elif text_type and not type_.has(primary.id, _TYPES.get(text_type), "optional"):
            yield f"the type {measure} has another type of values"


def _observation(expected: Expected, type_: ComplexType, schema: SchemaDocument) -> Iterator[str]:
    yield from _base(type_, "dsd:TimeSeriesObsType" if expected.is_time_series else "dsd:ObsType")
    if expected.measures is not None and not type_.is_abstract:
        yield "ObsType is not abstract"
    if not expected.is_time_series:
        time = "common:ObservationalTimePeriodType"
        use = "required" if expected.at_observation == ALL else "prohibited"
        if not type_.has(TIME, time, use):
            yield f"{TIME} of ObsType is not {use}"
        own = [component for component in expected.structure.components if component.id == expected.at_observation]
        yield from _attributes(type_, own, "required", schema)
    yield from _attributes(type_, expected.structure.of_kind("PrimaryMeasure"), "optional", schema)
    of_observation = [
        *_related(expected.structure, "PrimaryMeasure"),
        *(
            one
            for one in _related(expected.structure, "Dimension")
            if ("Dimension", expected.at_observation) in one.relationships
        ),
    ]
    yield from _attributes(type_, of_observation, "optional", schema)
    ids = None if expected.measures is None else schema.type_of_values(set(expected.measures))
    named, use = (_ID, "prohibited") if ids is None else (ids.name, "optional")
    if not type_.has("type", named, use):
        yield f"the attribute type of ObsType is not {use}, of {named}"


def _placement(expected: Expected, schema: SchemaDocument) -> Iterator[str]:
    """Yield what is at another level than by the kit's default rules."""
    observation = schema.complex["ObsType"]
    if not observation.has(TIME):
        yield f"ObsType has no {TIME}"
    if expected.at_observation == ALL:
        lacking = [one.id for one in expected.structure.of_kind("Dimension") if not observation.has(one.id)]
        if lacking:
            yield f"ObsType has no {', '.join(lacking)}"
    for one in _related(expected.structure, "Dimension"):
        ids = [id_ for _, id_ in one.relationships]
        holders = [type_ for type_ in schema.complex.values() if any(type_.has(id_) for id_ in ids)]
        if len(ids) == 1:
            wrong = [type_.name for type_ in holders if not type_.has(one.id)]
        else:
            level = "ObsType" if observation in holders else "SeriesType"
            wrong = [] if schema.complex[level].has(one.id) else [level]
        if wrong:
            yield f"{one.id} does not follow its dimensions in {', '.join(wrong)}"


def _base(type_: ComplexType, base: str) -> Iterator[str]:
    if type_.base != base:
        yield f"{type_.name} restricts {type_.base} instead of {base}"
    if not _has_element(type_.elements(), _ANNOTATIONS):
        yield f"{type_.name} has no annotations"


def _start_day(type_: ComplexType) -> Iterator[str]:
    if not type_.has(_START_DAY, "xs:gMonthDay", "prohibited"):
        yield f"{type_.name} does not prohibit {_START_DAY}"


def _has_element(elements: list[dict[str, str]], wanted: dict[str, str]) -> bool:
    return any(wanted.items() <= element.items() for element in elements)


def _attributes(type_: ComplexType, components: Iterable[Component], use: str, schema: SchemaDocument) -> Iterator[str]:
    for component in components:
        found = type_.attributes.get(component.id, {}).get("type", "")
        is_right = found in schema.simple or found == (_type_of(component) if component.text_format else "xs:string")
        if not is_right or not type_.has(component.id, use=use):
            yield f"{type_.name} lacks {component.id}, or it has another type or use"


def _related(structure: DataStructure, kind: str) -> list[Component]:
    return [one for one in structure.of_kind("Attribute") if kind in {each for each, _ in one.relationships}]


def _of_group(structure: DataStructure, group: str) -> list[Component]:
    named = {("Group", group), ("AttachmentGroup", group)}
    return [one for one in structure.of_kind("Attribute") if named & set(one.relationships)]
