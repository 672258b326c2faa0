"""SDMX-ML 2.0: all classes of the sample, references, splitting, hostile content, and the corpus."""

from __future__ import annotations

import gzip
import inspect
import sys
import time
from collections import Counter
from decimal import Decimal
from typing import Any, TypeVar

import pytest

from kafka_replica.sdmx import (
    Codelist,
    ConceptScheme,
    Dataflow,
    DataStructure,
    Format,
    Message,
    OpaqueArtefact,
    Structures,
    TextFormat,
    Urn,
    read_message,
    split_message,
    write_message,
)
from kafka_replica.sdmx.errors import MessageError, UnreadableContentError, UnwritableError
from kafka_replica.sdmx.model import (
    AgencyScheme,
    CategoryScheme,
    Contact,
    DataProviderScheme,
    HierarchicalCode,
    HierarchicalCodelist,
    Metadataflow,
    MetadataStructure,
    Process,
    ReportingTaxonomy,
    StructureSet,
)
from kafka_replica.sdmx.model.base import Maintainable
from kafka_replica.sdmx.model.earlier_editions import (
    AliasedComponentMap,
    AliasedItemMap,
    CategorisedDataflow,
    CategorisedMetadataflow,
    CategoryOfFlows,
    ContactOfKind,
    CrossSectionalMeasure,
    DescribedGroup,
    ExternalScheme,
    KeyFamilyAttribute,
    KeyFamilyDimension,
    NamedMetadataTarget,
    NamedReportStructure,
    NamedTargetObject,
    ProcessStepOfClasses,
    TaxonomyOfFlows,
    VersionedConcept,
    VersionedHierarchy,
)
from support.paths import SDMX_DATA
from support.sdmx.sdmx_corpus import ITEMS, FakeSnapshot, data_of, record, rows

SAMPLE = SDMX_DATA / "all_classes.sdmx20.xml"
V20 = "http://www.SDMX.org/resources/SDMXML/schemas/v2_0"
A = TypeVar("A", bound=Maintainable)


def get(kind: type[A], id_: str, message: Message | None = None) -> A:
    """Return the artefact of this id in the sample."""
    [found] = [one for one in message or read_message(SAMPLE.read_bytes()) if isinstance(one, kind) and one.id == id_]
    return found


def xml(body: str, header: str = '<Sender id="S"/>') -> bytes:
    """Return a message of SDMX-ML 2.0."""
    return (
        f'<Structure xmlns="{V20}/message" xmlns:s="{V20}/structure" xmlns:c="{V20}/common">'
        f"<Header>{header}</Header>{body}</Structure>"
    ).encode()


def codelist_xml(codes: str, attributes: str = 'id="CL" agencyID="A"') -> bytes:
    """Return a message of one codelist."""
    return xml(f"<CodeLists><s:CodeList {attributes}>{codes}</s:CodeList></CodeLists>")


def short(urn: Urn | None) -> str | None:
    """Return class and reference of a URN."""
    return f"{urn.cls}={urn.reference}" if urn else None


def test_each_artefact_of_2_0_is_read_into_its_class_of_2_1() -> None:
    """Each artefact is read into its class of SDMX 2.1; other content is kept whole."""
    message = read_message(SAMPLE.read_bytes())
    assert message.format is Format.SDMX_ML_2_0
    assert (message.header.id, message.header.sender, message.header.test) == ("KR20", "KR", True)
    assert message.header.prepared == "2010-02-03T04:05:06"
    assert [short(urn) for urn in message.artefacts] == [
        "AgencyScheme=SDMX:AGENCIES(1.0)",
        "DataProviderScheme=KR:DATA_PROVIDERS(1.0)",
        "DataConsumerScheme=KR:DATA_CONSUMERS(1.0)",
        "OrganisationScheme=KR:ELSEWHERE(1.0)",
        "Dataflow=KR:FLOW(1.0)",
        "Dataflow=KR:BY_URN(1.0)",
        "Metadataflow=KR:MFLOW(1.0)",
        "CategoryScheme=KR:CATS(1.0)",
        "Codelist=KR:CL_FREQ(1.0)",
        "Codelist=KR:CL_AREA(3.1)",
        "Codelist=KR:CL_STUB(1.0)",
        "HierarchicalCodelist=KR:HCL(1.0)",
        "ConceptScheme=KR:STANDALONE_CONCEPT_SCHEME(1.0)",
        "ConceptScheme=OTHER:STANDALONE_CONCEPT_SCHEME(1.0)",
        "ConceptScheme=KR:CS(1.1)",
        "MetadataStructure=KR:MSD(1.0)",
        "DataStructure=KR:KF(2.0)",
        "DataStructure=KR:NAME_ONLY(1.0)",
        "StructureSet=KR:SET(1.0)",
        "ReportingTaxonomy=KR:RT(1.0)",
        "Process=KR:PROC(1.0)",
    ]
    opaque = [one for one in message if isinstance(one, OpaqueArtefact)]
    assert [one.id for one in opaque] == ["ELSEWHERE"]
    assert opaque[0].is_external_reference
    assert list(read_message(opaque[0].content).artefacts) == [opaque[0].urn]


def test_codes_keep_names_parents_and_flags() -> None:
    """The description of a code is its name, in all languages; parents, annotations, flags and stubs are kept."""
    freq = get(Codelist, "CL_FREQ")
    assert dict(freq.names) == {"en": "Frequency", "fr": "Fréquence"}
    assert (freq.description(), freq.uri, freq.is_final) == ("How often", "http://example.org/cl_freq.xml", True)
    annual, monthly = freq.codes.values()
    assert dict(annual.names) == {"en": "Annual", "fr": "Annuelle"}
    assert dict(annual.descriptions) == {}
    assert (monthly.id, monthly.parent, monthly.name()) == ("M", "A", "Monthly")
    assert str(monthly.urn) == "urn:sdmx:org.sdmx.infomodel.codelist.Code=KR:CL_FREQ(1.0).M"
    [note] = annual.annotations
    assert (note.title, note.type, note.url, note.text["fr"]) == ("t", "k", "http://example.org/a", "note")
    assert list(get(Codelist, "CL_AREA").codes) == ["*", "X-1"]
    stub = get(Codelist, "CL_STUB")
    assert (stub.is_stub, stub.structure_url) == (True, "http://example.org/stub.xml")
    with pytest.raises(UnreadableContentError, match="stub"):
        len(stub.codes)


def test_concepts_outside_schemes_form_a_scheme_per_agency() -> None:
    """Concepts outside schemes form one scheme per agency; without an agency the sender counts."""
    message = read_message(SAMPLE.read_bytes())
    own, others = (one for one in message if isinstance(one, ConceptScheme) and one.id.startswith("STANDALONE"))
    assert {id_: concept.name() for id_, concept in own.concepts.items()} == {
        "FREQ": "Frequency",
        "OBS_VALUE": "Value",
        "TIME": "Time",
    }
    assert own.concepts["FREQ"].uri == "http://example.org/freq"
    assert (others.agency, list(others.concepts)) == ("OTHER", ["FREQ"])
    versioned = others.concepts["FREQ"]
    assert isinstance(versioned, VersionedConcept)
    assert versioned.version == "3.0"
    area, place = get(ConceptScheme, "CS").concepts.values()
    assert (area.parent, area.description()) == ("PLACE", "Where")
    assert area.core_representation is not None
    assert short(area.core_representation.enumeration) == "Codelist=OTHER:CL_AREA(1.0)"
    assert place.core_representation is not None
    assert place.core_representation.format == TextFormat(
        text_type="String", is_sequence=False, min_length=1, max_length=9, pattern="[A-Z]+"
    )


