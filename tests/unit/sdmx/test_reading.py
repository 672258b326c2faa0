"""Reading into the model: samples, handmade messages, twins, stubs, content types."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_replica.sdmx import (
    Attribute,
    Codelist,
    ConceptScheme,
    Dataflow,
    DataStructure,
    Format,
    OpaqueArtefact,
    Urn,
    ValueList,
    read_message,
    split_message,
)
from kafka_replica.sdmx.errors import MessageError, UnreadableContentError
from kafka_replica.sdmx.messages.format import of_content_type
from kafka_replica.sdmx.samples import sample_files
from support.sdmx.ml_messages_by_hand import codelist_xml, only, xml


def test_the_samples_have_the_content_that_the_demo_shows() -> None:
    """The samples are of three formats, in two languages, and have the content that the demo shows."""
    messages = [read_message(path.read_bytes()) for path in sample_files()]
    assert {message.format for message in messages} == {Format.FUSION_JSON, Format.SDMX_ML_2_1, Format.SDMX_ML_3_0}
    artefacts = {urn: artefact for message in messages for urn, artefact in message.artefacts.items()}
    assert len(artefacts) == sum(len(message) for message in messages) == 15
    freq = artefacts[Urn.of("Codelist", "SDMX", "CL_FREQ", "2.1")]
    assert isinstance(freq, Codelist)
    assert freq.codes["A"].name("en") == "Annual"
    assert freq.codes["A"].name("fr") == "Annuelle"
    assert list(freq.codes) == ["A", "S", "Q", "M", "W", "D"]
    assert {message.header.sender for message in messages} == {"KR_DEMO"}


def test_names_keep_all_languages_in_order() -> None:
    """All languages are kept in order; the message's default is English, and English is preferred by default."""
    codelist = only(
        codelist_xml(
            '<c:Name xml:lang="fr">Liste</c:Name><c:Name>List</c:Name><c:Description xml:lang="de">So</c:Description>'
        ),
        Codelist,
    )
    assert dict(codelist.names) == {"fr": "Liste", "en": "List"}
    assert (codelist.name(), codelist.name("FR"), codelist.name("es")) == ("List", "Liste", None)
    assert (codelist.description(), codelist.description("en")) == ("So", None)


def test_codes_keep_parents_annotations_and_order() -> None:
    """Parents, annotations and order are kept; parents as <Ref> (2.1) and as text (3.0)."""
    for version, parent in (("2_1", '<Ref id="Z"/>'), ("3_0", "Z"), ("3_1", "Z")):
        codelist = only(
            codelist_xml(
                '<s:Code id="Z"/><s:Code id="A"><c:Annotations><c:Annotation id="n"><c:AnnotationTitle>t'
                "</c:AnnotationTitle><c:AnnotationType>k</c:AnnotationType><c:AnnotationURL>u</c:AnnotationURL>"
                '<c:AnnotationText xml:lang="fr">x</c:AnnotationText></c:Annotation></c:Annotations>'
                f"<s:Parent>{parent}</s:Parent></s:Code>",
                version=version,
            ),
            Codelist,
        )
        assert list(codelist.codes) == ["Z", "A"]
        code = codelist.codes["A"]
        assert (code.id, code.parent) == ("A", "Z")
        assert str(code.urn) == "urn:sdmx:org.sdmx.infomodel.codelist.Code=A:CL(1.0).A"
        [note] = code.annotations
        assert (note.id, note.title, note.type, note.url, note.text["fr"]) == ("n", "t", "k", "u", "x")


