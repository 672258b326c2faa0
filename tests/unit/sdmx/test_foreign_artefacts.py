"""Artefacts, and what identifies them, in namespaces that are not of SDMX; extensions; overlong namespaces."""

from __future__ import annotations

from typing import Final

import pytest

from kafka_replica.sdmx import read_message, split_message
from kafka_replica.sdmx.errors import MessageError
from kafka_replica.sdmx.messages.message import Message
from kafka_replica.sdmx.model import MetadataSetOfReports, Registration
from support.sdmx.reading_times import assert_linear

BASE: Final = "http://www.sdmx.org/resources/sdmxml/schemas/v2_1"
BASE_20: Final = "http://www.SDMX.org/resources/SDMXML/schemas/v2_0"
MISTYPED: Final = "http://www.sdmx.org/resources/sdmxml/schema/v2_1/message"
OTHERS: Final = (MISTYPED, "urn:x")
CODELIST: Final = (
    '<s:Codelist id="CL" agencyID="A" version="1.0"><c:Name>n</c:Name>'
    '<s:Code id="X"><c:Name>x</c:Name></s:Code></s:Codelist>'
)
KEY_FAMILY: Final = '<s:KeyFamily id="K" agencyID="A"><s:Name xml:lang="en">n</s:Name></s:KeyFamily>'
STRUCTURES: Final = f"<m:Structures><s:Codelists>{CODELIST}</s:Codelists></m:Structures>"
REPORT: Final = (
    '<g:Report id="RP"><g:Target id="T"><g:ReferenceValue id="V"><g:ObjectReference>'
    "<URN>urn:sdmx:org.sdmx.infomodel.datastructure.Dataflow=A:D(1.0)</URN></g:ObjectReference></g:ReferenceValue>"
    '</g:Target><g:AttributeSet><g:ReportedAttribute id="A" value="1"/></g:AttributeSet></g:Report>'
)
ANNOTATIONS: Final = (
    "<c:Annotations><c:Annotation><c:AnnotationTitle>t</c:AnnotationTitle></c:Annotation></c:Annotations>"
)


def in_root(root: str, body: str, namespace: str, base: str = BASE) -> bytes:
    """Return a message with all usual prefixes, and the prefix q for this namespace."""
    places = {"m": "message", "s": "structure", "c": "common", "r": "registry", "g": "metadata/generic"}
    if base == BASE_20:
        places["g"] = "genericmetadata"
    declared = "".join(f' xmlns:{prefix}="{base}/{place}"' for prefix, place in places.items())
    return f'<m:{root}{declared} xmlns:q="{namespace}">{body}</m:{root}>'.encode()


def message(body: str) -> bytes:
    """Return a message of 2.1 with codelists."""
    return in_root("Structure", f"<m:Structures><s:Codelists>{body}</s:Codelists></m:Structures>", "urn:x")


def message_20(body: str) -> bytes:
    """Return a message of 2.0 with key families."""
    return in_root("Structure", f"<m:KeyFamilies>{body}</m:KeyFamilies>", "urn:x", BASE_20)


def registry(body: str, namespace: str, base: str = BASE) -> bytes:
    """Return a message of a registry."""
    return in_root("RegistryInterface", f"<m:Header><m:ID>H</m:ID></m:Header>{body}", namespace, base)


def registration(id_: str, prefix: str = "r", beside: str = "", result: str = "r") -> str:
    """Return a result with a registration, and elements next to it."""
    agreement = '<r:ProvisionAgreement><Ref agencyID="A" id="PA" version="1.0"/></r:ProvisionAgreement>'
    one = f'<{prefix}:Registration id="{id_}">{agreement}</{prefix}:Registration>{beside}'
    return f'<r:QueryResult timeSeriesMatch="false"><{result}:DataResult>{one}</{result}:DataResult></r:QueryResult>'


def answer(results: str, namespace: str) -> bytes:
    """Return a registry's response to a query for registrations."""
    body = f'<m:QueryRegistrationResponse><r:StatusMessage status="Success"/>{results}</m:QueryRegistrationResponse>'
    return registry(body, namespace)


def metadata_set(id_: str, prefix: str = "m", more: str = "") -> str:
    """Return a generic metadata set of 2.1."""
    return f'<{prefix}:MetadataSet structureRef="F" setID="{id_}">{more}{REPORT}</{prefix}:MetadataSet>'


def metadata(sets: str, namespace: str, prefix: str = "m", part: str = "c", header: str = "m") -> bytes:
    """Return a message of metadata of 2.1; the prefixes are those of parts of its header, and of the header."""
    about = f'<{part}:Structure><Ref agencyID="KR" id="MSD" version="1.0"/></{part}:Structure>'
    structure = f'<{prefix}:Structure structureID="F">{about}</{prefix}:Structure>'
    start = f'<{header}:Header><m:ID>H</m:ID><m:Sender id="SND"/>{structure}</{header}:Header>'
    return in_root("GenericMetadata", f"{start}{sets}", namespace)


