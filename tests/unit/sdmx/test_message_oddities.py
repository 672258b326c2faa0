"""Variations around the content of real messages: encodings, blanks, prefixes, envelopes."""

from __future__ import annotations

import gzip
import json
from typing import Any, Final

import pytest

from kafka_replica.sdmx import split_message
from kafka_replica.sdmx.errors import MessageError
from kafka_replica.sdmx.messages.format import Format
from kafka_replica.sdmx.model import Codelist, DataStructure, ValueList
from kafka_replica.sdmx.reading.messages import read_message

BASE: Final = "http://www.sdmx.org/resources/sdmxml/schemas/v2_1"
URN: Final = "urn:sdmx:org.sdmx.infomodel.codelist.Codelist=KR:CL(1.0)"
LIST: Final = (
    '<s:Codelists><s:Codelist id="CL" agencyID="KR" version="1.0"><c:Name xml:lang="fr">Été €</c:Name>'
    '<s:Code id="A"><c:Name xml:lang="fr">Œuf</c:Name></s:Code></s:Codelist></s:Codelists>'
)


def xml(body: str = LIST, declaration: str = "") -> str:
    """Return a message of SDMX-ML 2.1."""
    return (
        f'{declaration}<m:Structure xmlns:m="{BASE}/message" xmlns:s="{BASE}/structure" xmlns:c="{BASE}/common">'
        f"<m:Header><m:ID>X</m:ID></m:Header><m:Structures>{body}</m:Structures></m:Structure>"
    )


def declared(encoding: str) -> str:
    """Return the XML declaration of an encoding."""
    return f'<?xml version="1.0" encoding="{encoding}"?>\n'


def only(data: bytes, content_type: str | None = None) -> Any:
    """Return the only artefact of a message, after checking that splitting gives the same."""
    [found] = read_message(data, content_type)
    [part] = split_message(data, content_type)
    assert list(read_message(part.value, part.content_type)) == [found]
    return found


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"\xef\xbb\xbf" + xml().encode(), id="mark of UTF-8"),
        pytest.param(xml(declaration=declared("UTF-16")).encode("utf-16"), id="UTF-16"),
        pytest.param(xml(declaration=declared("UTF-16")).encode("utf-16-le"), id="UTF-16 without a mark"),
        pytest.param(xml(declaration=declared("UTF-16BE")).encode("utf-16-be"), id="UTF-16BE"),
        pytest.param(xml().encode("utf-16-le"), id="UTF-16 that nothing tells"),
        pytest.param(xml(declaration=declared("UTF-32")).encode("utf-32"), id="UTF-32"),
        pytest.param(xml(declaration=declared("ISO-8859-15")).encode("iso8859-15"), id="Latin-9"),
        pytest.param(xml(declaration=declared("windows-1252")).encode("cp1252"), id="Windows"),
        pytest.param(xml(declaration=declared("utf-16")).encode(), id="UTF-8 that says it is UTF-16"),
        pytest.param(gzip.compress(b"\xef\xbb\xbf" + xml().encode()), id="gzip with a mark inside"),
        pytest.param(gzip.compress(gzip.compress(xml().encode())), id="gzip in gzip"),
        pytest.param(b"\r\n  " + xml(declaration=declared("UTF-8")).encode(), id="blanks before the declaration"),
        pytest.param(xml().replace("sdmx.org/resources/sdmxml", "SDMX.org/resources/SDMXML").encode(), id="SDMX"),
        pytest.param(xml().replace("http://www.sdmx", "https://www.sdmx").encode(), id="https"),
        pytest.param(xml().replace("v2_1/common", "v2_0/common").encode(), id="names of another edition"),
        pytest.param(
            xml().replace('"CL"', '" CL "').replace('"KR"', '" KR	"').replace('"A"', '"A "').encode(), id="blanks"
        ),
        pytest.param(xml().replace(' version="1.0"', "").encode(), id="no version"),
        pytest.param(xml().replace("Œuf", "<![CDATA[Œ]]><!-- no -->u<?no no?>f").encode(), id="comments in texts"),
        pytest.param(xml().replace("<s:Codelist id", '<s:Codelist xmlns:x="urn:x" x:a="b" isFinal="" id').encode()),
        pytest.param(
            xml().replace("<s:Codelist id", '<s:Codelist xmlns:x="urn:x[1.0]:compact" xmlns:y="a b" id').encode(),
            id="namespaces that are no URIs",
        ),
    ],
)  # fmt: skip
def test_characters_and_blanks(data: bytes) -> None:
    """The list is the same in all encodings and notations."""
    found = only(data)
    assert isinstance(found, Codelist)
    assert str(found.urn) == URN
    assert found.names.texts == (("fr", "Été €"),)
    assert found.codes["A"].name() == "Œuf"