def test_a_codelist_in_four_formats_gives_equal_codelists() -> None:
    """A codelist that is written in SDMX-ML 2.1, 3.0, 3.1 and Fusion-JSON is read as equal objects."""
    code = '<s:Code id="A"><c:Name xml:lang="en">Annual</c:Name>{}</s:Code><s:Code id="B"><c:Name>B</c:Name></s:Code>'
    twins = [
        codelist_xml(code.format(""), 'isFinal="true" validFrom="2020-01-01"', version=version)
        for version in ("2_1", "3_0", "3_1")
    ]
    names = [{"locale": "en", "value": "Annual"}], [{"locale": "en", "value": "B"}]
    twins.append(
        json.dumps(
            {
                "Codelist": [
                    {
                        "id": "CL",
                        "agencyId": "A",
                        "version": "1.0",
                        "isFinal": True,
                        "validFrom": "2020-01-01",
                        "items": [{"id": "A", "names": names[0]}, {"id": "B", "names": names[1]}],
                    }
                ]
            }
        ).encode()
    )
    first, *others = [only(twin, Codelist) for twin in twins]
    assert all(other == first for other in others)
    assert hash(first) == hash(others[0])


@pytest.mark.thorough
@given(
    st.dictionaries(
        st.from_regex(r"[A-Za-z0-9_@$\-]{1,8}", fullmatch=True),
        st.dictionaries(st.sampled_from(["en", "fr", "de"]), st.text(st.characters(categories=["L", "N", "P", "Zs"]))),
        max_size=8,
    )
)
def test_any_codelist_is_the_same_in_each_format(codes: dict[str, dict[str, str]]) -> None:
    """Random ids and texts are equal in SDMX-ML and Fusion-JSON, and equal to the input."""
    from xml.sax.saxutils import escape

    body = "".join(
        f'<s:Code id="{id_}">'
        + "".join(f'<c:Name xml:lang="{lang}">{escape(text)}</c:Name>' for lang, text in texts.items())
        + "</s:Code>"
        for id_, texts in codes.items()
    )
    items = [
        {"id": id_, "names": [{"locale": lang, "value": text} for lang, text in texts.items()]}
        for id_, texts in codes.items()
    ]
    fusion = {"Codelist": [{"id": "CL", "agencyId": "A", "version": "1.0", "items": items}]}
    from_xml = only(codelist_xml(body, version="3_0"), Codelist)
    assert from_xml == only(json.dumps(fusion).encode(), Codelist)
    assert {id_: dict(code.names) for id_, code in from_xml.codes.items()} == codes
    assert list(from_xml.codes) == list(codes)


DSD_21 = """
<s:DataStructures><s:DataStructure id="D" agencyID="A"><s:DataStructureComponents><s:DimensionList>
<s:Dimension id="FREQ"><s:ConceptIdentity><Ref agencyID="A" id="FREQ" maintainableParentID="CS"/></s:ConceptIdentity>
<s:LocalRepresentation><s:Enumeration><Ref agencyID="SDMX" id="CL_FREQ" version="2.1"/></s:Enumeration>
<s:EnumerationFormat textType="String" maxLength="1"/></s:LocalRepresentation></s:Dimension>
<s:TimeDimension><s:ConceptIdentity><URN>urn:sdmx:org.sdmx.infomodel.conceptscheme.Concept=A:CS(1.0).T</URN>
</s:ConceptIdentity></s:TimeDimension></s:DimensionList>
<s:Group id="G"><s:GroupDimension><s:DimensionReference><Ref id="FREQ"/></s:DimensionReference></s:GroupDimension>
</s:Group><s:AttributeList>
<s:Attribute id="A1" assignmentStatus="Mandatory"><s:ConceptIdentity>
<URN>urn:sdmx:org.sdmx.infomodel.conceptscheme.Concept=A:CS(1.0).A1</URN></s:ConceptIdentity><s:AttributeRelationship>
<s:PrimaryMeasure><Ref id="OBS_VALUE"/></s:PrimaryMeasure></s:AttributeRelationship></s:Attribute>
<s:Attribute id="A2" assignmentStatus="Conditional"><s:AttributeRelationship><s:AttachmentGroup><Ref id="G"/>
</s:AttachmentGroup><s:Dimension><Ref id="FREQ"/></s:Dimension></s:AttributeRelationship></s:Attribute>
<s:Attribute id="A3"><s:AttributeRelationship><s:None/></s:AttributeRelationship></s:Attribute>
<s:Attribute id="A4"><s:AttributeRelationship><s:Group><Ref id="G"/></s:Group></s:AttributeRelationship></s:Attribute>
</s:AttributeList><s:MeasureList><s:PrimaryMeasure id="OBS_VALUE"><s:ConceptIdentity>
<Ref agencyID="A" id="V" maintainableParentID="CS" maintainableParentVersion="2.0" class="Concept"/></s:ConceptIdentity>
<s:LocalRepresentation><s:TextFormat textType="Decimal" minValue="-1.5" decimals="2" isSequence="false"/>
</s:LocalRepresentation></s:PrimaryMeasure></s:MeasureList></s:DataStructureComponents></s:DataStructure>
</s:DataStructures>"""


