"""SDMX-ML 1.0: all constructs of the sample, twins in 1.0, 2.0, 2.1 and EDI, damage, and the corpus."""

from __future__ import annotations

from collections import Counter

import pytest

from kafka_replica.sdmx import (
    Codelist,
    ConceptScheme,
    DataStructure,
    Format,
    TextFormat,
    read_message,
    split_message,
)
from kafka_replica.sdmx.errors import MessageError
from kafka_replica.sdmx.model import AgencyScheme
from kafka_replica.sdmx.model.earlier_editions import CrossSectionalMeasure, KeyFamilyDimension
from support.paths import SDMX_DATA
from support.sdmx.sdmx_corpus import ITEMS, data_of, rows

SAMPLE = SDMX_DATA / "key_family.sdmx10.xml"
V10 = "http://www.SDMX.org/resources/SDMXML/schemas/v1_0"


def xml(body: str, header: str = '<Sender id="S"/>') -> bytes:
    """Return a message of SDMX-ML 1.0."""
    return (
        f'<Structure xmlns="{V10}/message" xmlns:s="{V10}/structure" xmlns:c="{V10}/common">'
        f"<Header>{header}</Header>{body}</Structure>"
    ).encode()


def test_every_artefact_of_1_0_is_read() -> None:
    """Agencies, codelists, concepts and key families are read; an artefact without an agency is the sender's."""
    message = read_message(SAMPLE.read_bytes())
    assert message.format is Format.SDMX_ML_1_0
    assert (message.header.id, message.header.sender, message.header.test) == ("KR10", "KR", False)
    assert [f"{urn.cls}={urn.reference}" for urn in message.artefacts] == [
        "AgencyScheme=SDMX:AGENCIES(1.0)",
        "Codelist=KR:CL_FREQ(1.0)",
        "Codelist=KR:CL_DOTS(1.0)",
        "Codelist=KR:CL_STUB(1.0)",
        "ConceptScheme=KR:STANDALONE_CONCEPT_SCHEME(1.0)",
        "DataStructure=KR:KF(1.0)",
    ]


def test_items_keep_names_annotations_and_contacts() -> None:
    """Codes, concepts and agencies keep names in all languages (English by default), annotations and contacts."""
    agencies, freq, dots, stub, concepts, _ = read_message(SAMPLE.read_bytes())
    assert isinstance(agencies, AgencyScheme)
    assert list(agencies.organisations) == ["KR", "KR2"]
    [contact] = agencies.organisations["KR"].contacts
    assert (contact.names["en"], contact.roles["en"], contact.emails) == ("Ms Sample", "Reporter", ("a@example.org",))
    assert isinstance(freq, Codelist)
    assert dict(freq.names) == {"en": "Frequency", "fr": "Fréquence"}
    assert {code.id: code.name("en") for code in freq.codes.values()} == {"A": "Annual", "M": "Monthly"}
    [note] = freq.codes["M"].annotations
    assert (note.type, note.text["en"]) == ("ShortDescription", "mon.")
    assert isinstance(dots, Codelist)
    assert list(dots.codes) == ["1.1", "a:b"]
    assert isinstance(stub, Codelist)
    assert (stub.is_stub, stub.structure_url) == (True, "http://example.org/stub.xml")
    assert isinstance(concepts, ConceptScheme)
    assert list(concepts.concepts) == ["TIME", "FREQ", "OBS_VALUE"]
    assert concepts.concepts["FREQ"].uri == "http://example.org/freq"