def test_charset_of_the_content_type() -> None:
    """The content type determines the encoding if the bytes do not."""
    data = json.dumps({"data": {"codelists": [{"id": "CL", "agencyID": "KR", "name": "Été"}]}}, ensure_ascii=False)
    content_type = "application/vnd.sdmx.structure+json;version=1.0;charset=ISO-8859-1"
    assert only(data.encode("latin-1"), content_type).name() == "Été"
    assert only(data.encode(), content_type).name() == "Été", "but UTF-8 is UTF-8"
    assert only(xml(declaration=declared("UTF-8")).encode(), "text/xml;charset=iso-8859-1").name() == "Été €"
    with pytest.raises(MessageError, match="UTF-8"):
        read_message(data.encode("latin-1"))


@pytest.mark.parametrize(
    "content_type",
    [
        "application/vnd.sdmx.structure+json;version=2.0.0",
        "application/vnd.sdmx.structure+xml;version=3.0.0",
        "application/vnd.sdmx.structure+edi",
        "text/html",
    ],
)
def test_content_types_that_are_wrong(content_type: str) -> None:
    """The content of a message overrides a wrong content type."""
    assert read_message(xml().encode(), content_type).format is Format.SDMX_ML_2_1


STRUCTURE: Final = (
    '<s:DataStructures><s:DataStructure id="D" agencyID="KR"><s:DataStructureComponents><s:DimensionList>'
    '<s:Dimension id="FREQ" position=" 1 "><s:ConceptIdentity>{reference}</s:ConceptIdentity><s:LocalRepresentation>'
    '<s:TextFormat textType="String" maxLength=" 12 " minLength="" decimals="+2" isSequence=" true "/>'
    "</s:LocalRepresentation></s:Dimension></s:DimensionList></s:DataStructureComponents></s:DataStructure>"
    "</s:DataStructures>"
)
CONCEPT: Final = "urn:sdmx:org.sdmx.infomodel.conceptscheme.Concept=KR:CS(1.0).FREQ"
FIELDS: Final = 'id="FREQ" maintainableParentID="CS" agencyID="KR"'


@pytest.mark.parametrize(
    "reference",
    [
        f'<Ref {FIELDS} maintainableParentVersion="1.0" class="Concept" package="conceptscheme"/>',
        f"<Ref {FIELDS}/>",
        f"<c:Ref {FIELDS}/>",
        f"<s:Ref {FIELDS}></s:Ref>",
        f"<URN>\n  {CONCEPT}\n</URN>",
        f"<c:URN>{CONCEPT.replace('(1.0)', '')}</c:URN>",
        f"<URN>{CONCEPT.replace('urn:sdmx', 'URN:SDMX')}</URN>",
        f"<s:ConceptIdentity><Ref {FIELDS}/></s:ConceptIdentity>",
    ],
)
def test_references_and_numbers(reference: str) -> None:
    """References are read in every notation, numbers with blanks, and empty attributes as absent."""
    found = only(xml(STRUCTURE.format(reference=reference)).encode())
    assert isinstance(found, DataStructure)
    dimension = found.dimension_list["FREQ"]
    assert str(dimension.concept) == CONCEPT
    assert dimension.position == 1
    assert dimension.representation is not None
    format_ = dimension.representation.format
    assert format_ is not None
    assert (format_.max_length, format_.min_length, format_.decimals, format_.is_sequence) == (12, None, 2, True)