def test_data_structure_2_1() -> None:
    """References by fields and by URN, defaults of version and id, relationships and facets are read."""
    found = only(xml(DSD_21), DataStructure)
    assert found.version == "1.0"
    assert list(found.dimensions) == ["FREQ"]
    freq = found.dimensions["FREQ"]
    assert freq.representation is not None
    assert freq.representation.enumeration == Urn.of("Codelist", "SDMX", "CL_FREQ", "2.1")
    assert freq.representation.format is not None
    assert freq.representation.format.max_length == 1
    assert freq.concept == Urn.of("Concept", "A", "CS", "1.0", "FREQ")
    assert found.time_dimension is not None
    assert (found.time_dimension.id, found.time_dimension.position) == ("TIME_PERIOD", 2)
    assert found.groups["G"].dimensions == ("FREQ",)
    kinds = {id_: (attribute.relationship.kind, attribute.mandatory) for id_, attribute in found.attributes.items()}
    assert kinds == {
        "A1": ("observation", True),
        "A2": ("dimensions", False),
        "A3": ("dataset", False),
        "A4": ("group", False),
    }
    assert isinstance(found.attributes["A2"], Attribute)
    assert found.attributes["A2"].relationship.groups == ("G",)
    value = found.measures["OBS_VALUE"]
    assert (value.urn.cls, value.concept) == ("PrimaryMeasure", Urn.of("Concept", "A", "CS", "2.0", "V"))
    assert value.representation is not None
    assert value.representation.format is not None
    assert (str(value.representation.format.min_value), value.representation.format.is_sequence) == ("-1.5", False)


def test_extensions_of_3_0_are_kept_without_their_codes() -> None:
    """Extensions of 3.0 are kept; their codes are not copied in."""
    extended = "urn:sdmx:org.sdmx.infomodel.codelist.Codelist=B:CL(1.0+.0)"
    found = only(
        codelist_xml(
            f'<s:CodelistExtension prefix="X_"><s:Codelist>{extended}</s:Codelist><s:InclusiveCodeSelection>'
            '<s:MemberValue cascadeValues="true">A%</s:MemberValue></s:InclusiveCodeSelection></s:CodelistExtension>',
            version="3_0",
        ),
        Codelist,
    )
    [extension] = found.extensions
    assert (str(extension.codelist), extension.prefix) == (extended, "X_")
    assert [(one.value, one.cascade_values) for one in extension.inclusive] == [("A%", "true")]
    assert len(found.codes) == 0


STUB = 'isExternalReference="true" structureURL="http://example.org/x"'


@pytest.mark.parametrize(
    ("container", "tag", "kind", "attribute"),
    [
        ("Codelists", "Codelist", Codelist, "codes"),
        ("Concepts", "ConceptScheme", ConceptScheme, "concepts"),
        ("DataStructures", "DataStructure", DataStructure, "dimensions"),
        ("DataStructures", "DataStructure", DataStructure, "time_dimension"),
        ("DataStructures", "DataStructure", DataStructure, "components"),
        ("DataStructures", "DataStructure", DataStructure, "attributes"),
        ("Dataflows", "Dataflow", Dataflow, "structure"),
        ("ValueLists", "ValueList", ValueList, "values"),
    ],
)
def test_stubs_do_not_look_empty(container: str, tag: str, kind: type[Any], attribute: str) -> None:
    """A stub's content raises and names the stub; the properties it has can be read."""
    data = xml(f'<s:{container}><s:{tag} id="X" agencyID="A" version="1.0" {STUB}/></s:{container}>')
    stub = only(data, kind)
    assert stub.is_stub
    assert stub.structure_url == "http://example.org/x"
    with pytest.raises(UnreadableContentError, match="stub"):
        list(getattr(stub, attribute))
    with pytest.raises(UnreadableContentError, match="stub"):
        bool(getattr(stub, attribute))
    assert "X" in repr(stub)
    assert stub == only(data, kind)