def set_20(id_: str, prefix: str = "m") -> str:
    """Return a metadata set of 2.0."""
    values = (
        '<g:TargetRef>T</g:TargetRef><g:TargetValues><g:ComponentValue component="C" object="Dataflow">x'
        '</g:ComponentValue></g:TargetValues><g:ReportedAttribute conceptID="A"><g:Value>v</g:Value>'
        "</g:ReportedAttribute>"
    )
    about = (
        "<g:MetadataStructureRef>M</g:MetadataStructureRef><g:MetadataStructureAgencyRef>A"
        "</g:MetadataStructureAgencyRef><g:ReportRef>R</g:ReportRef>"
    )
    identity = f' datasetID="{id_}"' if id_ else ""
    return (
        f"<{prefix}:MetadataSet{identity}>{about}<g:AttributeValueSet>{values}</g:AttributeValueSet>"
        f"</{prefix}:MetadataSet>"
    )


def agreement_20(id_: str, prefix: str = "r") -> str:
    """Return a provision agreement of 2.0."""
    flow = "<r:DataflowRef><r:AgencyID>A</r:AgencyID><r:DataflowID>D</r:DataflowID></r:DataflowRef>"
    return f'<{prefix}:ProvisionAgreement id="{id_}">{flow}</{prefix}:ProvisionAgreement>'


def assert_refused(data: bytes, kept: list[str]) -> Message:
    """Assert that strict reading and splitting refuse a message, and collecting keeps these ids and has one error."""
    for read in (read_message, split_message):
        with pytest.raises(MessageError, match=r"its namespace '.*' is not one of SDMX"):
            read(data)
    found = read_message(data, on_error="collect")
    assert [artefact.urn.id for artefact in found] == kept
    [error] = found.errors
    assert "is not one of SDMX" in error.reason
    return found


@pytest.mark.parametrize("namespace", OTHERS)
def test_structures_in_another_namespace_are_refused(namespace: str) -> None:
    """A message is not empty or shorter because of the namespace of <Structures>."""
    lost = STRUCTURES.replace("m:Structures", "q:Structures")
    assert_refused(in_root("Structure", lost, namespace), [])
    assert_refused(in_root("Structure", STRUCTURES + lost, namespace), ["CL"])
    assert_refused(registry(f"<m:QueryStructureResponse>{lost}</m:QueryStructureResponse>", namespace), [])


@pytest.mark.parametrize("namespace", OTHERS)
def test_registrations_in_another_namespace_are_refused(namespace: str) -> None:
    """A registration is not omitted, nor read without its constraints."""
    assert_refused(answer(registration("R", "q"), namespace), [])
    assert_refused(answer(registration("R") + registration("S", "q"), namespace), ["R"])
    assert_refused(answer(registration("R") + registration("S", result="q"), namespace), ["R"])
    constraint = '<{0}:ContentConstraint><Ref agencyID="A" id="CC" version="1.0"/></{0}:ContentConstraint>'
    data = answer(registration("R") + registration("S", beside=constraint.format("q")), namespace)
    assert_refused(data, ["R"])
    [found] = read_message(answer(registration("S", beside=constraint.format("r")), namespace))
    assert isinstance(found, Registration)
    assert len(found.constraints) == 1


@pytest.mark.parametrize("namespace", OTHERS)
def test_metadata_sets_in_another_namespace_are_refused(namespace: str) -> None:
    """A metadata set is not omitted because of its namespace."""
    assert_refused(metadata(metadata_set("S", "q"), namespace), [])
    assert_refused(metadata(metadata_set("S") + metadata_set("T", "q"), namespace), ["S"])


@pytest.mark.parametrize("namespace", OTHERS)
@pytest.mark.parametrize("part", ["prefix", "part", "header"])
def test_headers_of_metadata_with_parts_in_another_namespace_are_refused(namespace: str, part: str) -> None:
    """A set does not lose its structure, and so change its URN, because of a namespace in the header."""
    [found] = read_message(metadata(metadata_set("S"), namespace))
    assert isinstance(found, MetadataSetOfReports)
    assert (found.urn.agency, found.metadata_structure is None) == ("KR", False)
    assert_refused(metadata(metadata_set("S"), namespace, **{part: "q"}), [])


@pytest.mark.parametrize("namespace", OTHERS)
def test_annotations_of_metadata_sets_in_another_namespace_are_refused(namespace: str) -> None:
    """The direct children of a set of 2.1 are checked; its reports may be in any namespace."""
    for lost in (ANNOTATIONS.replace("c:", "q:"), ANNOTATIONS.replace("c:Annotation>", "q:Annotation>")):
        data = metadata(metadata_set("S") + metadata_set("T", more=lost), namespace)
        assert_refused(data, ["S"])
    [found] = read_message(metadata(metadata_set("S", more=f"{ANNOTATIONS}<q:Report/>"), "urn:x"))
    assert isinstance(found, MetadataSetOfReports)
    assert (len(found.annotations), len(found.reports)) == (1, 2)