@pytest.mark.parametrize("declaration", ["", "<!-- parsed by libxml2 -->"])
def test_addresses_have_no_blanks_around_them(declaration: str) -> None:
    """Blanks around addresses in attributes are removed, as the type of the schemas does."""
    stub = 'isExternalReference="true" serviceURL="\n u " structureURL=" u "'
    link = '<c:Link rel="r" type="t" url=" u " urn=" u "/>'
    concept = '<s:ConceptScheme id="CS" agencyID="KR"><s:Concept id="C" uri=" u "/></s:ConceptScheme>'
    body = STRUCTURE.format(reference=f"<Ref {FIELDS}/>").replace("<s:Dimension ", '<s:Dimension uri=" u " ')
    codes = LIST.replace("<s:Code id", '<s:Code uri=" u " id').replace("<s:Codelist id", '<s:Codelist uri=" u " id')
    flow = f'<s:Dataflows><s:Dataflow id="F" agencyID="KR" {stub}>{link}</s:Dataflow></s:Dataflows>'
    found: dict[str, Any] = {
        one.urn.cls: one
        for one in read_message(xml(f"{codes}{flow}<s:Concepts>{concept}</s:Concepts>{body}", declaration).encode())
    }
    flow_found, codelist = found["Dataflow"], found["Codelist"]
    assert (flow_found.service_url, flow_found.structure_url) == ("u", "u")
    assert [(one.url, one.urn) for one in flow_found.links] == [("u", "u")]
    assert {codelist.uri, codelist.codes["A"].uri, found["ConceptScheme"].concepts["C"].uri} == {"u"}
    assert found["DataStructure"].dimension_list["FREQ"].uri == "u"


def test_names_of_groups_and_components_are_ignored() -> None:
    """Groups and components have no names in any edition; a message that gives them names is read nevertheless."""
    ended = "</s:Dimension></s:DimensionList>"
    name = '<c:Name xml:lang="en">N</c:Name><c:Description xml:lang="en">D</c:Description>'
    group = f'{name}<s:GroupDimension><s:DimensionReference><Ref id="FREQ"/></s:DimensionReference></s:GroupDimension>'
    body = STRUCTURE.format(reference=f"<Ref {FIELDS}/>").replace(
        ended, f'{name}{ended}<s:Group id="G">{group}</s:Group>'
    )
    assert only(xml(body).encode()).groups["G"].dimensions == ("FREQ",)


def test_a_reference_to_nothing() -> None:
    """An invalid URN is reported with its line."""
    with pytest.raises(MessageError, match="line 1"):
        read_message(xml(STRUCTURE.format(reference="<URN>urn:sdmx:nothing</URN>")).encode())


@pytest.mark.parametrize("body", ["", "<s:Codelists/>", "<s:Codelists><!-- none --></s:Codelists>"])
def test_messages_of_nothing(body: str) -> None:
    """A message without artefacts is read; the schemas even allow <Structures> to be missing."""
    assert len(read_message(xml(body).encode())) == 0
    assert split_message(xml(body).encode()) == []
    whole = xml(body)
    start, end = whole.index("<m:Structures>"), whole.index("</m:Structure>")
    assert len(read_message((whole[:start] + whole[end:]).encode())) == 0


def test_a_message_with_namespaces_that_are_no_uris_can_be_split() -> None:
    """The parts do not declare them: only attributes of other namespaces could need them."""
    data = xml().replace("<m:Structure ", '<m:Structure xmlns:x="urn:x[1.0]:compact" ').encode()
    [part] = split_message(data)
    assert list(read_message(part.value)) == list(read_message(data))


def test_many_namespaces_that_are_no_uris_hide_no_error() -> None:
    """The parser logs 100 errors at most."""
    names = "".join(f' xmlns:b{number}="urn:x[{number}]"' for number in range(150))
    whole = xml().replace("<s:Codelist id", f"<s:Codelist{names} id")
    assert len(read_message(whole.encode())) == 1
    with pytest.raises(MessageError, match="unbound prefix"):
        read_message(whole.replace("</s:Codelist>", "<q:Code/></s:Codelist>").encode())