def test_key_families_keep_components_groups_and_levels() -> None:
    """Key families keep components, their concepts and lists, groups and levels."""
    found = get(DataStructure, "KF")
    assert [(component.id, component.urn.cls, short(component.concept)) for component in found.components[:7]] == [
        ("FREQ", "Dimension", "Concept=KR:STANDALONE_CONCEPT_SCHEME(1.0).FREQ"),
        ("AREA", "Dimension", "Concept=KR:CS(1.1).AREA"),
        ("KIND", "MeasureDimension", "Concept=OTHER:STANDALONE_CONCEPT_SCHEME(1.0).KIND"),
        ("FREE", "Dimension", "Concept=KR:STANDALONE_CONCEPT_SCHEME(1.0).FREE"),
        ("TIME_PERIOD", "TimeDimension", "Concept=KR:STANDALONE_CONCEPT_SCHEME(1.0).TIME"),
        ("OBS_VALUE", "PrimaryMeasure", "Concept=KR:STANDALONE_CONCEPT_SCHEME(1.0).OBS_VALUE"),
        ("STOCKS", "CrossSectionalMeasure", "Concept=KR:STANDALONE_CONCEPT_SCHEME(1.0).STOCKS"),
    ]
    assert [value.position for value in found.dimension_list.values()] == [1, 2, 3, 4, 5]
    lists = {
        component.id: short(component.representation.enumeration)
        for component in found.components
        if component.representation
    }
    assert (lists["FREQ"], lists["AREA"]) == ("Codelist=KR:CL_FREQ(1.0)", "Codelist=KR:CL_AREA(3.1)")
    assert lists["STATUS"] == "Codelist=OTHER:CL_STATUS(1.0)"
    free = found.dimension_list["FREE"].representation
    assert free is not None
    assert free.format is not None
    assert (free.format.text_type, free.format.end_value, free.format.decimals) == ("Double", Decimal(100), 2)
    siblings = found.groups["SIBLINGS"]
    assert isinstance(siblings, DescribedGroup)
    assert (siblings.dimensions, siblings.descriptions["en"]) == (("AREA", "KIND"), "All but frequency")
    assert short(found.groups["CONSTRAINED"].attachment_constraint) == "AttachmentConstraint=KR:AC(1.0)"
    relationships = {attribute.id: attribute.relationship for attribute in found.attributes.values()}
    assert {id_: relationship.kind for id_, relationship in relationships.items()} == {
        "TIME_FORMAT": "dimensions",
        "STATUS": "observation",
        "BREAK": "observation",
        "UNIT": "group",
        "TITLE": "dataset",
    }
    assert relationships["TIME_FORMAT"].dimensions == ("FREQ", "AREA", "KIND", "FREE")
    assert relationships["STATUS"].measures == ("OBS_VALUE",)
    assert relationships["BREAK"].measures == ("STOCKS",)
    assert relationships["UNIT"].groups == ("SIBLINGS",)
    assert [attribute.id for attribute in found.attributes.values() if attribute.mandatory] == ["TIME_FORMAT", "STATUS"]
    assert found.attributes["UNIT"].annotations[0].title == "u"


@pytest.mark.parametrize(
    ("written", "today"),
    [("Date", "GregorianDay"), ("YearMonth", "GregorianYearMonth"), ("Timespan", "TimeRange"), ("Double", "Double")],
)
def test_text_types_have_their_names_of_2_1(written: str, today: str) -> None:
    """Each text type of SDMX-ML 2.0 is read as the text type of 2.1 with the same meaning."""
    format_ = f'<s:PrimaryMeasure conceptRef="V"><s:TextFormat textType="{written}" decimals="1"/></s:PrimaryMeasure>'
    found = get(DataStructure, "K", read_message(xml(KEY_FAMILY.format(format_))))
    representation = found.measures["OBS_VALUE"].representation
    assert representation is not None
    assert representation.format == TextFormat(text_type=today, decimals=1)


def test_roles_and_cross_sections() -> None:
    """Properties of key families only are kept in component subclasses; a component without any is a plain one."""
    found = get(DataStructure, "KF")
    assert type(found.dimension_list["FREQ"]).__name__ == "Dimension"
    area = found.dimension_list["AREA"]
    assert isinstance(area, KeyFamilyDimension)
    assert (area.roles, area.cross_sectional) == (("Entity",), ("Section",))
    unit = found.attributes["UNIT"]
    assert isinstance(unit, KeyFamilyAttribute)
    assert (unit.roles, unit.cross_sectional) == (("Count",), ("Group",))
    stocks = found.measures["STOCKS"]
    assert isinstance(stocks, CrossSectionalMeasure)
    assert (stocks.measure_dimension, stocks.code) == ("KIND", "S")
    assert stocks.urn.maintainable == found.urn


def test_a_key_family_without_components_keeps_its_mark() -> None:
    """A key family without components is not a stub unless it is marked, as in 2.1; a stub refuses to show any."""
    found = get(DataStructure, "NAME_ONLY")
    assert (found.name(), found.is_external_reference, found.is_stub) == ("No components are said", False, False)
    assert (len(found.dimensions), found.components, len(found.groups)) == (0, (), 0)
    of_21 = write_message(found, Format.SDMX_ML_2_1)
    assert list(read_message(of_21)) == [found]
    of_20 = write_message(found, Format.SDMX_ML_2_0)
    assert list(read_message(of_20)) == [found]
    assert b"Components" not in of_20
    assert b"isExternalReference" not in of_20
    with pytest.raises(UnwritableError, match=r"1\.0 .*without components"):
        write_message(found, Format.SDMX_ML_1_0)
    stub = of_20.replace(b"<str:KeyFamily ", b'<str:KeyFamily isExternalReference="true" ')
    [marked] = read_message(stub)
    assert isinstance(marked, DataStructure)
    assert (marked.is_external_reference, marked.is_stub) == (True, True)
    with pytest.raises(UnreadableContentError, match="isExternalReference is true"):
        len(marked.dimensions)


def test_flows_and_categories() -> None:
    """References by fields and by 2.0's URNs are read; categories in flows and flows in categories, too."""
    flow = get(Dataflow, "FLOW")
    assert isinstance(flow, CategorisedDataflow)
    assert short(flow.structure) == "DataStructure=KR:KF(2.0)"
    assert [short(category) for category in flow.categories] == ["Category=OTHER:CATS(1.0).TOP.LOW"]
    assert (flow.valid_from, flow.valid_to, flow.is_final) == ("2001", "2009-12", True)
    by_urn = get(Dataflow, "BY_URN")
    assert type(by_urn) is Dataflow
    assert by_urn.structure == flow.structure
    metadataflow = get(Metadataflow, "MFLOW")
    assert isinstance(metadataflow, CategorisedMetadataflow)
    assert short(metadataflow.structure) == "MetadataStructure=KR:MSD(1.0)"
    assert [short(category) for category in metadataflow.categories] == ["Category=KR:CATS(1.0).TOP.LOW"]
    [top] = get(CategoryScheme, "CATS").categories.values()
    assert isinstance(top, CategoryOfFlows)
    assert [short(each) for each in top.flows] == ["Dataflow=KR:FLOW(1.0)", "Metadataflow=KR:MFLOW(1.0)"]
    assert short(top.categories["LOW"].urn) == "Category=KR:CATS(1.0).TOP.LOW"
    taxonomy = get(ReportingTaxonomy, "RT")
    assert [short(one) for one in taxonomy.items["R1"].provisioning_metadata] == ["Dataflow=KR:FLOW(1.0)"]
    assert taxonomy.item("R1.R2").name() == "Part two"
    assert isinstance(taxonomy, TaxonomyOfFlows)
    assert [short(each) for each in taxonomy.flows] == ["Metadataflow=KR:MFLOW(1.0)"]


