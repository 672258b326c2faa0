"""A small version with content for every view."""

from __future__ import annotations

from typing import Any

from kafka_replica import Record
from kafka_replica.sdmx import split_message
from kafka_replica.sdmx.containers import InternationalString, Items
from kafka_replica.sdmx.model import (
    Artefact,
    Attribute,
    AttributeRelationship,
    Code,
    Codelist,
    CodelistExtension,
    ComponentMap,
    Concept,
    ConceptScheme,
    ConstraintAttachment,
    DataConstraint,
    Dataflow,
    DataStructure,
    DatePatternMap,
    Dimension,
    FixedValueMap,
    HierarchicalCode,
    Hierarchy,
    KeySet,
    MappedValue,
    Measure,
    MemberSelection,
    PeriodBound,
    Region,
    RepresentationMap,
    RepresentationMapping,
    SelectedValue,
    StructureMap,
    TimeRange,
    ValueItem,
    ValueList,
)
from kafka_replica.sdmx.model.representation import Representation, TextFormat
from kafka_replica.sdmx.urns.urn import Urn
from kafka_replica.sdmx.writing.messages import write_message
from support.spark.spark_world import records_of

MEDIA_TYPE = "application/vnd.sdmx.structure+xml; version=3.0.0"


def urn(cls: str, id_: str, item: str | None = None) -> Urn:
    """Return the URN of T:ID(1.0), or of an item in it."""
    return Urn.of(cls, "T", id_, "1.0", item)


def words(**texts: str) -> InternationalString:
    """Return a text by language."""
    return InternationalString(texts)


def codelist(id_: str, *codes: str, extends: str | None = None) -> Codelist:
    """Return a codelist; the first code is the parent of the others."""
    own = urn("Codelist", id_)
    made = {
        code: Code(
            urn=own.with_item("Code", code),
            names=words(en=code.lower(), fr=f"le {code}"),
            parent=codes[0] if i else None,
        )
        for i, code in enumerate(codes)
    }
    extensions = () if extends is None else (CodelistExtension(codelist=urn("Codelist", extends), prefix="X_"),)
    return Codelist(urn=own, names=words(en=id_), codes=Items(made), extensions=extensions)


def _structure() -> DataStructure:
    own = urn("DataStructure", "DSD")

    def part(cls: str, id_: str, given: Representation | None = None) -> dict[str, Any]:
        return {"urn": own.with_item(cls, id_), "concept": urn("Concept", "CS", id_), "representation": given}

    return DataStructure(
        urn=own,
        names=words(en="DSD"),
        dimension_list=Items(
            {
                "AREA": Dimension(position=1, **part("Dimension", "AREA")),
                "TIME_PERIOD": Dimension(
                    position=2,
                    **part(
                        "TimeDimension",
                        "TIME_PERIOD",
                        Representation(format=TextFormat(text_type="ObservationalTimePeriod")),
                    ),
                ),
            }
        ),
        measures=Items({"VALUE": Measure(mandatory=True, **part("Measure", "VALUE"))}),
        attributes=Items(
            {
                "NOTE": Attribute(
                    relationship=AttributeRelationship(kind="dimensions", dimensions=("AREA",)),
                    **part(
                        "DataAttribute", "NOTE", Representation(format=TextFormat(text_type="String", max_length=9))
                    ),
                )
            }
        ),
        groups=Items({}),
    )


def _concepts() -> ConceptScheme:
    own = urn("ConceptScheme", "CS")
    core = {"AREA": Representation(enumeration=urn("Codelist", "CL_AREA"))}
    ids = ("AREA", "TIME_PERIOD", "VALUE", "NOTE")
    return ConceptScheme(
        urn=own,
        names=words(en="CS"),
        concepts=Items(
            {
                id_: Concept(urn=own.with_item("Concept", id_), names=words(en=id_), core_representation=core.get(id_))
                for id_ in ids
            }
        ),
    )


