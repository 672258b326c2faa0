"""References of SDMX-ML 1.0 and 2.0 without an agency, and data structures without components."""

from __future__ import annotations

from itertools import permutations

import pytest

from kafka_replica.data.validation import compile_rules
from kafka_replica.sdmx import (
    DataStructure,
    OpaqueArtefact,
    ResolvedStructure,
    StructureCheck,
    Structures,
    Urn,
    read_message,
    split_message,
    write_message,
)
from kafka_replica.sdmx.errors import IncompleteStructureError, SdmxError, UnreadableContentError
from kafka_replica.sdmx.messages.format import Format
from support.sdmx.ml_messages_by_hand import old_ml
from support.sdmx.sdmx_corpus import FakeSnapshot, data_of, rows
from support.sdmx.sdmx_json_samples import artefact, message
from support.sdmx.standard_schemas import faults

KEY_FAMILY = Urn.parse("urn:sdmx:org.sdmx.infomodel.datastructure.DataStructure=UNSD:COMTRADE(1.0)")


def codelist(id_: str, agency: str, version: str = "1.0", edition: str = "2_0") -> str:
    """Return a codelist of two codes."""
    name, of_code = "<s:Name>L</s:Name>", "<s:Description>C</s:Description>"
    attribute = "agencyID" if edition == "2_0" else "agency"
    codes = "".join(f'<s:Code value="{code}">{of_code}</s:Code>' for code in ("A", "M"))
    return f'<s:CodeList id="{id_}" {attribute}="{agency}" version="{version}">{name}{codes}</s:CodeList>'


def concept(id_: str, agency: str, edition: str = "2_0") -> str:
    """Return a concept outside schemes."""
    attribute = "agencyID" if edition == "2_0" else "agency"
    return f'<s:Concept id="{id_}" {attribute}="{agency}"><s:Name>C</s:Name></s:Concept>'


def family(components: str, edition: str = "2_0") -> str:
    """Return the key family of UNSD."""
    attribute = "agencyID" if edition == "2_0" else "agency"
    return (
        f'<KeyFamilies><s:KeyFamily id="COMTRADE" {attribute}="UNSD"><s:Name>K</s:Name><s:Components>{components}'
        "</s:Components></s:KeyFamily></KeyFamilies>"
    )


def whole(lists: str, concepts: str, components: str, edition: str = "2_0") -> bytes:
    """Return a message like those of UN Comtrade and Eurostat: lists and concepts of SDMX, a foreign key family."""
    return old_ml(
        f"<CodeLists>{lists}</CodeLists><Concepts>{concepts}</Concepts>{family(components, edition)}", edition
    )


def dimension(found: bytes) -> tuple[str, str]:
    """Return the concept and the codelist of the first dimension, by reference."""
    [structure] = [one for one in read_message(found) if isinstance(one, DataStructure)]
    [first, *_] = structure.dimension_list.values()
    assert first.concept is not None
    assert first.representation is not None
    assert first.representation.enumeration is not None
    alone = split_message(found)[-1]
    assert list(read_message(alone.value)) == [structure], "the record of the key family means the same"
    return f"{first.concept.reference}", first.representation.enumeration.reference


FREQ_20 = '<s:Dimension conceptRef="FREQ" codelist="CL_FREQ"/><s:PrimaryMeasure conceptRef="FREQ_VALUE"/>'
FREQ_10 = FREQ_20.replace("conceptRef", "concept")


@pytest.mark.parametrize(("edition", "components"), [("1_0", FREQ_10), ("2_0", FREQ_20)])
def test_the_only_list_with_that_id_is_meant(edition: str, components: str) -> None:
    """References from a key family of UNSD to lists and concepts of SDMX all resolve, also in separate records."""
    concepts = concept("FREQ", "SDMX", edition) + concept("FREQ_VALUE", "SDMX", edition)
    data = whole(codelist("CL_FREQ", "SDMX", edition=edition), concepts, components, edition)
    assert faults(edition.replace("_", ""), data) == []
    assert dimension(data) == ("SDMX:STANDALONE_CONCEPT_SCHEME(1.0).FREQ", "SDMX:CL_FREQ(1.0)")
    structures = Structures(FakeSnapshot.of(split_message(data)))
    assert structures.dangling_references() == ()
    found = structures.resolve(KEY_FAMILY)
    assert isinstance(found, ResolvedStructure)
    assert found.components["FREQ"].allowed_ids() == {"A", "M"}