def test_the_time_dimension_has_the_fixed_id() -> None:
    """The time dimension has the id fixed by 2.1, its concept the name of 1.0; formats and levels are kept."""
    found = next(one for one in read_message(SAMPLE.read_bytes()) if isinstance(one, DataStructure))
    assert [(component.id, component.urn.cls) for component in found.components] == [
        ("FREQ", "Dimension"),
        ("KIND", "MeasureDimension"),
        ("AREA", "Dimension"),
        ("TIME_PERIOD", "TimeDimension"),
        ("OBS_VALUE", "PrimaryMeasure"),
        ("STOCKS", "CrossSectionalMeasure"),
        ("TIME_FORMAT", "DataAttribute"),
        ("STATUS", "DataAttribute"),
        ("BREAK", "DataAttribute"),
        ("UNIT", "DataAttribute"),
        ("TITLE", "DataAttribute"),
    ]
    time_dimension = found.time_dimension
    assert time_dimension is not None
    assert str(time_dimension.concept).endswith("Concept=KR:STANDALONE_CONCEPT_SCHEME(1.0).TIME")
    area = found.dimension_list["AREA"]
    assert isinstance(area, KeyFamilyDimension)
    assert area.cross_sectional == ("Section",)
    stocks = found.measures["STOCKS"]
    assert isinstance(stocks, CrossSectionalMeasure)
    assert (stocks.measure_dimension, stocks.code) == ("KIND", "S")
    formats = {
        component.id: component.representation.format for component in found.components if component.representation
    }
    assert formats["TIME_PERIOD"] == TextFormat(text_type="String", max_length=35)
    assert formats["TIME_FORMAT"] == TextFormat(text_type="String", min_length=3, max_length=3)
    assert formats["BREAK"] == TextFormat(text_type="Numeric", max_length=15, decimals=2)
    assert formats["UNIT"] == TextFormat(text_type="Alpha", max_length=9)
    assert formats["TITLE"] == TextFormat(max_length=70)
    assert {
        attribute.id: (attribute.relationship.kind, attribute.mandatory) for attribute in found.attributes.values()
    } == {
        "TIME_FORMAT": ("dimensions", True),
        "STATUS": ("observation", True),
        "BREAK": ("observation", False),
        "UNIT": ("group", False),
        "TITLE": ("dataset", False),
    }
    assert found.attributes["BREAK"].relationship.measures == ("STOCKS",)
    assert found.groups["SIBLINGS"].dimensions == ("KIND", "AREA")
    assert (found.uri, found.annotations[0].title) == ("http://example.org/kf.xml", "of the key family")


def test_each_part_of_1_0_equals_its_artefact() -> None:
    """Each part is a message of one artefact, and reads as the same artefact."""
    message = read_message(SAMPLE.read_bytes())
    parts = split_message(SAMPLE.read_bytes())
    assert [part.urn for part in parts] == list(message.artefacts)
    for part, artefact in zip(parts, message, strict=True):
        assert part.content_type == Format.SDMX_ML_1_0
        assert list(read_message(part.value)) == [artefact]