def test_organisations_go_into_schemes_of_their_agency() -> None:
    """Agencies go into SDMX:AGENCIES, providers and consumers into schemes of their agency; contacts are kept."""
    agencies = get(AgencyScheme, "AGENCIES").organisations
    assert short(agencies["KR_SUB"].urn) == "Agency=SDMX:AGENCIES(1.0).KR_SUB"
    assert (agencies["KR"].name("fr"), agencies["KR"].uri) == ("Agence", "http://example.org/kr")
    assert agencies["KR_SUB"].parent == "KR"
    assert agencies["KR"].contacts[0].roles["en"] == "Maintenance"
    [contact] = agencies["KR_SUB"].contacts
    assert (contact.id, contact.names["en"], contact.departments["de"]) == ("C1", "Ms Sample", "Statistik")
    assert (contact.roles["en"], contact.telephones, contact.faxes) == ("Press", ("1", "2"), ("3",))
    assert (contact.x400s, contact.uris, contact.emails) == (("x",), ("http://example.org",), ("a@example.org",))
    assert list(get(DataProviderScheme, "DATA_PROVIDERS").organisations) == ["P1"]


def test_hierarchies_keep_nodes_and_levels_in_order() -> None:
    """Hierarchies have codes by alias and by URN, nested nodes, and levels in their order."""
    found = get(HierarchicalCodelist, "HCL")
    assert {
        included_codelist.alias: short(included_codelist.codelist) for included_codelist in found.included_codelists
    } == {
        "AREA": "Codelist=KR:CL_AREA(3.1)",
        "FREQ": "Codelist=KR:CL_FREQ(1.0)",
    }
    hierarchy = found.hierarchies["H1"]
    assert isinstance(hierarchy, VersionedHierarchy)
    assert (hierarchy.version, hierarchy.is_final, hierarchy.valid_from) == ("1.2", True, None)
    top = hierarchy.codes["X-1"]
    assert (short(top.code), top.level, list(top.codes)) == ("Code=KR:CL_AREA(3.1).X-1", "L1", ["NODE", "M"])
    node: HierarchicalCode = top.codes["NODE"]
    assert (short(node.code), node.level, node.version) == ("Code=KR:CL_FREQ(1.0).A", "L2", "1.0")
    assert (node.valid_from, node.valid_to, node.codelist_alias, node.code_id) == ("2000", "2001", "FREQ", "A")
    assert short(node.urn) == "HierarchicalCode=KR:HCL(1.0).H1.X-1.NODE"
    assert short(top.codes["M"].code) == "Code=KR:CL_FREQ(1.0).M"
    assert hierarchy.level is not None
    assert hierarchy.level.level is not None
    assert (hierarchy.level.id, hierarchy.level.level.id, hierarchy.has_formal_levels) == ("L1", "L2", True)
    assert hierarchy.level.coding_format == TextFormat(text_type="String", max_length=3)


def test_codes_with_one_id_are_distinguished_by_their_lists() -> None:
    """Codes with one id are distinguished by their lists, repeated codes by number: 2.0 allows both."""
    ref = "<s:CodeRef><s:CodelistAliasRef>{}</s:CodelistAliasRef><s:CodeID>1</s:CodeID></s:CodeRef>"
    hierarchy = '<HierarchicalCodelists><s:HierarchicalCodelist id="H" agencyID="A"><s:Hierarchy id="I">{}</s:Hierarchy></s:HierarchicalCodelist></HierarchicalCodelists>'  # noqa: E501
    [found] = read_message(xml(hierarchy.format(ref.format("X") + ref.format("Y"))))
    assert isinstance(found, HierarchicalCodelist)
    assert list(found.hierarchies["I"].codes) == ["1", "Y_1"]
    [found] = read_message(xml(hierarchy.format(ref.format("X") * 4)))
    assert isinstance(found, HierarchicalCodelist)
    assert list(found.hierarchies["I"].codes) == ["1", "X_1", "1_3", "1_4"]
    taken = ref.format("X").replace(">1<", ">1_4<")
    [found] = read_message(xml(hierarchy.format(ref.format("X") * 2 + taken + ref.format("X"))))
    assert isinstance(found, HierarchicalCodelist)
    assert list(found.hierarchies["I"].codes) == ["1", "X_1", "1_4", "1_5"]


def test_target_identifiers_become_metadata_targets() -> None:
    """Target identifiers become metadata targets, their components target objects; reports contain attributes."""
    found = get(MetadataStructure, "MSD")
    assert {id_: list(metadata_target.target_objects) for id_, metadata_target in found.metadata_targets.items()} == {
        "FULL": ["PROVIDER", "WHAT"],
        "PART": ["WHAT"],
    }
    provider = found.metadata_targets["FULL"].target_objects["PROVIDER"]
    assert provider.object_type == "DataProvider"
    assert provider.representation is not None
    assert short(provider.representation.enumeration) == "OrganisationScheme=KR:ORGS(1.0)"
    assert found.metadata_targets["PART"].target_objects["WHAT"].object_type == "DataStructure"
    full = found.metadata_targets["FULL"]
    assert isinstance(full, NamedMetadataTarget)
    assert isinstance(provider, NamedTargetObject)
    assert (full.names["en"], provider.names["en"]) == ("Full", "Who")
    report = found.report_structures["REPORT"]
    assert isinstance(report, NamedReportStructure)
    assert report.names["en"] == "Report"
    assert report.metadata_targets == ("FULL",)
    contact = report.metadata_attributes["CONTACT"]
    assert (contact.min_occurs, short(contact.urn)) == (1, "MetadataAttribute=KR:MSD(1.0).REPORT.CONTACT")
    phone = contact.metadata_attributes["PHONE"]
    assert (phone.min_occurs, short(phone.concept)) == (0, "Concept=KR:CS(1.1).PHONE")
    assert phone.representation is not None
    assert short(phone.representation.enumeration) == "Codelist=KR:CL_AREA(1.0)"


def test_structure_sets_keep_maps_of_all_kinds() -> None:
    """Structure sets keep maps between structures and between schemes of all kinds."""
    found = get(StructureSet, "SET")
    assert [short(related_structure) for related_structure in found.related_structures] == [
        "DataStructure=KR:KF(2.0)",
        "OrganisationScheme=KR:ORGS(1.0)",
    ]
    [structures] = found.structure_maps
    assert (short(structures.target), structures.is_extension) == ("DataStructure=OTHER:KF2(1.0)", True)
    coded, named = structures.component_maps
    assert (coded.source, coded.target, coded.codelist_map) == ("AREA", "COUNTRY", "CM")
    assert (named.to_text_format, named.to_value_type) == (TextFormat(text_type="String"), "Name")
    assert isinstance(coded, AliasedComponentMap)
    assert (coded.alias, coded.preferred_language) == ("where", "fr")
    pair = found.scheme_maps[0].item_maps[0]
    assert isinstance(pair, AliasedItemMap)
    assert pair.alias == "ex"
    maps = {
        scheme_map.urn.cls: (short(scheme_map.source), short(scheme_map.target), scheme_map.item_maps[0])
        for scheme_map in found.scheme_maps
    }
    assert {cls: (map_[0], map_[1], map_[2].source.value, map_[2].target) for cls, map_ in maps.items()} == {
        "CodelistMap": ("Codelist=KR:CL_AREA(1.0)", "HierarchicalCodelist=KR:HCL(1.0)", "X-1", "NODE"),
        "CategorySchemeMap": ("CategoryScheme=KR:CATS(1.0)", "CategoryScheme=KR:CATS2(1.0)", "TOP.LOW", "T"),
        "ConceptSchemeMap": ("ConceptScheme=KR:CS(1.0)", "ConceptScheme=KR:CS2(1.0)", "AREA", "COUNTRY"),
        "OrganisationSchemeMap": ("OrganisationScheme=KR:ORGS(1.0)", "OrganisationScheme=KR:ORGS2(1.0)", "P1", "P2"),
    }