@pytest.mark.parametrize(
    ("lists", "expected"),
    [
        ([("SDMX", "1.0")], "SDMX:CL_FREQ(1.0)"),
        ([("SDMX", "2.3")], "SDMX:CL_FREQ(2.3)"),
        ([("UNSD", "1.0"), ("SDMX", "1.0")], "UNSD:CL_FREQ(1.0)"),
        ([("UNSD", "2.0")], "UNSD:CL_FREQ(2.0)"),
        ([("SDMX", "1.0"), ("ECB", "1.0")], "UNSD:CL_FREQ(1.0)"),
        ([("SDMX", "1.0"), ("SDMX", "2.0")], "UNSD:CL_FREQ(1.0)"),
        ([], "UNSD:CL_FREQ(1.0)"),
    ],
)
def test_the_key_familys_own_list_has_priority(lists: list[tuple[str, str]], expected: str) -> None:
    """The key family's own list is meant, otherwise the only one; of several other lists none is guessed."""
    for some in permutations(lists):
        data = whole("".join(codelist("CL_FREQ", *one) for one in some), concept("FREQ", "UNSD"), FREQ_20)
        assert dimension(data)[1] == expected


def test_a_stated_agency_or_version_counts() -> None:
    """A stated agency counts, and so does a version that no list of the message has."""
    lists = codelist("CL_FREQ", "SDMX", "1.0")
    parse_lenient = FREQ_20.replace('codelist="CL_FREQ"', 'codelist="CL_FREQ" codelistAgency="UNSD"')
    assert dimension(whole(lists, concept("FREQ", "SDMX"), parse_lenient))[1] == "UNSD:CL_FREQ(1.0)"
    newer = FREQ_20.replace('codelist="CL_FREQ"', 'codelist="CL_FREQ" codelistVersion="2.0"')
    assert dimension(whole(lists, concept("FREQ", "SDMX"), newer))[1] == "UNSD:CL_FREQ(2.0)"


def scheme(id_: str, agency: str, version: str = "1.0") -> str:
    """Return a concept scheme of SDMX-ML 2.0 with the concept FREQ."""
    inside = '<s:Name>S</s:Name><s:Concept id="FREQ"><s:Name>F</s:Name></s:Concept>'
    return f'<s:ConceptScheme id="{id_}" agencyID="{agency}" version="{version}">{inside}</s:ConceptScheme>'


@pytest.mark.parametrize(
    ("concepts", "attributes", "expected"),
    [
        (scheme("CS", "ESTAT", "3.0"), "", "ESTAT:CS(3.0).FREQ"),
        (scheme("CS", "ESTAT", "3.0"), 'conceptSchemeRef="CS"', "ESTAT:CS(3.0).FREQ"),
        (scheme("CS", "ESTAT", "3.0"), 'conceptAgency="ESTAT"', "ESTAT:CS(3.0).FREQ"),
        (scheme("CS", "ESTAT"), 'conceptAgency="SDMX"', "SDMX:STANDALONE_CONCEPT_SCHEME(1.0).FREQ"),
        (scheme("CS", "ESTAT"), 'conceptSchemeRef="CS" conceptSchemeAgency="SDMX"', "SDMX:CS(1.0).FREQ"),
        (scheme("CS", "ESTAT") + scheme("CS2", "SDMX"), "", "UNSD:STANDALONE_CONCEPT_SCHEME(1.0).FREQ"),
        (scheme("CS", "ESTAT") + concept("FREQ", "SDMX"), "", "SDMX:STANDALONE_CONCEPT_SCHEME(1.0).FREQ"),
        (concept("FREQ", "ESTAT") + concept("FREQ", "SDMX"), "", "UNSD:STANDALONE_CONCEPT_SCHEME(1.0).FREQ"),
        (concept("FREQ", "UNSD") + concept("FREQ", "SDMX"), "", "UNSD:STANDALONE_CONCEPT_SCHEME(1.0).FREQ"),
    ],
)
def test_a_concept_outside_schemes_has_priority(concepts: str, attributes: str, expected: str) -> None:
    """A concept outside schemes has priority, then the only scheme that contains the concept."""
    components = FREQ_20.replace('codelist="CL_FREQ"', f'codelist="CL_FREQ" {attributes}', 1)
    assert dimension(whole("", concepts, components))[0] == expected