@pytest.mark.parametrize("namespace", OTHERS)
def test_sets_and_agreements_of_2_0_in_another_namespace_are_refused(namespace: str) -> None:
    """Metadata sets, what their header supplies, and provision agreements are not omitted."""
    for root in ("GenericMetadata", "MessageGroup"):
        assert_refused(in_root(root, set_20("S", "q"), namespace, BASE_20), [])
    assert_refused(in_root("MessageGroup", set_20("S") + set_20("T", "q"), namespace, BASE_20), ["S"])
    header = '<m:Header><m:ID>H</m:ID><q:DataSetID>S</q:DataSetID><m:Sender id="SND"/></m:Header>'
    assert_refused(in_root("GenericMetadata", header + set_20(""), namespace, BASE_20), [])
    for agreements, kept in ((agreement_20("P", "q"), []), (agreement_20("P") + agreement_20("Q", "q"), ["P"])):
        body = f"<m:QueryProvisioningResponse>{agreements}</m:QueryProvisioningResponse>"
        assert_refused(registry(body, namespace, BASE_20), list[str](kept))


@pytest.mark.parametrize(
    "around",
    [
        "<q:Envelope><q:Header/><q:Body>{}</q:Body></q:Envelope>",
        "<q:Structures><q:Registration/>{}</q:Structures>",
        "<q:MetadataSet><Wrapper>{}</Wrapper></q:MetadataSet>",
    ],
)
@pytest.mark.parametrize(
    "inside",
    [
        in_root("Structure", STRUCTURES, "urn:x"),
        answer(registration("R"), "urn:x"),
        metadata(metadata_set("S"), "urn:x"),
        in_root("MessageGroup", set_20("S"), "urn:x", BASE_20),
        registry(f"<m:QueryProvisioningResponse>{agreement_20('P')}</m:QueryProvisioningResponse>", "urn:x", BASE_20),
    ],
)
def test_elements_around_a_message_may_have_any_name(around: str, inside: bytes) -> None:
    """An envelope is not a part of the message."""
    data = around.format(inside.decode()).replace(">", ' xmlns:q="urn:x">', 1).encode()
    assert list(read_message(data)) == list(read_message(inside))
    assert [part.urn for part in split_message(data)] == [part.urn for part in split_message(inside)]


def test_the_content_of_extensions_is_not_searched() -> None:
    """Elements in an extension are not lost artefacts of the message."""
    extension = '<q:Extension><q:Structures/><c:X><q:Registration id="Q"/><q:MetadataSet/></c:X></q:Extension>'
    for data, id_ in (
        (in_root("Structure", extension + STRUCTURES, "urn:x"), "CL"),
        (answer(registration("R", beside=extension), "urn:x"), "R"),
        (metadata(metadata_set("S") + extension, "urn:x"), "S"),
    ):
        assert [artefact.urn.id for artefact in read_message(data)] == [id_]
        assert [part.urn.id for part in split_message(data)] == [id_]


@pytest.mark.parametrize(
    "inside",
    [
        "<c:Annotation><c:AnnotationTitle/><c:AnnotationTitle/></c:Annotation>",
        "<s:Parent><Ref/><Ref/></s:Parent>",
        "<s:Code><s:Parent/></s:Code>",
        "<URN/><URN/>",
    ],
)
@pytest.mark.parametrize("end", ["</s:Codelist>", "</s:Code>"])
def test_repeated_elements_in_extensions_are_not_refused(inside: str, end: str) -> None:
    """The content of an extension is ignored, so it cannot be ambiguous; that after the extension still can be."""
    extension = f"<q:Ext>{inside}</q:Ext>"
    data = message(CODELIST.replace(end, f"{extension}{end}"))
    assert list(read_message(data)) == list(read_message(message(CODELIST)))
    [part] = split_message(data)
    assert list(read_message(part.value)) == list(read_message(message(CODELIST)))
    parent = "<s:Parent><Ref id='X'/></s:Parent>"
    repeated = CODELIST.replace("</s:Code>", f"{parent}{extension}{parent}</s:Code>")
    with pytest.raises(MessageError, match="<Parent> at line 1: it is duplicated in <Code>"):
        read_message(message(repeated))