def test_processes_keep_nested_steps_and_transitions() -> None:
    """A process keeps its nested steps, with computations, classes of inputs, and transitions."""
    found = get(Process, "PROC")
    first = found.steps["S1"]
    assert first.computation is not None
    assert first.computation.descriptions["en"] == "Add all up"
    assert isinstance(first, ProcessStepOfClasses)
    assert (first.input_classes, first.output_classes) == (("DataSet",), ())
    assert type(found.steps["S2"]).__name__ == "ProcessStep"
    assert first.transitions[0].target_step == "S2"
    assert first.transitions[0].conditions["fr"] == "si complet"
    assert found.item("S1.S11").name() == "Ask"


def test_each_part_of_2_0_equals_its_artefact() -> None:
    """Each part is a message of one artefact that reads the same, with comments and header kept."""
    message = read_message(SAMPLE.read_bytes())
    parts = split_message(SAMPLE.read_bytes())
    assert [part.urn for part in parts] == list(message.artefacts)
    for part, artefact in zip(parts, message, strict=True):
        assert part.content_type == Format.SDMX_ML_2_0
        alone = read_message(part.value)
        assert alone.header == message.header
        [found] = alone
        if isinstance(artefact, OpaqueArtefact):
            assert found.urn == artefact.urn
        else:
            assert found == artefact


def test_splitting_keeps_comments_and_foreign_elements() -> None:
    """Comments and elements of other namespaces stay in the part."""
    [part] = split_message(codelist_xml('<!-- kept --><x:own xmlns:x="urn:x">mine</x:own>'))
    assert b"<!-- kept -->" in part.value
    assert b"mine</x:own>" in part.value


def test_a_record_of_several_artefacts_gives_the_artefact_of_its_key() -> None:
    """A record with several artefacts gives the artefact of its key, and its items."""
    urn = Urn.of("ConceptScheme", "KR", "STANDALONE_CONCEPT_SCHEME", "1.0")
    structures = Structures(FakeSnapshot({bytes(urn): record(bytes(urn), SAMPLE.read_bytes())}))
    assert structures.concept_scheme("KR:STANDALONE_CONCEPT_SCHEME(1.0)").concepts["TIME"].name() == "Time"


def test_structures_in_registry_messages_are_read() -> None:
    """Structures in registry answers, in submissions, and in a SOAP envelope are read."""
    registry = f'xmlns="{V20}/message" xmlns:r="{V20}/registry" xmlns:s="{V20}/structure"'
    codelists = '<{0}CodeLists><s:CodeList id="CL" agencyID="A"/></{0}CodeLists>'
    answer = (
        f"<RegistryInterface {registry}><Header/><r:QueryStructureResponse><r:StatusMessage/>"
        f"{codelists.format('r:')}</r:QueryStructureResponse></RegistryInterface>"
    )
    request = (
        f"<RegistryInterface {registry}><Header/><r:SubmitStructureRequest><r:Structure>"
        f"{codelists.format('s:')}</r:Structure></r:SubmitStructureRequest></RegistryInterface>"
    )
    soap = f'<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Body>{answer}</e:Body></e:Envelope>'
    for text in (answer, request, soap):
        [artefact] = read_message(text.encode())
        assert short(artefact.urn) == "Codelist=A:CL(1.0)"
        [part] = split_message(text.encode())
        assert list(read_message(part.value)) == [artefact]


def test_several_containers_are_combined() -> None:
    """Concepts and agencies in several containers are combined."""
    concept = '<Concepts><s:Concept id="{}" agencyID="A"><s:Name>x</s:Name></s:Concept></Concepts>'
    data = xml(concept.format("X") + concept.format("Y"))
    [scheme] = read_message(data)
    assert isinstance(scheme, ConceptScheme)
    assert list(scheme.concepts) == ["X", "Y"]
    [part] = split_message(data)
    assert list(read_message(part.value)) == [scheme]


def test_a_repeated_concept_is_read_once() -> None:
    """A concept or an agency repeated with equal content is read once."""
    concept = '<s:Concept id="X" agencyID="A"><s:Name>x</s:Name></s:Concept>'
    agency = (
        "<s:OrganisationScheme id='{}' agencyID='A'><s:Agencies><s:Agency id='A'/></s:Agencies></s:OrganisationScheme>"
    )
    schemes = agency.format("O1") + agency.format("O2")
    data = xml(f"<OrganisationSchemes>{schemes}</OrganisationSchemes><Concepts>{concept * 2}</Concepts>")
    agencies, concepts = read_message(data)
    assert isinstance(agencies, AgencyScheme)
    assert isinstance(concepts, ConceptScheme)
    assert (list(agencies.organisations), list(concepts.concepts)) == (["A"], ["X"])
    assert [next(iter(read_message(part.value))) for part in split_message(data)] == [agencies, concepts]


def test_the_first_of_repeated_concepts_and_agencies_is_kept() -> None:
    """The first of several standalone items with one id is kept, with the languages that it lacks, as in OECD.Stat."""
    concept = '<s:Concept id="X" agencyID="A" version="{}"><s:Name xml:lang="{}">{}</s:Name></s:Concept>'
    provider = (
        '<s:OrganisationScheme id="{}" agencyID="A"><s:DataProviders><s:DataProvider id="P"><s:Name>{}</s:Name>'
        "</s:DataProvider></s:DataProviders></s:OrganisationScheme>"
    )
    concepts = concept.format("1.0", "en", "Unit") + concept.format("1.1", "fr", "Unité")
    data = xml(
        f"<OrganisationSchemes>{provider.format('O1', 'first')}{provider.format('O2', 'second')}</OrganisationSchemes>"
        f"<Concepts>{concepts}{concept.format('1.0', 'en', 'Einheit')}</Concepts>"
    )
    providers, scheme = read_message(data)
    assert isinstance(providers, DataProviderScheme)
    assert isinstance(scheme, ConceptScheme)
    assert providers.organisations["P"].names.texts == (("en", "first"),)
    assert scheme.concepts["X"].names.texts == (("en", "Unit"), ("fr", "Unité"))
    assert not isinstance(scheme.concepts["X"], VersionedConcept)
    assert [next(iter(read_message(part.value))) for part in split_message(data)] == [providers, scheme]


