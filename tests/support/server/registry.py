"""A small registry: artefacts of most classes that refer to each other, as a version of a topic."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kafka_replica.sdmx import Format, Structures, Urn, write_message
from kafka_replica.sdmx.containers import InternationalString, Items
from kafka_replica.sdmx.lookups.cache import DecodeCache
from kafka_replica.sdmx.model import (
    Agency,
    AgencyScheme,
    Artefact,
    Attribute,
    AttributeRelationship,
    Categorisation,
    Category,
    CategoryScheme,
    Code,
    Codelist,
    CodelistExtension,
    Concept,
    ConceptScheme,
    ConstraintAttachment,
    DataConstraint,
    Dataflow,
    DataProvider,
    DataProviderScheme,
    DataStructure,
    Dimension,
    HierarchicalCode,
    Hierarchy,
    HierarchyAssociation,
    Measure,
    MemberSelection,
    ProvisionAgreement,
    Region,
    SelectedValue,
    ValueItem,
    ValueList,
)
from kafka_replica.sdmx.model.representation import Representation
from support.sdmx.sdmx_corpus import FakeSnapshot, record

CONCEPTS = "ConceptScheme ECB:CONCEPTS(1.0)"
PROVIDERS = "DataProviderScheme ECB:DATA_PROVIDERS(1.0)"


def urn(short: str) -> Urn:
    """Return a URN: ``Codelist ECB:CL_FREQ(1.0)``."""
    cls, _, reference = short.partition(" ")
    return Urn.of_reference(cls, reference)


def named(short: str, **more: Any) -> dict[str, Any]:
    """Return the URN, names, description of an artefact."""
    own = urn(short)
    names = InternationalString({"en": f"Name of {own.id}", "fr": f"Nom de {own.id}"})
    return {"urn": own, "names": names, "descriptions": InternationalString({"en": "Described"}), **more}


def items(scheme: str, cls: str, kind: Any, ids: Iterable[str], **more: Any) -> Items[Any]:
    """Return items with names by id."""
    holder = urn(scheme)
    return Items({
        id_: kind(urn=holder.with_item(cls, id_), names=InternationalString({"en": id_}), **more) for id_ in ids
    })  # fmt: skip


def codelist(short: str, ids: str, **more: Any) -> Codelist:
    """Return a codelist."""
    return Codelist(codes=items(short, "Code", Code, ids.split()), **named(short, **more))


def agencies(short: str, ids: str) -> AgencyScheme:
    """Return an agency scheme."""
    return AgencyScheme(organisations=items(short, "Agency", Agency, ids.split()), **named(short))


def _categories() -> CategoryScheme:
    scheme = urn("CategoryScheme ECB:DOMAINS(1.0)")

    def category(path: str, *below: Category) -> Category:
        names = InternationalString({"en": path})
        inner = Items({one.id: one for one in below})
        return Category(urn=scheme.with_item("Category", path), names=names, categories=inner)

    economy = category("ECO", category("ECO.PRICES", category("ECO.PRICES.HICP")), category("ECO.TRADE"))
    return CategoryScheme(
        categories=Items({"ECO": economy, "SOC": category("SOC")}), **named("CategoryScheme ECB:DOMAINS(1.0)")
    )


def _structure() -> DataStructure:
    own, concepts = urn("DataStructure ECB:EXR(1.0)"), urn("ConceptScheme ECB:CONCEPTS(1.0)")

    def part(cls: str, id_: str, enumeration: str | None = None) -> dict[str, Any]:
        representation = None if enumeration is None else Representation(enumeration=urn(enumeration))
        concept = concepts.with_item("Concept", id_)
        return {"urn": own.with_item(cls, id_), "concept": concept, "representation": representation}

    return DataStructure(
        dimension_list=Items({
            "FREQ": Dimension(position=1, **part("Dimension", "FREQ", "Codelist ECB:CL_FREQ(1.0)")),
            "AREA": Dimension(position=2, **part("Dimension", "AREA", "Codelist ECB.DISS:CL_AREA(1.0)")),
        }),
        measures=Items({"OBS_VALUE": Measure(mandatory=True, **part("Measure", "OBS_VALUE"))}),
        attributes=Items({"UNIT": Attribute(
            mandatory=True, relationship=AttributeRelationship(kind="observation"),
            **part("DataAttribute", "UNIT", "ValueList ECB:VL_UNIT(1.0)"),
        )}),
        groups=Items(),
        **named("DataStructure ECB:EXR(1.0)"),
    )  # fmt: skip


def _artefacts() -> list[Artefact]:
    flow, structure = urn("Dataflow ECB:EXR(1.0)"), urn("DataStructure ECB:EXR(1.0)")
    area = urn("Codelist ECB.DISS:CL_AREA(1.0)")
    hierarchy = urn("Hierarchy ECB:H_AREA(1.0)")
    allowed = Region(key_values=(MemberSelection(
        id="FREQ", values=(SelectedValue(value="A"), SelectedValue(value="M")),
    ),))  # fmt: skip
    return [
        agencies("AgencyScheme SDMX:AGENCIES(1.0)", "ECB BIS IMF"),
        agencies("AgencyScheme ECB:AGENCIES(1.0)", "DISS OTHER"),
        codelist("Codelist ECB:CL_FREQ(1.0)", "A M Q D"),
        codelist("Codelist ECB:CL_FREQ(1.1)", "A M Q D W"),
        codelist("Codelist ECB:CL_FREQ(2.0.0)", "A M"),
        codelist("Codelist ECB:CL_FREQ(2.1.0-draft)", "A"),
        codelist("Codelist BIS:CL_FREQ(1.0)", "A M"),
        codelist("Codelist ECB.DISS:CL_AREA(1.0)", "AT DE FR"),
        codelist("Codelist ECB:CL_MORE(1.0.0)", "H", extensions=(
            CodelistExtension(codelist=urn("Codelist ECB:CL_FREQ(1.0)")),
        )),
        ConceptScheme(
            concepts=items(CONCEPTS, "Concept", Concept, ["FREQ", "AREA", "OBS_VALUE", "UNIT", "UNUSED"]),
            **named(CONCEPTS),
        ),
        ValueList(
            value_items=tuple(ValueItem(id=one, names=InternationalString({"en": one})) for one in "€$"),
            **named("ValueList ECB:VL_UNIT(1.0)"),
        ),
        _structure(),
        Dataflow(structure_reference=structure, **named("Dataflow ECB:EXR(1.0)")),
        Dataflow(structure_reference=structure, **named("Dataflow ECB:EXR_ALL(1.0)")),
        DataConstraint(
            role="Allowed", attachment=ConstraintAttachment(references=(flow,)), cube_regions=(allowed,),
            **named("DataConstraint ECB:EXR_CODES(1.0)"),
        ),
        _categories(),
        Categorisation(
            source=flow, target=urn("CategoryScheme ECB:DOMAINS(1.0)").with_item("Category", "ECO.PRICES"),
            **named("Categorisation ECB:EXR_IN_PRICES(1.0)"),
        ),
        DataProviderScheme(
            organisations=items(PROVIDERS, "DataProvider", DataProvider, ["P1", "P2"]), **named(PROVIDERS),
        ),
        ProvisionAgreement(
            structure_usage=flow,
            data_provider=urn(PROVIDERS).with_item("DataProvider", "P1"),
            **named("ProvisionAgreement ECB:EXR_P1(1.0)"),
        ),
        Hierarchy(
            codes=Items({"EU": HierarchicalCode(
                urn=hierarchy.with_item("HierarchicalCode", "EU"), code=area.with_item("Code", "AT"),
            )}),
            **named("Hierarchy ECB:H_AREA(1.0)"),
        ),
        HierarchyAssociation(
            linked_hierarchy=hierarchy, linked_object=structure.with_item("Dimension", "AREA"), context_object=flow,
            **named("HierarchyAssociation ECB:HA_AREA(1.0)"),
        ),
    ]  # fmt: skip


ARTEFACTS = {artefact.urn: artefact for artefact in _artefacts()}
"""The artefacts of the registry by URN."""


def version_of(artefacts: Iterable[Artefact], format_: Format = Format.SDMX_ML_3_0, *, version: int = 7) -> Structures:
    """Return a version of a topic with a record for each artefact, in a format."""
    records = {
        bytes(artefact.urn): record(bytes(artefact.urn), write_message(artefact, format_), str(format_), offset)
        for offset, artefact in enumerate(artefacts)
    }
    return Structures(FakeSnapshot(records, version), cache=DecodeCache())