def test_a_vendors_class_is_opaque() -> None:
    """A vendor's class keeps names and a message of its own; everything else raises with the class's name."""
    data = xml(
        '<v:Things xmlns:v="urn:v"><v:Thing id="P" agencyID="A" version="1.0" urn="urn:sdmx:org.sdmx.infomodel.own.'
        'Thing=A:P(1.0)"><c:Name>N</c:Name></v:Thing><v:Thing id="Q" agencyID="A" version="1.0" '
        'urn="urn:sdmx:org.sdmx.infomodel.own.Thing=A:Q(1.0)"/></v:Things>'
    )
    first, _ = read_message(data)
    assert isinstance(first, OpaqueArtefact)
    assert first.name() == "N"
    assert [str(urn) for urn in read_message(first.content).artefacts] == [str(first.urn)]
    with pytest.raises(UnreadableContentError, match=r"'steps'.*class Thing"):
        first.steps  # noqa: B018
    with pytest.raises(AttributeError):
        first.__no_such__  # noqa: B018


def test_own_identity_wins() -> None:
    """The URN is made from class, agency, id and version; a different written one is ignored."""
    lie = "urn:sdmx:org.sdmx.infomodel.codelist.Codelist=OTHER:CL_X(9.9)"
    found = only(codelist_xml("", f'urn="{lie}"'), Codelist)
    assert str(found.urn) == "urn:sdmx:org.sdmx.infomodel.codelist.Codelist=A:CL(1.0)"
    [part] = split_message(codelist_xml("", f'urn="{lie}"'))
    assert part.urn == found.urn
    assert lie.encode() in part.value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("application/vnd.sdmx.structure+xml;version=2.1", Format.SDMX_ML_2_1),
        ("Application/VND.sdmx.structure+xml ; charset=utf-8 ; Version = 3.0.0", Format.SDMX_ML_3_0),
        ('application/vnd.sdmx.structure+xml;version="3.1.0"', Format.SDMX_ML_3_1),
        ("application/vnd.sdmx.structure+json;version=2.0.0", Format.SDMX_JSON_2_0),
        ("application/vnd.fusion.json", Format.FUSION_JSON),
        ("application/vnd.sdmx.json", Format.SDMX_JSON_2_0),
        ("application/vnd.sdmx.json;charset=utf-8;version=1.0.0", Format.SDMX_JSON_1_0),
        ("application/vnd.sdmx.json; version=2.1.0", Format.SDMX_JSON_2_1),
        ("application/vnd.xlsx", Format.XLSX),
        ("application/vnd.sdmx.structure;version=edi", Format.EDI),
        ("application/json", None),
        ("", None),
        (";;;=", None),
    ],
)
def test_media_types_are_understood_in_any_spelling(text: str, expected: Format | None) -> None:
    """Media types are understood in any case and spacing; every format's own name leads back to it."""
    assert of_content_type(text) is expected
    assert all(of_content_type(one) is one for one in Format)


def test_content_wins_over_content_type() -> None:
    """A message is read in the format of its content if the media type names another one."""
    data = codelist_xml("")
    for claim in ("application/vnd.fusion.json", "application/vnd.sdmx.structure+xml;version=3.0.0", "nonsense"):
        assert read_message(data, claim).format is Format.SDMX_ML_2_1