@pytest.mark.parametrize("attribute", ["conceptVersion", "conceptSchemeVersion"])
def test_the_version_of_a_concept_scheme_has_two_names(attribute: str) -> None:
    """Files of Eurostat name the version of the concept scheme as an extension of the schema does."""
    dimension = f'<s:Dimension conceptRef="F" conceptSchemeRef="CS" {{}} {attribute}="2.0"/>'
    schemes = "".join(
        f'<s:ConceptScheme id="CS" agencyID="B" version="{version}"><s:Concept id="F"/></s:ConceptScheme>'
        for version in ("1.0", "2.0")
    )
    for agency in ('conceptSchemeAgency="B"', ""):
        body = f"<Concepts>{schemes}</Concepts>" + KEY_FAMILY.format(dimension.format(agency))
        found = get(DataStructure, "K", read_message(xml(body)))
        [component] = found.dimensions.values()
        assert short(component.concept) == "Concept=B:CS(2.0).F"


@pytest.mark.parametrize("named", ["OBSERVATION", "OBS_VALUE"])
def test_an_attachment_measure_names_the_concept(named: str) -> None:
    """The primary measure is called OBS_VALUE since 2.1; attributes refer to it by its concept, or by that name."""
    components = (
        '<s:Dimension conceptRef="F"/><s:PrimaryMeasure conceptRef="OBSERVATION"/>'
        '<s:Attribute conceptRef="X" attachmentLevel="Series">'
        f"<s:AttachmentMeasure>{named}</s:AttachmentMeasure></s:Attribute>"
    )
    found = get(DataStructure, "K", read_message(xml(KEY_FAMILY.format(components))))
    assert found.attributes["X"].relationship.measures == ("OBS_VALUE",)
    assert b"<str:AttachmentMeasure>OBSERVATION<" in write_message(found, Format.SDMX_ML_2_0, verify=False)


def test_a_urn_without_a_version_means_1_0() -> None:
    """URNs of 2.0 may have no version."""
    ref = "<s:KeyFamilyRef><s:URN>urn:sdmx:org.sdmx.infomodel.keyfamily.KeyFamily=ECB:ECB_FMD2</s:URN></s:KeyFamilyRef>"
    [flow] = read_message(xml(f'<Dataflows><s:Dataflow id="F" agencyID="A">{ref}</s:Dataflow></Dataflows>'))
    assert isinstance(flow, Dataflow)
    assert short(flow.structure) == "DataStructure=ECB:ECB_FMD2(1.0)"


def test_codes_and_levels_of_hierarchies_with_unusual_names() -> None:
    """A code may be called * in 2.0, and the order of levels is any integer."""
    codes = "<s:CodeRef><s:CodelistAliasRef>a</s:CodelistAliasRef><s:CodeID>*</s:CodeID></s:CodeRef>"
    included = (
        "<s:CodelistRef><s:AgencyID>A</s:AgencyID><s:CodelistID>CL</s:CodelistID><s:Alias>a</s:Alias></s:CodelistRef>"
    )
    level = '<s:Level id="{}"><s:Name>l</s:Name><s:Order>{}</s:Order></s:Level>'
    levels = level.format("LOW", 1) + level.format("TOP", -1)
    data = xml(
        f'<HierarchicalCodelists><s:HierarchicalCodelist id="H" agencyID="A">{included}<s:Hierarchy id="T">'
        f"<s:Name>t</s:Name>{codes}{levels}</s:Hierarchy></s:HierarchicalCodelist></HierarchicalCodelists>"
    )
    [found] = read_message(data)
    assert isinstance(found, HierarchicalCodelist)
    [hierarchy] = found.hierarchies.values()
    [code] = hierarchy.codes.values()
    assert code.code is not None
    assert (code.code.id, code.code.item) == ("CL", "*")
    assert hierarchy.level is not None
    assert (hierarchy.level.id, hierarchy.level.level and hierarchy.level.level.id) == ("TOP", "LOW")


def test_an_alias_that_cannot_be_an_id_is_an_annotation() -> None:
    """The alias of a node is its id in the hierarchy; any other text is kept in an annotation, and written back."""
    code = "<s:CodeRef><s:CodelistAliasRef>a</s:CodelistAliasRef><s:CodeID>{}</s:CodeID>{}</s:CodeRef>"
    codes = code.format("A", "<s:NodeAliasID>N 1</s:NodeAliasID>") + code.format(
        "B", "<s:NodeAliasID>N2</s:NodeAliasID>"
    )
    included = (
        "<s:CodelistRef><s:AgencyID>A</s:AgencyID><s:CodelistID>CL</s:CodelistID><s:Alias>a</s:Alias></s:CodelistRef>"
    )
    data = xml(
        f'<HierarchicalCodelists><s:HierarchicalCodelist id="H" agencyID="A">{included}<s:Hierarchy id="T">'
        f"{codes}</s:Hierarchy></s:HierarchicalCodelist></HierarchicalCodelists>"
    )
    [found] = read_message(data)
    assert isinstance(found, HierarchicalCodelist)
    first, second = found.hierarchies["T"].codes.values()
    assert (first.id, second.id, second.annotations) == ("A", "N2", ())
    assert [(note.type, note.title) for note in first.annotations] == [("NodeAliasID", "N 1")]
    [again] = read_message(write_message(found, Format.SDMX_ML_2_1))
    assert isinstance(again, HierarchicalCodelist)
    assert again.hierarchies["T"].codes["A"].annotations == first.annotations
    written = write_message(found, Format.SDMX_ML_2_0)
    assert b"<str:NodeAliasID>N 1</str:NodeAliasID>" in written
    assert list(read_message(written)) == [found]


def test_the_kind_of_a_contact_stays_beside_its_role() -> None:
    """A contact has its kind, and the role that it states; formats without kinds keep the role."""
    contacts = (
        "<s:CollectorContact><s:Role>Head</s:Role><s:Email>h@example.org</s:Email></s:CollectorContact>"
        "<s:ReporterContact><s:Email>r@example.org</s:Email></s:ReporterContact>"
    )
    providers = (
        f'<s:DataProviders><s:DataProvider id="P"><s:Name>P</s:Name>{contacts}</s:DataProvider></s:DataProviders>'
    )
    scheme = f'<s:OrganisationScheme id="X" agencyID="A"><s:Name>X</s:Name>{providers}</s:OrganisationScheme>'
    [found] = read_message(xml(f"<OrganisationSchemes>{scheme}</OrganisationSchemes>"))
    assert isinstance(found, DataProviderScheme)
    head, reporter = found.organisations["P"].contacts
    assert isinstance(head, ContactOfKind)
    assert (head.kind, dict(head.roles)) == ("Collector", {"en": "Head"})
    assert (type(reporter), dict(reporter.roles)) == (Contact, {"en": "Reporter"})
    assert list(read_message(write_message(found, Format.SDMX_ML_2_0))) == [found]
    for format_ in (Format.SDMX_ML_2_1, Format.SDMX_JSON_2_0):
        [again] = read_message(write_message(found, format_))
        assert isinstance(again, DataProviderScheme)
        assert [type(one) for one in again.organisations["P"].contacts] == [Contact, Contact]
        assert [dict(one.roles) for one in again.organisations["P"].contacts] == [{"en": "Head"}, {"en": "Reporter"}]