def test_namespaces_that_are_no_uris_excuse_nothing_else() -> None:
    """Names of namespaces need not be URIs; every other error is one, wherever it is, and is the one reported."""
    whole = xml().replace("<s:Codelist id", '<s:Codelist xmlns:x="urn:x[1.0]:compact" id')
    for bad in (whole.replace("</m:Structure>", ""), whole.replace("</s:Codelist>", "</s:CodeList>"), whole + "<a/>"):
        with pytest.raises(MessageError, match=r"not well-formed .*(mismatch|Premature|junk)"):
            read_message(bad.encode())


def test_values_of_a_list_keep_their_blanks() -> None:
    """Unlike codes, the values of a value list are any texts."""
    base = BASE.replace("v2_1", "v3_0")
    values = "".join(f'<s:ValueItem id="{value}"/>' for value in (" a", " ", ""))
    body = (
        f'<m:Structure xmlns:m="{base}/message" xmlns:s="{base}/structure"><m:Structures><s:ValueLists>'
        f'<s:ValueList id="V" agencyID="A" version="1.0.0">{values}</s:ValueList></s:ValueLists></m:Structures>'
        "</m:Structure>"
    )
    [found] = read_message(body.encode())
    assert isinstance(found, ValueList)
    assert [value.id for value in found.value_items] == [" a", " ", ""]


IN_XML: Final = (
    '<s:DataStructures><s:DataStructure id="DS" agencyID="KR" version="1.0"><c:Name>n</c:Name>'
    '<s:DataStructureComponents><s:DimensionList><s:Dimension id="D" position="1"><s:ConceptIdentity>'
    f"<URN>{CONCEPT}</URN></s:ConceptIdentity>{{}}</s:Dimension></s:DimensionList></s:DataStructureComponents>"
    "</s:DataStructure></s:DataStructures>"
)
IN_JSON: Final = {"id": "DS", "agencyID": "KR", "version": "1.0", "name": "n", "dataStructureComponents": {
    "dimensionList": {"id": "DimensionDescriptor", "dimensions": [
        {"id": "D", "position": 1, "conceptIdentity": CONCEPT, "localRepresentation": {}}
    ]},
}}  # fmt: skip
IN_FUSION: Final = {"id": "DS", "agencyId": "KR", "version": "1.0", "names": [{"locale": "en", "value": "n"}],
    "dimensionList": {"dimensions": [{"id": "D", "concept": CONCEPT, "representation": {}}]},
}  # fmt: skip


@pytest.mark.parametrize(
    "data",
    [
        xml(IN_XML.format("<s:LocalRepresentation/>")).encode(),
        xml(IN_XML.format("<s:LocalRepresentation> <!-- none --> </s:LocalRepresentation>")).encode(),
        json.dumps({"data": {"dataStructures": [IN_JSON]}}).encode(),
        json.dumps({"DataStructure": [IN_FUSION]}).encode(),
    ],
    ids=["SDMX-ML", "SDMX-ML by libxml2", "SDMX-JSON", "Fusion-JSON"],
)
def test_an_empty_representation_means_none(data: bytes) -> None:
    """The structures of UNdata have empty representations; they are read as missing ones, so they can be written."""
    found = only(data)
    assert isinstance(found, DataStructure)
    assert found.dimension_list["D"].representation is None


def test_an_empty_representation_of_a_concept_means_none() -> None:
    """A concept with an empty core representation has none."""
    concept = '<s:Concept id="D"><c:Name>d</c:Name>{}<s:CoreRepresentation/></s:Concept>'
    scheme = '<s:ConceptScheme id="CS" agencyID="KR" version="1.0"><c:Name>n</c:Name>{}</s:ConceptScheme>'
    for more in ("", "<c:Description>d</c:Description>"):
        found = only(xml(f"<s:Concepts>{scheme.format(concept.format(more))}</s:Concepts>").encode())
        assert found.concepts["D"].core_representation is None