def _constraint() -> DataConstraint:
    def one(id_: str, *values: str) -> MemberSelection:
        return MemberSelection(id=id_, values=tuple(SelectedValue(value=value) for value in values))

    period = TimeRange(start=PeriodBound(period="2001"), end=PeriodBound(period="2009", is_inclusive=False))
    time = MemberSelection(id="TIME_PERIOD", time_range=period)
    cascading = SelectedValue(value="EU", cascade_values="true")
    area = MemberSelection(id="AREA", values=(cascading, SelectedValue(value="B")))
    return DataConstraint(
        urn=urn("DataConstraint", "CON"),
        names=words(en="CON"),
        role="Allowed",
        attachment=ConstraintAttachment(references=(urn("Dataflow", "FLOW"),)),
        cube_regions=(Region(key_values=(area, time)),),
        key_sets=(KeySet(keys=(Region(key_values=(one("AREA", "A"),)),), is_included=False),),
    )


def _hierarchy() -> Hierarchy:
    own = urn("Hierarchy", "H")
    inner = HierarchicalCode(urn=own.with_item("HierarchicalCode", "TOP.A"), code=urn("Code", "CL_AREA", "A"))
    top = HierarchicalCode(
        urn=own.with_item("HierarchicalCode", "TOP"), code=urn("Code", "CL_AREA", "EU"), codes=Items({"A": inner})
    )
    return Hierarchy(urn=own, names=words(en="H"), codes=Items({"TOP": top}), has_formal_levels=False)


def _maps() -> tuple[StructureMap, RepresentationMap]:
    own = urn("StructureMap", "SM")
    structure_map = StructureMap(
        urn=own,
        names=words(en="SM"),
        source=urn("DataStructure", "DSD"),
        target=urn("DataStructure", "GONE"),
        component_maps=(
            ComponentMap(sources=("AREA",), targets=("REGION",), representation_map=urn("RepresentationMap", "RM")),
        ),
        fixed_value_maps=(FixedValueMap(target="FREQ", values=("A",)),),
        date_pattern_maps=(
            DatePatternMap(
                sources=("TIME_PERIOD",),
                targets=("TIME",),
                source_pattern="yyyy",
                locale="en",
                target_frequency="A",
                urn=own.with_item("DatePatternMap", "D"),
            ),
        ),
    )
    representation_map = RepresentationMap(
        urn=urn("RepresentationMap", "RM"),
        names=words(en="RM"),
        sources=(urn("Codelist", "CL_AREA"),),
        targets=("String",),
        mappings=(
            RepresentationMapping(sources=(MappedValue(value="A"),), targets=("1",), valid_from="2001-01-01"),
            RepresentationMapping(sources=(MappedValue(value="B.*", is_reg_ex=True),), targets=("2",)),
        ),
    )
    return structure_map, representation_map


def artefacts() -> list[Artefact]:
    """Return all artefacts; the structure map refers to a missing data structure."""
    values = ValueList(
        urn=urn("ValueList", "VL"), names=words(en="VL"), value_items=(ValueItem(id="€", names=words(en="euro")),)
    )
    flow = Dataflow(
        urn=urn("Dataflow", "FLOW"), names=words(en="FLOW"), structure_reference=urn("DataStructure", "DSD")
    )
    return [
        codelist("CL_AREA", "EU", "A", "B"),
        codelist("CL_MORE", "Z", extends="CL_AREA"),
        values,
        _concepts(),
        _structure(),
        flow,
        _constraint(),
        _hierarchy(),
        *_maps(),
    ]


def records() -> list[Record]:
    """Return one record for each."""
    return records_of(*[write_message([artefact], MEDIA_TYPE) for artefact in artefacts()])


def parts() -> list[tuple[str, bytes, str]]:
    """Return key, value and content type of each."""
    found = [split_message(write_message([artefact], MEDIA_TYPE))[0] for artefact in artefacts()]
    return [(str(part.urn), part.value, part.content_type) for part in found]