def test_a_scheme_outside_sdmx_is_kept() -> None:
    """A part of a target identifier may have values of a scheme that is not one of SDMX."""
    named = '<s:Name xml:lang="en">N</s:Name>'
    scheme = 'representationScheme="S" representationSchemeAgency="Z" representationSchemeType="External"'
    part = f"{named}<s:TargetObjectClass>Dataflow</s:TargetObjectClass><s:RepresentationScheme {scheme}/>"
    full = f'<s:FullTargetIdentifier id="T">{named}<s:IdentifierComponent id="O">{part}</s:IdentifierComponent>'
    inside = f"<s:TargetIdentifiers>{full}</s:FullTargetIdentifier></s:TargetIdentifiers>"
    data = xml(
        f'<MetadataStructureDefinitions><s:MetadataStructureDefinition id="M" agencyID="A">{named}{inside}'
        "</s:MetadataStructureDefinition></MetadataStructureDefinitions>"
    )
    [found] = read_message(data)
    assert isinstance(found, MetadataStructure)
    [target] = found.metadata_targets["T"].target_objects.values()
    assert isinstance(target, NamedTargetObject)
    assert (target.representation, target.external_scheme) == (None, ExternalScheme(agency="Z", id="S"))
    assert list(read_message(write_message(found, Format.SDMX_ML_2_0))) == [found]


def test_fixed_ids_give_way() -> None:
    """Time and measure keep their concepts' ids if another concept is called TIME_PERIOD or OBS_VALUE."""
    parts = (
        '<s:Dimension conceptRef="TIME_PERIOD"/><s:TimeDimension conceptRef="TIME"/><s:PrimaryMeasure conceptRef="V"/>'
        '<s:Attribute conceptRef="OBS_VALUE" attachmentLevel="Observation"/>'
    )
    found = get(DataStructure, "K", read_message(xml(KEY_FAMILY.format(parts))))
    assert [(component.id, component.urn.cls) for component in found.components] == [
        ("TIME_PERIOD", "Dimension"),
        ("TIME", "TimeDimension"),
        ("V", "PrimaryMeasure"),
        ("OBS_VALUE", "DataAttribute"),
    ]


def test_a_flow_in_a_whole_scheme() -> None:
    """A reference to a category may name only the scheme."""
    ref = "<s:CategoryRef><s:CategorySchemeID>CS</s:CategorySchemeID></s:CategoryRef>"
    [flow] = read_message(xml(f'<Dataflows><s:Dataflow id="F" agencyID="A">{ref}</s:Dataflow></Dataflows>'))
    assert isinstance(flow, CategorisedDataflow)
    assert [short(category) for category in flow.categories] == ["CategoryScheme=A:CS(1.0)"]


def test_declared_encodings_and_gzip_are_read() -> None:
    """Declared encodings, byte order marks and gzip are read."""
    text = codelist_xml("<s:Name>Zürich</s:Name>").decode()
    declared = f'<?xml version="1.0" encoding="ISO-8859-1"?>{text}'.encode("latin-1")
    mark = b"\xef\xbb\xbf"
    left_as_it_was = mark + f'<?xml version="1.0" encoding="ISO-8859-1"?>\n{text}'.encode()
    for data in (declared, mark + text.encode(), left_as_it_was, text.encode("utf-16"), gzip.compress(text.encode())):
        [found] = read_message(data, "application/vnd.sdmx.structure+xml;version=2.1")
        assert isinstance(found, Codelist)
        assert found.name() == "Zürich"
        assert next(iter(read_message(split_message(data)[0].value))) == found


def test_ids_with_blanks() -> None:
    """Blanks around an id are removed; a code may have characters beyond IDType."""
    codes = '<s:Code value=" A "><s:Description>x</s:Description></s:Code><s:Code value="A+B"/>'
    [found] = read_message(codelist_xml(codes, 'id=" CL" agencyID="A " version="1.0 "'))
    assert isinstance(found, Codelist)
    assert short(found.urn) == "Codelist=A:CL(1.0)"
    assert list(found.codes) == ["A", "A+B"]