def test_answers_that_are_errors() -> None:
    """The error of a registry's answer is contained in our error."""
    error = (
        f'<m:Error xmlns:m="{BASE}/message" xmlns:c="{BASE}/common"><m:ErrorMessage code="100">'
        "<c:Text>No results found</c:Text></m:ErrorMessage></m:Error>"
    )
    with pytest.raises(MessageError, match="No results found"):
        read_message(error.encode())
    footer = (
        f'<m:Structure xmlns:m="{BASE}/message" xmlns:f="{BASE}/message/footer" xmlns:c="{BASE}/common"><f:Footer>'
        '<f:Message code="510" severity="{}"><c:Text>response too large</c:Text></f:Message></f:Footer></m:Structure>'
    )
    with pytest.raises(MessageError, match="response too large"):
        read_message(footer.format("Error").encode())
    for inner in ("<m:Structures/>", f'<m:Structures><s:Codelists xmlns:s="{BASE}/structure"/></m:Structures>'):
        empty = footer.replace("<f:Footer>", f"{inner}<f:Footer>")
        with pytest.raises(MessageError, match="response too large"):
            read_message(empty.format("Error").encode())
    assert len(read_message(footer.format("Information").encode())) == 0
    with pytest.raises(MessageError, match="no such structure"):
        read_message(json.dumps({"errors": [{"code": 404, "title": "no such structure"}]}).encode())
    with pytest.raises(MessageError, match="data message"):
        read_message(json.dumps({"data": {"structures": [{}], "dataSets": [{}]}}).encode())


ARTEFACT: Final = {"id": "CL", "agencyID": "KR", "version": "1.0", "name": "n", "codes": [{"id": "A", "name": "é"}]}


@pytest.mark.parametrize(
    "message",
    [
        {"data": {"codelists": [ARTEFACT]}},
        {"meta": {"schema": "https://json.sdmx.org/1.0/x"}, "data": {"codelists": [ARTEFACT | {"isFinal": "true"}]}},
        {"codelists": [ARTEFACT]},
        {"meta": {"id": "X"}, "codelists": [ARTEFACT], "resources": [], "references": {}},
        {"data": {"codelists": [ARTEFACT], "dataflows": None, "conceptSchemes": []}, "errors": []},
        {"data": {"codelists": [ARTEFACT | {"validFrom": None, "description": None, "x-more": {"a": [1]}}]}},
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le"])
def test_sdmx_json_in_every_wrapping(message: dict[str, Any], encoding: str) -> None:
    """SDMX-JSON is read with and without ``data``, ``meta``, empty lists, nulls and extensions."""
    found = only(json.dumps(message, ensure_ascii=False).encode(encoding))
    assert str(found.urn) == URN
    assert found.codes["A"].name() == "é"


@pytest.mark.parametrize("message", [{"data": None}, {"data": {}}, {"meta": {"id": "X"}, "data": {"codelists": []}}])
def test_sdmx_json_of_nothing(message: dict[str, Any]) -> None:
    """An SDMX-JSON message without artefacts is read as an empty message."""
    assert len(read_message(json.dumps(message).encode())) == 0


EDI: Final = (
    "UNA:+.? '\r\nUNB+UNOC:3+KR+ZZZ+971231:2359+IREF+1++SDMX-EDI'\r\nUNH+M1+GESMES:2:1:E6'\r\nBGM+73'\r\n"
    "NAD+Z02+KR'\r\nVLI+CL+++List'\r\nCDV+A'\r\nFTX+ACM+++a'\r\nUNT+7+M1'\r\nUNZ+1+IREF'\r\n"
)


@pytest.mark.parametrize(
    "text",
    [
        EDI,
        EDI.replace("\r\n", ""),
        EDI.partition("\r\n")[2],
        EDI[EDI.index("UNH") : EDI.index("UNZ")],
        EDI[: EDI.index("UNB")] + EDI[EDI.index("UNH") : EDI.index("UNZ")],
        EDI + "\x1a",
        EDI + "\0\0\0",
        "\r\n" + EDI,
        EDI.replace("'\r\n", "\r\n'").replace("UNA:+.? \r\n'", "UNA:+.? '"),
    ],
)
def test_edi_with_and_without_its_envelope(text: str) -> None:
    """UNA and UNB may be missing, and lines may break anywhere between segments."""
    found = only(text.encode())
    assert str(found.urn) == URN
    assert found.codes["A"].name() == "a"


def test_edi_that_is_cut_off() -> None:
    """Without an envelope the end of the message shows that it is complete."""
    with pytest.raises(MessageError, match="UNT"):
        read_message(EDI[EDI.index("UNH") : EDI.index("UNT")].encode())