def twins() -> list[bytes]:
    """Return a codelist, a concept and a key family in 1.0, 2.0, 2.1 and SDMX-EDI."""
    old = """
    <CodeLists><s:CodeList id="CL" {agency}="A"><s:Name>List</s:Name>
      <s:Code value="X"><s:Description>Ex</s:Description></s:Code></s:CodeList></CodeLists>
    <Concepts><s:Concept id="FREQ" {agency}="A"><s:Name>Frequency</s:Name></s:Concept></Concepts>
    <KeyFamilies><s:KeyFamily id="K" {agency}="A"><s:Name>Family</s:Name><s:Components>
      <s:Dimension {concept}="FREQ" codelist="CL" isFrequencyDimension="true"/>
      <s:Dimension {concept}="AREA" codelist="CL"/>
      <s:TimeDimension {concept}="TIME_PERIOD"/>
      <s:Group id="Sibling"><s:DimensionRef>AREA</s:DimensionRef></s:Group>
      <s:PrimaryMeasure {concept}="OBS_VALUE"/>
      <s:Attribute {concept}="STATUS" codelist="CL" attachmentLevel="Observation" assignmentStatus="Mandatory"/>
      <s:Attribute {concept}="COLL" codelist="CL" attachmentLevel="Series" assignmentStatus="Conditional"/>
      <s:Attribute {concept}="UNIT" codelist="CL" attachmentLevel="Group" assignmentStatus="Conditional">
        <s:AttachmentGroup>Sibling</s:AttachmentGroup></s:Attribute>
      <s:Attribute {concept}="TITLE" codelist="CL" attachmentLevel="DataSet" assignmentStatus="Conditional"/>
    </s:Components></s:KeyFamily></KeyFamilies>"""
    first = xml(old.format(agency="agency", concept="concept"))
    second = xml(old.format(agency="agencyID", concept="conceptRef")).replace(b"v1_0", b"v2_0")
    urn = "<URN>urn:sdmx:org.sdmx.infomodel.conceptscheme.Concept=A:STANDALONE_CONCEPT_SCHEME(1.0).{}</URN>"
    identity = f"<s:ConceptIdentity>{urn}</s:ConceptIdentity>"
    coded = (
        "<s:LocalRepresentation><s:Enumeration><URN>urn:sdmx:org.sdmx.infomodel.codelist.Codelist=A:CL(1.0)</URN>"
        "</s:Enumeration></s:LocalRepresentation>"
    )
    attribute = (
        f'<s:Attribute id="{{0}}" assignmentStatus="{{1}}">{identity.replace("{}", "{0}")}{coded}'
        "<s:AttributeRelationship>{2}</s:AttributeRelationship></s:Attribute>"
    )
    third = f"""
    <Structures><s:Codelists><s:Codelist id="CL" agencyID="A"><c:Name>List</c:Name>
      <s:Code id="X"><c:Name>Ex</c:Name></s:Code></s:Codelist></s:Codelists>
    <s:Concepts><s:ConceptScheme id="STANDALONE_CONCEPT_SCHEME" agencyID="A"><c:Name>Default Scheme</c:Name>
      <s:Concept id="FREQ"><c:Name>Frequency</c:Name></s:Concept></s:ConceptScheme></s:Concepts>
    <s:DataStructures><s:DataStructure id="K" agencyID="A"><c:Name>Family</c:Name><s:DataStructureComponents>
      <s:DimensionList>
        <s:Dimension id="FREQ">{identity.format("FREQ")}{coded}</s:Dimension>
        <s:Dimension id="AREA">{identity.format("AREA")}{coded}</s:Dimension>
        <s:TimeDimension>{identity.format("TIME_PERIOD")}</s:TimeDimension>
      </s:DimensionList>
      <s:Group id="Sibling"><s:GroupDimension><s:DimensionReference><Ref id="AREA"/></s:DimensionReference>
        </s:GroupDimension></s:Group>
      <s:AttributeList>
        {attribute.format("STATUS", "Mandatory", '<s:PrimaryMeasure><Ref id="OBS_VALUE"/></s:PrimaryMeasure>')}
        {
        attribute.format(
            "COLL",
            "Conditional",
            '<s:Dimension><Ref id="FREQ"/></s:Dimension><s:Dimension><Ref id="AREA"/></s:Dimension>',
        )
    }
        {attribute.format("UNIT", "Conditional", '<s:Group><Ref id="Sibling"/></s:Group>')}
        {attribute.format("TITLE", "Conditional", "<s:None/>")}
      </s:AttributeList>
      <s:MeasureList><s:PrimaryMeasure>{identity.format("OBS_VALUE")}</s:PrimaryMeasure></s:MeasureList>
    </s:DataStructureComponents></s:DataStructure></s:DataStructures></Structures>"""
    edi = (
        "UNB+UNOC:3+S+R+970101:0000+R'UNH+1+GESMES:2:1:E6'BGM+73'NAD+Z02+A'VLI+CL+++List'CDV+X'FTX+ACM+++Ex'"
        "STC+FREQ'FTX+ACM+++Frequency'ASI+K'FTX+ACM+++Family'SCD+13+FREQ'IDE+1+CL'SCD+4+AREA'IDE+1+CL'"
        "SCD+1+TIME_PERIOD'SCD+3+OBS_VALUE'SCD+3+STATUS'ATT+3+35+2:USS'ATT+3+32+5:ALV'IDE+1+CL'"
        "SCD+Z09+COLL'ATT+3+35+1:USS'ATT+3+32+4:ALV'IDE+1+CL'SCD+Z09+UNIT'ATT+3+35+1:USS'ATT+3+32+9:ALV'IDE+1+CL'"
        "SCD+Z09+TITLE'ATT+3+35+1:USS'ATT+3+32+1:ALV'IDE+1+CL'UNT+1+1'UNZ+1+R'"
    )
    return [first, second, xml(third).replace(b"v1_0", b"v2_1"), edi.encode()]