KEY_FAMILY = '<KeyFamilies><s:KeyFamily id="K" agencyID="A"><s:Components>{}</s:Components></s:KeyFamily></KeyFamilies>'
BAD = {
    "doctype": (b"<!DOCTYPE x>" + codelist_xml(""), "DOCTYPE"),
    "data": (f'<GenericData xmlns="{V20}/message"><Header/></GenericData>'.encode(), "not a structure message"),
    "no agency": (codelist_xml("", 'id="CL"'), "no agency"),
    "no id": (codelist_xml("", 'agencyID="A"'), "no id"),
    "bad version": (codelist_xml("", 'id="CL" agencyID="A" version="one"'), "version"),
    "bad boolean": (codelist_xml("", 'id="CL" agencyID="A" isFinal="maybe"'), "isFinal"),
    "code without value": (codelist_xml("<s:Code/>"), "no value"),
    "code twice": (codelist_xml('<s:Code value="A"/><s:Code value="A"/>'), "duplicate"),
    "code of blanks": (codelist_xml('<s:Code value="A B"/>'), "cannot be an id"),
    "codelist twice": (
        xml('<CodeLists><s:CodeList id="C" agencyID="A"/><s:CodeList id="C" agencyID="A"/></CodeLists>'),
        "duplicate",
    ),
    "container of 1.0": (xml('<Agencies><s:Agency id="A"/></Agencies>'), "not a container of SDMX-ML 2.0"),
    "no container": (xml('<s:CodeList id="CL" agencyID="A"/>'), "not a container"),
    "wrong container": (xml('<KeyFamilies><s:CodeList id="CL" agencyID="A"/></KeyFamilies>'), "not allowed in <KeyF"),
    "no sender": (xml('<Concepts><s:Concept id="C"/></Concepts>', header=""), "no sender"),
    "concept twice": (
        xml(
            '<Concepts><s:ConceptScheme id="CS" agencyID="A"><s:Concept id="C"/><s:Concept id="C" version="2.0"/>'
            "</s:ConceptScheme></Concepts>"
        ),
        "duplicate",
    ),
    "concept twice in an explicit scheme": (
        xml(
            '<Concepts><s:ConceptScheme id="STANDALONE_CONCEPT_SCHEME" agencyID="A"><s:Concept id="C"/>'
            '<s:Concept id="C" version="2.0"/></s:ConceptScheme></Concepts>'
        ),
        "duplicate",
    ),
    "no concept": (xml(KEY_FAMILY.format("<s:Dimension/>")), "no concept"),
    "bad concept": (xml(KEY_FAMILY.format('<s:Dimension conceptRef="a b"/>')), "cannot be"),
    "component twice": (xml(KEY_FAMILY.format('<s:Dimension conceptRef="X"/>' * 2)), "duplicate"),
    "no level": (xml(KEY_FAMILY.format('<s:Attribute conceptRef="X"/>')), "attachmentLevel"),
    "what is this": (xml(KEY_FAMILY.format("<s:Thing/>")), "not allowed in <Components>"),
    "huge number": (
        xml(KEY_FAMILY.format(f'<s:Dimension conceptRef="X"><s:TextFormat maxLength="{"9" * 9999}"/></s:Dimension>')),
        "not a number",
    ),
    "not a number": (
        xml(KEY_FAMILY.format('<s:Dimension conceptRef="X"><s:TextFormat startValue="NaN"/></s:Dimension>')),
        "not a number",
    ),
    "reference to nothing": (
        xml('<Dataflows><s:Dataflow id="F" agencyID="A"><s:KeyFamilyRef/></s:Dataflow></Dataflows>'),
        "names no id",
    ),
    "bad reference": (
        xml(
            '<Dataflows><s:Dataflow id="F" agencyID="A"><s:KeyFamilyRef><s:URN>urn:x</s:URN></s:KeyFamilyRef>'
            "</s:Dataflow></Dataflows>"
        ),
        "neither an id nor a URN",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_invalid_2_0_is_refused_with_its_reason(name: str) -> None:
    """Invalid content is refused at once, with its reason and location."""
    data, reason = BAD[name]
    started = time.thread_time()
    with pytest.raises(MessageError, match=reason) as caught:
        read_message(data)
    assert time.thread_time() - started < 2
    assert len(str(caught.value)) < 1000


def frames_now() -> int:
    """Return the number of frames on the stack."""
    frame, count = inspect.currentframe(), 0
    while frame is not None:
        frame, count = frame.f_back, count + 1
    return count


def nested_steps(levels: int) -> bytes:
    """Return a process with nested steps."""
    step = "".join(f'<s:ProcessStep id="S{i}">' for i in range(levels)) + "</s:ProcessStep>" * levels
    return xml(f'<Processes><s:Process id="P" agencyID="A">{step}</s:Process></Processes>')


def test_nesting_beyond_the_limit_is_refused() -> None:
    """The maximum number of levels in XML is read; more are refused, also on a stack that is nearly used up."""
    assert len(read_message(nested_steps(240))) == 1
    with pytest.raises(MessageError, match="depth"):
        read_message(nested_steps(300))

    def below(frames: int) -> Message:
        return below(frames - 1) if frames else read_message(nested_steps(240))

    with pytest.raises(MessageError, match="too deeply"):
        below(sys.getrecursionlimit() - frames_now() - 300)


@pytest.mark.thorough
def test_a_long_text_below_many_levels() -> None:
    """A text is not processed again on each level above it."""
    deep = "<s:CodeRef><s:CodeID>1</s:CodeID>" * 240 + "<!-- -->" + "x" * 5_000_000 + "</s:CodeRef>" * 240
    hierarchy = (
        f'<s:HierarchicalCodelist id="H" agencyID="A"><s:Hierarchy id="I">{deep}</s:Hierarchy></s:HierarchicalCodelist>'
    )
    started = time.thread_time()
    assert len(read_message(xml(f"<HierarchicalCodelists>{hierarchy}</HierarchicalCodelists>"))) == 1
    assert time.thread_time() - started < 3


@pytest.mark.long
def test_repeated_items_and_schemes_take_linear_time() -> None:
    """Twice as many languages of one concept, or blocks of providers, take about twice as long."""

    def concepts(count: int) -> bytes:
        one = '<s:Concept id="C" agencyID="A"><s:Name xml:lang="l{}">n</s:Name></s:Concept>'
        return xml(f"<Concepts>{''.join(map(one.format, range(count)))}</Concepts>")

    def schemes(count: int) -> bytes:
        names = "".join(f'<s:Name xml:lang="l{number}">n</s:Name>' for number in range(3 * count))
        blocks = "".join(
            f'<s:DataProviders><s:DataProvider id="P{number}"/></s:DataProviders>' for number in range(count)
        )
        first = '<s:OrganisationScheme id="O1" agencyID="A"><s:DataProviders><s:DataProvider id="P"/></s:DataProviders>'
        later = f'<s:OrganisationScheme id="O2" agencyID="A">{names}{blocks}'
        end = "</s:OrganisationScheme>"
        return xml(f"<OrganisationSchemes>{first}{end}{later}{end}</OrganisationSchemes>")

    for made in (concepts, schemes):
        took_s = []
        for count in (500, 4000):
            data = made(count)
            begun_s = time.thread_time()
            read_message(data)
            took_s.append(time.thread_time() - begun_s)
        assert took_s[1] < 30 * max(took_s[0], 0.005)


def test_each_of_many_schemes_of_an_agency_is_joined() -> None:
    """No language is lost, in any of several reads."""
    one = (
        '<s:OrganisationScheme id="O{0}" agencyID="A"><s:Name xml:lang="l{0}">n</s:Name><s:DataProviders>'
        '<s:DataProvider id="P{0}"/></s:DataProviders></s:OrganisationScheme>'
    )
    data = xml(f"<OrganisationSchemes>{''.join(map(one.format, range(40)))}</OrganisationSchemes>")
    for _ in range(20):
        [found] = read_message(data)
        assert {f"l{number}" for number in range(40)} <= set(found.names)


def test_paths_of_categories_are_bounded() -> None:
    """References to a category below a very long id are not completed: each would repeat that id."""
    category = "<s:CategoryID><s:ID>L</s:ID></s:CategoryID>"
    ref = f"<s:CategoryRef><s:CategorySchemeID>CS</s:CategorySchemeID>{category}</s:CategoryRef>"
    flow = f'<s:Dataflow id="F" agencyID="A">{ref}</s:Dataflow>'
    categories = f'<s:Category id="{"P" * 100_000}"><s:Category id="L"/></s:Category>'
    scheme = f'<s:CategoryScheme id="CS" agencyID="A">{categories}</s:CategoryScheme>'
    data = xml(f"<Dataflows>{flow}</Dataflows><CategorySchemes>{scheme}</CategorySchemes>")
    [found] = [one for one in read_message(data, on_error="collect") if isinstance(one, CategorisedDataflow)]
    assert [short(category) for category in found.categories] == ["Category=A:CS(1.0).L"]


@pytest.mark.long
def test_reading_2_0_takes_linear_time() -> None:
    """Reading and splitting codes, concepts, components and artefacts take linear time."""

    def seconds(count: int) -> float:
        codes = "".join(f'<s:Code value="C{i}"><s:Description>x</s:Description></s:Code>' for i in range(count))
        concepts = "".join(f'<s:Concept id="C{i}" agencyID="A{i % 50}"/>' for i in range(count))
        parts = "".join(f'<s:Dimension conceptRef="D{i}"/>' for i in range(count))
        parts += "".join(f'<s:Attribute conceptRef="A{i}" attachmentLevel="Series"/>' for i in range(count))
        lists = "".join(f'<s:CodeList id="L{i}" agencyID="A"/>' for i in range(count))
        data = xml(
            f'<CodeLists><s:CodeList id="CL" agencyID="A">{codes}</s:CodeList>{lists}</CodeLists>'
            f"<Concepts>{concepts}</Concepts>{KEY_FAMILY.format(parts)}"
        )
        best = 60.0
        for _ in range(3):
            started = time.thread_time()
            assert len(read_message(data)) == len(split_message(data)) == count + 52
            best = min(best, time.thread_time() - started)
        return best

    seconds(100)
    # Several attempts, as other programs can change the speed of the processor between the two sizes.
    assert any(seconds(4000) < 9 * seconds(1000) for _ in range(3))


# The names that the index uses for classes renamed by SDMX 2.1.
NAMES = {"CodeList": "Codelist", "KeyFamily": "DataStructure", "MetadataStructureDefinition": "MetadataStructure"}


def count_items(message: Message) -> int:
    """Return the number of codes, concepts and hierarchical codes, as the index counts them."""
    count = 0
    for one in message:
        if isinstance(one, Codelist | ConceptScheme) and not one.is_stub:
            count += len(one.items)
        elif isinstance(one, HierarchicalCodelist) and not one.is_stub:
            count += sum(1 for hierarchy in one.hierarchies.values() for _ in hierarchy.walk())
    return count


@pytest.mark.parametrize("row", rows(("sdmx-ml", "2.0")))
def test_the_2_0_corpus_equals_the_index(row: dict[str, str]) -> None:
    """All content counted by the index is found; organisation schemes are agency schemes or kept whole."""
    message = read_message(data_of(row))
    expected: Counter[str] = Counter()
    for each_part in row["maintainables_by_type"].split(";"):
        name, count = each_part.split("=")
        expected[NAMES.get(name, name)] += int(count)
    standalone = expected.pop("Concept(standalone)", 0)
    found: Counter[str] = Counter(urn.cls for urn in message.artefacts)
    schemes: list[Any] = [one for one in message if one.id == "STANDALONE_CONCEPT_SCHEME"]
    assert sum(len(scheme.concepts) for scheme in schemes) == standalone
    found.subtract({"ConceptScheme": len(schemes), "AgencyScheme": found["AgencyScheme"]})
    found["OrganisationScheme"] += sum(urn.cls == "AgencyScheme" for urn in message.artefacts)
    assert +found == expected
    assert count_items(message) == int(row[ITEMS])
    parts = split_message(data_of(row))
    for part, artefact in zip(parts, message, strict=True):
        [alone] = read_message(part.value)
        assert alone.urn == artefact.urn
        assert alone == artefact or isinstance(artefact, OpaqueArtefact)


def test_references_with_blanks() -> None:
    """Blanks around references are removed, as those around ids are; also where the agency is looked up."""
    codes = '<s:Code value="A"/><s:Code value="B" parentCode=" A "/>'
    lists = f'<s:CodeList id="CL" agencyID="X" version="2.0">{codes}</s:CodeList>'
    concepts = '<s:ConceptScheme id="CS" agencyID="Y" version="3.0"><s:Concept id="C"/></s:ConceptScheme>'
    text = '<s:TextFormat textType=" Date "/>'
    component = (
        '<s:Dimension conceptRef=" C " conceptSchemeRef=" CS " codelist=" CL" conceptVersion=" 3.0 " '
        'codelistVersion="2.0 ">'
    )
    data = xml(
        f"<CodeLists>{lists}</CodeLists><Concepts>{concepts}</Concepts>"
        + KEY_FAMILY.format(f"{component}{text}</s:Dimension>").replace('agencyID="A"', 'agencyID=" A "')
    )
    structure = get(DataStructure, "K", read_message(data))
    assert get(Codelist, "CL", read_message(data)).codes["B"].parent == "A"
    [dimension] = structure.dimension_list.values()
    assert structure.agency == "A"
    assert short(dimension.concept) == "Concept=Y:CS(3.0).C"
    assert dimension.representation is not None
    assert short(dimension.representation.enumeration) == "Codelist=X:CL(2.0)"
    assert dimension.representation.format is not None
    assert dimension.representation.format.text_type == "GregorianDay"


def test_comments_within_references_change_nothing() -> None:
    """The parts of a message with comments in its references mean the same as the whole message."""
    reference = "<s:KeyFamilyRef><s:KeyFamilyID>K<!-- no --></s:KeyFamilyID></s:KeyFamilyRef>"
    flow = f'<Dataflows><s:Dataflow id="F" agencyID="B">{reference}</s:Dataflow></Dataflows>'
    data = xml(flow + KEY_FAMILY.format('<s:Dimension conceptRef="C"/>'))
    whole = get(Dataflow, "F", read_message(data))
    [part] = [part for part in split_message(data) if part.urn == whole.urn]
    assert list(read_message(part.value)) == [whole]
    assert short(whole.structure_reference) == "DataStructure=A:K(1.0)"


def test_numbers_with_a_small_exponent_are_read() -> None:
    """The numbers of 2.0 are of the type double, which may have an exponent; large exponents are refused."""
    text = '<s:Dimension conceptRef="X"><s:TextFormat startValue="{}"/></s:Dimension>'
    structure = get(DataStructure, "K", read_message(xml(KEY_FAMILY.format(text.format("1.5E3")))))
    representation = structure.dimension_list["X"].representation
    assert representation is not None
    assert representation.format is not None
    assert representation.format.start_value == 1500
    with pytest.raises(MessageError, match="not a number"):
        list(read_message(xml(KEY_FAMILY.format(text.format("1E99999999999")))))


def test_infinite_bounds_are_no_bounds() -> None:
    """A double of 2.0 may be infinite; then there is no limit."""
    format_ = '<s:TextFormat startValue="-INF" endValue=" INF " interval="INF" decimals="2"/>'
    data = xml(KEY_FAMILY.format(f'<s:Dimension conceptRef="X">{format_}</s:Dimension>'))
    representation = get(DataStructure, "K", read_message(data)).dimension_list["X"].representation
    assert representation is not None
    assert representation.format == TextFormat(decimals=2)


CATEGORIES = """<CategorySchemes><s:CategoryScheme id="CS" agencyID="A"><s:Category id="P"><s:Category id="L"/>
<s:Category id="P"/></s:Category><s:Category id="Q"><s:Category id="R"><s:Category id="S"/></s:Category></s:Category>
<s:Category id="T"><s:Category id="TWICE"/></s:Category><s:Category id="U"><s:Category id="TWICE"/></s:Category>
</s:CategoryScheme></CategorySchemes>"""


@pytest.mark.parametrize(
    ("stated", "meant"),
    [
        ("L", "P.L"),
        ("S", "Q.R.S"),
        ("Q", "Q"),
        ("P", "P"),
        ("TWICE", "TWICE"),
        ("MISSING", "MISSING"),
        ("L</s:ID><s:CategoryID><s:ID>X</s:ID></s:CategoryID><s:ID>", "L.X"),
    ],
)
def test_a_category_by_its_own_id_alone(stated: str, meant: str) -> None:
    """A reference with the id of a category below others means that category, if its scheme is in the message."""
    id_ = f"<s:CategoryID><s:ID>{stated}</s:ID></s:CategoryID>".replace("<s:ID></s:ID>", "")
    scheme = "<s:CategorySchemeID>CS</s:CategorySchemeID>"
    flow = f'<s:Dataflow id="F" agencyID="A"><s:CategoryRef>{scheme}{id_}</s:CategoryRef></s:Dataflow>'
    data = xml(f"<Dataflows>{flow}</Dataflows>{CATEGORIES}")
    found = get(CategorisedDataflow, "F", read_message(data))
    assert [short(urn) for urn in found.categories] == [f"Category=A:CS(1.0).{meant}"]
    [part] = [part for part in split_message(data) if part.urn == found.urn]
    assert list(read_message(part.value)) == [found]


def test_schemes_of_one_agency_are_joined() -> None:
    """Languages and annotations that only a later scheme of providers of an agency has are added to the first."""
    note = "<s:Annotations><c:Annotation><c:AnnotationTitle>n</c:AnnotationTitle></c:Annotation></s:Annotations>"
    schemes = "".join(
        f'<s:OrganisationScheme id="{id_}" agencyID="A"><!-- c --><s:Name xml:lang="{language}">{id_}</s:Name>'
        f'<s:DataProviders><s:DataProvider id="{id_}"/></s:DataProviders>{notes}</s:OrganisationScheme>'
        for id_, language, notes in (("X", "en", ""), ("Y", "fr", note), ("Z", "FR", note))
    )
    data = xml(f"<OrganisationSchemes>{schemes}</OrganisationSchemes>")
    [found] = read_message(data)
    assert isinstance(found, DataProviderScheme)
    assert list(found.organisations) == ["X", "Y", "Z"]
    assert found.names.texts == (("en", "X"), ("fr", "Y"))
    assert [one.title for one in found.annotations] == ["n"]
    [part] = split_message(data)
    assert list(read_message(part.value)) == [found]