def test_repeated_elements_in_extensions_of_flows_are_not_refused() -> None:
    """Neither is a dataflow ambiguous because of an extension."""
    target = '<s:Structure><Ref id="D" agencyID="A"/></s:Structure>'
    extension = f"<q:Ext>{target * 2}<s:Structure><Ref/><Ref/></s:Structure></q:Ext>"
    flow = f'<s:Dataflow id="F" agencyID="A"><c:Name>n</c:Name>{extension}{target}</s:Dataflow>'
    data = message("").replace(b"<s:Codelists></s:Codelists>", f"<s:Dataflows>{flow}</s:Dataflows>".encode())
    assert [artefact.urn.id for artefact in read_message(data)] == ["F"]


def test_repeated_elements_of_wrapped_messages_are_refused() -> None:
    """Elements of other namespaces around the message are not extensions."""
    repeated = CODELIST.replace("<s:Code ", f"{ANNOTATIONS * 2}<s:Code ").encode()
    data = message(repeated.decode())
    for start, end in ((b"<q:Body>", b"</q:Body>"), (b"<Wrapper><q:Body>", b"</q:Body></Wrapper>")):
        with pytest.raises(MessageError, match="duplicated in <Codelist>"):
            read_message((start + data + end).replace(b">", b' xmlns:q="urn:x">', 1))


@pytest.mark.parametrize(
    "inside",
    ["<m:Structure/>", "<s:CodeList><s:Annotations/><s:Annotations/></s:CodeList>", "<q:X><m:Structure/></q:X>"],
)
def test_extensions_of_2_0_are_ignored_with_their_content(inside: str) -> None:
    """An extension of a key family may hold elements that are refused elsewhere in the message."""
    extended = KEY_FAMILY.replace("</s:KeyFamily>", f"<q:Ext>{inside}</q:Ext></s:KeyFamily>")
    data = message_20(extended)
    assert list(read_message(data)) == list(read_message(message_20(KEY_FAMILY)))
    assert len(split_message(data)) == 1
    nested = message_20(extended + "<m:Structure/>")
    for read in (read_message, split_message):
        with pytest.raises(MessageError, match="<Structure> at line 1: it is not allowed in <Structure>"):
            read(nested)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-1", "shift_jis"])
@pytest.mark.parametrize("place", ["root", "code"])
def test_overlong_namespaces_are_refused(encoding: str, place: str) -> None:
    """A namespace is part of the name of each of its elements, so a long one would take much time and memory."""
    start = "<m:Structure" if place == "root" else "<s:Code"
    for namespace in ("urn:", f"{BASE}/"):
        for length in (2000, 2001):
            declared = f'{start} xmlns:y="{namespace}{"x" * (length - len(namespace))}"'
            text = message(CODELIST).decode().replace(f"{start} ", f"{declared} ", 1)
            data = f'<?xml version="1.0" encoding="{encoding}"?>{text}'.encode(encoding)
            if length == 2000:
                assert len(read_message(data)) == len(split_message(data)) == 1
                continue
            for read in (read_message, split_message):
                with pytest.raises(MessageError, match=r"the namespace '.*'\.\.\. has 2,001 characters"):
                    read(data)


def test_long_texts_like_declarations_are_not_namespaces() -> None:
    """Only declarations count, not what looks like one in a comment or a text."""
    text = f' xmlns="{"x" * 3000}"'
    body = CODELIST.replace(">x<", f">{text}<").replace("<s:Code ", f"<!--{text}--><s:Code ")
    assert len(read_message(message(body))) == 1


@pytest.mark.thorough
@pytest.mark.parametrize("what", ["lost", "extensions", "codes", "holders"])
def test_hostile_extensions_take_linear_time(what: str) -> None:
    """Many elements that are searched, in deep extensions: four times as many take no 12 times as long."""

    def made(count: int) -> bytes:
        if what == "lost":
            inner = "<q:E><q:Registration/><q:Structures/></q:E>" * count
            data = registry(f"<r:X>{'<q:E>' * 200}{inner}{'</q:E>' * 200}</r:X>{STRUCTURES}", "urn:x")
        elif what == "extensions":
            inner = "<q:E><c:Annotations/></q:E>" * count
            envelope = f"{'<q:E>' * 200}{inner}{'</q:E>' * 200}{message(CODELIST).decode()}"
            data = f'<q:Envelope xmlns:q="urn:x" xmlns:c="{BASE}/common">{envelope}</q:Envelope>'.encode()
        elif what == "codes":
            inner = "<q:E><URN/></q:E><URN/>" * count
            body = CODELIST.replace("</s:Code>", f"<q:E>{'<c:X>' * 200}{inner}{'</c:X>' * 200}</q:E></s:Code>")
            data = message(body)
        else:
            inner = "<q:E><m:Structure/></q:E><m:Structure/>" * count
            extension = f"<q:E>{'<s:X>' * 200}{inner}{'</s:X>' * 200}</q:E>"
            data = message_20(KEY_FAMILY.replace("</s:KeyFamily>", f"{extension}</s:KeyFamily>"))
        return data

    assert_linear(made)