def test_equal_structures_in_four_formats_give_equal_models() -> None:
    """Equal structures in four formats give equal models, except for the format of time that EDI fixes."""
    first, second, third, edi = (list(read_message(data)) for data in twins())
    assert first == second
    assert [one.urn for one in first] == [one.urn for one in third] == [one.urn for one in edi]
    assert first[0] == third[0] == edi[0]
    assert first[1] == third[1] == edi[1]
    assert first[2] == third[2]
    ours, theirs = first[2], edi[2]
    assert isinstance(ours, DataStructure)
    assert isinstance(theirs, DataStructure)
    assert ours.attributes == theirs.attributes
    assert ours.groups == theirs.groups
    assert ours.dimensions == theirs.dimensions
    assert ours.measures == theirs.measures
    assert theirs.time_dimension is not None
    assert theirs.time_dimension.representation is not None


BAD = {
    "no agency, no sender": (xml('<CodeLists><s:CodeList id="C"/></CodeLists>', header=""), "no agency"),
    "what 2.0 has": (xml("<Dataflows/>"), "not a container of SDMX-ML 1.0"),
    "code of blanks": (
        xml('<CodeLists><s:CodeList id="C"><s:Code value="A B"/></s:CodeList></CodeLists>'),
        "cannot be an id",
    ),
    "text type": (
        xml(
            '<KeyFamilies><s:KeyFamily id="K"><s:Components><s:TimeDimension concept="T">'
            '<s:TextFormat TextType="Roman"/></s:TimeDimension></s:Components></s:KeyFamily></KeyFamilies>'
        ),
        "TextType",
    ),
    "huge length": (
        xml(
            '<KeyFamilies><s:KeyFamily id="K"><s:Components><s:TimeDimension concept="T">'
            f'<s:TextFormat length="{"9" * 9999}"/></s:TimeDimension></s:Components></s:KeyFamily></KeyFamilies>'
        ),
        "not a number",
    ),
    "doctype": (b"<!DOCTYPE a [<!ENTITY b 'c'>]>" + xml(""), "DOCTYPE"),
}


@pytest.mark.parametrize("name", BAD)
def test_invalid_1_0_is_refused_with_its_reason(name: str) -> None:
    """Each kind of invalid SDMX-ML 1.0 is refused with its own reason."""
    data, reason = BAD[name]
    with pytest.raises(MessageError, match=reason):
        read_message(data)


@pytest.mark.parametrize("row", rows(("sdmx-ml", "1.0")))
def test_the_1_0_corpus_equals_the_index(row: dict[str, str]) -> None:
    """All artefacts and items counted by the index are found."""
    message = read_message(data_of(row))
    expected = dict(part.split("=") for part in row["maintainables_by_type"].split(";"))
    found = Counter(urn.cls for urn in message.artefacts)
    [concepts] = [one for one in message if isinstance(one, ConceptScheme)]
    assert (found["Codelist"], found["DataStructure"]) == (int(expected["CodeList"]), int(expected["KeyFamily"]))
    assert len(concepts.concepts) == int(expected["Concept(standalone)"])
    codes = sum(len(one.codes) for one in message if isinstance(one, Codelist))
    assert codes + len(concepts.concepts) == int(row[ITEMS])
    for part, artefact in zip(split_message(data_of(row)), message, strict=True):
        assert list(read_message(part.value)) == [artefact]