def test_core_representations_and_flows() -> None:
    """The codelist of a concept, and the key family of a dataflow, are found by the same rule."""
    core = '<s:Concept id="FREQ" agencyID="UNSD" coreRepresentation="CL_FREQ"><s:Name>F</s:Name></s:Concept>'
    reference = "<s:KeyFamilyRef><s:KeyFamilyID>COMTRADE</s:KeyFamilyID></s:KeyFamilyRef>"
    flow = f'<s:Dataflow id="DF" agencyID="OTHER"><s:Name>D</s:Name>{reference}</s:Dataflow>'
    concepts = core + concept("FREQ_VALUE", "SDMX")
    lists = f"<CodeLists>{codelist('CL_FREQ', 'SDMX', '2.0')}</CodeLists><Concepts>{concepts}</Concepts>"
    data = old_ml(f"<Dataflows>{flow}</Dataflows>{lists}{family(FREQ_20)}")
    structures = Structures(FakeSnapshot.of(split_message(data)))
    found = structures.resolve("OTHER:DF(1.0)")
    assert found.data_structure.urn == KEY_FAMILY
    concept_ = found.components["FREQ"].concept
    assert concept_ is not None
    assert concept_.core_representation is not None
    assert str(concept_.core_representation.enumeration).endswith("=SDMX:CL_FREQ(2.0)")
    part = next(part for part in split_message(data) if part.urn.cls == "Dataflow")
    assert faults("20", part.value) == []


@pytest.mark.parametrize("row", rows(("sdmx-ml", "1.0"), ("sdmx-ml", "2.0")))
def test_a_separate_record_reads_the_same_as_its_file(row: dict[str, str]) -> None:
    """Each artefact reads the same from the whole file and from a record of its own."""
    data = data_of(row)
    try:
        whole = read_message(data)
    except SdmxError:
        pytest.skip("the file cannot be read")
    for part in split_message(data):
        if not isinstance(whole.artefacts[part.urn], OpaqueArtefact):
            assert list(read_message(part.value, part.content_type)) == [whole.artefacts[part.urn]]


def hollow_structures() -> dict[str, tuple[Urn, bytes]]:
    """Return data structures with names and without components, in several formats."""
    urn = Urn.of("DataStructure", "A", "K", "1.0")
    found = {
        "2.0 without": '<s:KeyFamily id="K" agencyID="A"><s:Name>N</s:Name></s:KeyFamily>',
        "2.0 empty": '<s:KeyFamily id="K" agencyID="A"><s:Name>N</s:Name><s:Components/></s:KeyFamily>',
    }
    messages = {name: (urn, old_ml(f"<KeyFamilies>{text}</KeyFamilies>")) for name, text in found.items()}
    json_ = message({"dataStructures": [artefact("K", version="1.0")]})
    structure = next(iter(read_message(json_)))
    messages["json"] = urn, json_
    for format_ in (Format.SDMX_ML_2_1, Format.SDMX_ML_3_0, Format.FUSION_JSON):
        messages[format_.title] = urn, write_message(structure, format_)
    return messages


@pytest.mark.parametrize("name", list(hollow_structures()))
def test_a_data_structure_without_components_is_a_stub(name: str) -> None:
    """Resolution and validation refuse such a structure instead of accepting every row; the check finds it."""
    urn, data = hollow_structures()[name]
    snapshot = FakeSnapshot.of(split_message(data))
    structures = Structures(snapshot)
    with pytest.raises(IncompleteStructureError, match="stub"):
        structures.resolve(urn)
    with pytest.raises((UnreadableContentError, IncompleteStructureError), match="stub"):
        compile_rules(structures, urn)
    with pytest.raises(UnreadableContentError, match="stub"):
        StructureCheck(stubs=False)(snapshot.records[bytes(urn)])