@pytest.mark.parametrize(
    "wrap",
    [
        gzip.compress,
        lambda data: b"\xef\xbb\xbf" + data,
        lambda data: b" \n" * 50 + data,
        lambda data: data.decode().encode("utf-16"),
        lambda data: ('<?xml version="1.0" encoding="UTF-16"?>' + data.decode()).encode("utf-16"),
        lambda data: gzip.compress(data[:9]) + gzip.compress(data[9:]),
    ],
)
def test_gzip_and_byte_order_marks_change_nothing(wrap: Any) -> None:
    """Packing in gzip (one member or more), byte order marks, UTF-16 and blanks change nothing."""
    data = codelist_xml('<s:Code id="A"><c:Name>é</c:Name></s:Code>')
    assert only(wrap(data), Codelist) == only(data, Codelist)


def test_a_message_in_a_soap_envelope_is_read() -> None:
    """A message in a SOAP envelope is read, and so are its parts."""
    data = codelist_xml('<s:Code id="A"/>')
    soap = (
        b'<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Body>' + data + b"</e:Body></e:Envelope>"
    )
    assert only(soap, Codelist) == only(data, Codelist)
    [part] = split_message(soap)
    assert only(part.value, Codelist) == only(data, Codelist)


def test_fixed_ids_and_versions_may_be_omitted() -> None:
    """The ids and versions that the standard fixes may be left out."""
    data = xml('<s:AgencySchemes><s:AgencyScheme agencyID="SDMX"/></s:AgencySchemes>', "3_0")
    assert list(read_message(data).artefacts) == [Urn.of("AgencyScheme", "SDMX", "AGENCIES", "1.0")]


def test_an_artefact_that_appears_twice_is_refused() -> None:
    """An artefact that appears twice makes the message unreadable, as neither copy can be preferred."""
    one = '<s:Codelist id="CL" agencyID="A" version="1.0"/>'
    data = xml(f"<s:Codelists>{one}{one}</s:Codelists>")
    fusion = b'{"Codelist":[{"id":"CL","agencyId":"A"},{"id":"CL","agencyId":"A","version":"1.0"}]}'
    for twice in (data, fusion):
        for act in (read_message, split_message):
            with pytest.raises(MessageError, match="duplicate"):
                act(twice)


@pytest.mark.parametrize(
    "facet",
    ['minValue="1E99999999999"', 'minValue="-1E-1001"', 'maxValue="NaN"', 'interval="1_0"', 'startValue="\u0661"',
     'maxLength="1_0"', 'maxLength="\u0661"', f'maxLength="{"9" * 1001}"'],
)  # fmt: skip
def test_numbers_that_the_schema_does_not_allow_are_refused(facet: str) -> None:
    """A number has digits of ASCII: an exponent could mean more digits than memory holds."""
    concept = f'<s:Concept id="C"><s:CoreRepresentation><s:TextFormat {facet}/></s:CoreRepresentation></s:Concept>'
    data = xml(f'<s:X><s:ConceptScheme id="CS" agencyID="A">{concept}</s:ConceptScheme></s:X>', "3_0")
    with pytest.raises(MessageError, match="not a number"):
        list(read_message(data))


@pytest.mark.parametrize(
    ("written", "expected"),
    [("1", "true"), ("0", "false"), (" TRUE ", "true"), ("false", "false"), ("excluderoot", "excluderoot")],
)
def test_cascades_of_an_extension_have_one_notation(written: str, expected: str) -> None:
    """The notations of true and false are read as true and false; other values are refused."""
    extension = (
        "<s:CodelistExtension><s:Codelist>urn:sdmx:org.sdmx.infomodel.codelist.Codelist=B:CL(1.0)</s:Codelist>"
        '<s:InclusiveCodeSelection><s:MemberValue cascadeValues="{}">A</s:MemberValue></s:InclusiveCodeSelection>'
        "</s:CodelistExtension>"
    )
    found = only(codelist_xml(extension.format(written), version="3_0"), Codelist)
    assert found.extensions[0].inclusive[0].cascade_values == expected
    with pytest.raises(MessageError, match="cascadeValues"):
        read_message(codelist_xml(extension.format("up"), version="3_0"))
