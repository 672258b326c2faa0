"""Registrations, and structures, in the messages of registries."""

from __future__ import annotations

import pytest
from lxml import etree

from kafka_replica.sdmx import split_message
from kafka_replica.sdmx.errors import MessageError
from kafka_replica.sdmx.model import Codelist, Registration
from kafka_replica.sdmx.reading.messages import read_message
from support.sdmx.registry_messages import (
    AGREEMENT_URN,
    REGISTRATION_URN,
    answer,
    interface,
    request,
    schema,
    submission,
)

EDITIONS = ["21", "30", "31"]


@pytest.mark.parametrize("version", EDITIONS)
@pytest.mark.parametrize("make", [request, answer])
def test_all_properties_of_a_registration_are_read(version: str, make: type) -> None:
    """All properties of a registration are read, in a request and in the answer to a query."""
    data = make(version)
    [found] = read_message(data)
    assert isinstance(found, Registration)
    assert str(found.urn) == REGISTRATION_URN
    assert str(found.provision_agreement) == AGREEMENT_URN
    assert found.simple_data_sources == ("https://example.org/data.xml",)
    [queryable] = found.queryable_data_sources
    assert (queryable.data_url, queryable.wadl_url) == ("https://example.org/rest", "https://example.org/wadl")
    assert (queryable.is_rest, queryable.is_web_service) == (True, False)
    assert (found.valid_from, found.valid_to) == ("2026-01-01T00:00:00", "2027-01-01T00:00:00")
    assert found.last_updated == "2026-02-01T00:00:00"
    flags = (
        found.index_time_series,
        found.index_data_set,
        found.index_attributes,
        found.index_reporting_period,
    )
    assert flags == (True, True, False, True)
    assert [constraint.id for constraint in found.constraints] == (["CC"] if make is answer else [])
    assert not found.is_stub


@pytest.mark.parametrize("version", EDITIONS)
@pytest.mark.parametrize("make", [request, answer])
def test_parts_of_registry_messages(version: str, make: type) -> None:
    """A part has the same content as in the whole message, and is valid if the whole is."""
    data = make(version)
    [part] = split_message(data)
    assert str(part.urn) == REGISTRATION_URN
    assert list(read_message(part.value, part.content_type)) == list(read_message(data))
    valid = schema(version)
    if valid.validate(etree.fromstring(data)):
        assert valid.validate(etree.fromstring(part.value)), valid.error_log


@pytest.mark.parametrize("version", EDITIONS)
def test_samples_are_valid(version: str) -> None:
    """The samples are valid in the standard's schemas."""
    valid = schema(version)
    for data in (request(version), answer(version), submission(version)):
        assert valid.validate(etree.fromstring(data)), valid.error_log


@pytest.mark.parametrize("version", ["20", *EDITIONS])
def test_structures_in_a_submission(version: str) -> None:
    """Structures in a registry message are read like those in a structure message."""
    data = submission(version)
    [found] = read_message(data)
    assert isinstance(found, Codelist)
    assert str(found.urn) == "urn:sdmx:org.sdmx.infomodel.codelist.Codelist=KR:CL(1.0)"
    assert found.name() == "A list"
    [part] = split_message(data)
    assert list(read_message(part.value)) == [found]


def test_structures_in_answers_of_20() -> None:
    """QueryStructureResponse and StructuralEvent of 2.0 contain structures, too."""
    codelist = '<s:CodeList id="CL" agencyID="KR"><s:Name>A list</s:Name></s:CodeList>'
    held = f"<r:CodeLists>{codelist}</r:CodeLists>"
    response = f'<m:QueryStructureResponse><r:StatusMessage status="Success"/>{held}</m:QueryStructureResponse>'
    event = (
        "<m:NotifyRegistryEvent><r:EventTime>2026-01-01T00:00:00</r:EventTime><r:EventAction>Replace</r:EventAction>"
        f"<r:StructuralEvent>{held}</r:StructuralEvent></m:NotifyRegistryEvent>"
    )
    for body in (response, event):
        assert [one.urn.id for one in read_message(interface("20", body))] == ["CL"]


def test_an_answer_without_results_is_an_empty_message() -> None:
    """The answer of a query without results is an empty message, not an error."""
    body = '<m:QueryRegistrationResponse><r:StatusMessage status="Success"/></m:QueryRegistrationResponse>'
    for version in EDITIONS:
        assert len(read_message(interface(version, body))) == 0


@pytest.mark.parametrize("version", EDITIONS)
def test_deletions_are_refused(version: str) -> None:
    """Artefacts to be deleted are refused: they must not be taken for content."""
    for data in (request(version, "Delete"), submission(version, "Delete")):
        with pytest.raises(MessageError, match="deletion"):
            read_message(data)


FAILURE = '<r:StatusMessage status="Failure"><r:MessageText code="100"><c:Text>no such thing</c:Text></r:MessageText>'


@pytest.mark.parametrize("version", EDITIONS)
def test_a_failed_query_is_no_empty_message(version: str) -> None:
    """The text of a failure is contained in our error."""
    body = f"<m:QueryRegistrationResponse>{FAILURE}</r:StatusMessage></m:QueryRegistrationResponse>"
    with pytest.raises(MessageError, match="no such thing"):
        read_message(interface(version, body))


@pytest.mark.parametrize("name", ["QueryStructureResponse", "QueryProvisioningResponse"])
def test_a_failed_query_of_20_is_no_empty_message(name: str) -> None:
    """The text of a failure is contained in our error."""
    failure = '<r:StatusMessage status="Failure"><r:MessageText>no such thing</r:MessageText></r:StatusMessage>'
    with pytest.raises(MessageError, match="no such thing"):
        read_message(interface("20", f"<m:{name}>{failure}</m:{name}>"))
    with pytest.raises(MessageError, match="no such thing"):
        read_message(interface("20", f"<m:SubmitStructureResponse>{failure}</m:SubmitStructureResponse>"))


def test_registry_messages_of_20_without_structures_are_refused_with_the_reason() -> None:
    """Registrations of 2.0 have no URN; the error for them, and for other registry messages, says why it is one."""
    for name in ("QueryRegistrationResponse", "SubmitRegistrationRequest"):
        with pytest.raises(MessageError, match=f"<{name}> at line 1: registrations of SDMX-ML 2.0 have no URN"):
            read_message(interface("20", f"<m:{name}><r:StatusMessage status='Success'/></m:{name}>"))
    with pytest.raises(MessageError, match="<QueryStructureRequest> at line 1: such a message of a registry"):
        read_message(interface("20", "<m:QueryStructureRequest/>"))


def test_structures_beside_a_failure_are_read() -> None:
    """A registry that reports a failure may answer with what it has."""
    held = '<r:CodeLists><s:CodeList id="CL" agencyID="KR"><s:Name>A list</s:Name></s:CodeList></r:CodeLists>'
    body = f'<m:QueryStructureResponse><r:StatusMessage status="Failure"/>{held}</m:QueryStructureResponse>'
    assert [one.urn.id for one in read_message(interface("20", body))] == ["CL"]


@pytest.mark.parametrize("version", EDITIONS)
def test_registrations_that_a_registry_refused_are_left_out(version: str) -> None:
    """Only accepted registrations exist."""

    def status(id_: str, message: str) -> str:
        return (
            f'<r:RegistrationStatus><r:Registration id="{id_}"><r:ProvisionAgreement><URN>{AGREEMENT_URN}</URN>'
            f"</r:ProvisionAgreement></r:Registration>{message}</r:RegistrationStatus>"
        )

    refused = status("R1", f"{FAILURE}</r:StatusMessage>")
    accepted = status("R2", '<r:StatusMessage status="Success"/>')
    body = "<m:SubmitRegistrationsResponse>{}</m:SubmitRegistrationsResponse>"
    assert [one.urn.id for one in read_message(interface(version, body.format(refused + accepted)))] == ["R2"]
    with pytest.raises(MessageError, match="no such thing"):
        read_message(interface(version, body.format(refused)))


@pytest.mark.parametrize("version", EDITIONS)
def test_the_deletion_of_one_artefact_is_refused(version: str) -> None:
    """The action of an artefact precedes that of the request."""
    end = b"</m:SubmitStructureRequest>"
    one = b'<r:SubmittedStructure action="Delete"/>'
    with pytest.raises(MessageError, match="deletion"):
        read_message(submission(version).replace(end, one + end))


def test_deletions_of_20_are_refused() -> None:
    """Deletions of 2.0, which are given next to the structures or in an event, are refused."""
    end = b"</r:Structure>"
    deletion_request = submission("20").replace(end, end + b'<r:SubmittedStructure action="Delete"/>')
    held = '<r:StructuralEvent><r:CodeLists><s:CodeList id="CL" agencyID="KR"/></r:CodeLists></r:StructuralEvent>'
    event = f"<m:NotifyRegistryEvent><r:EventAction>Delete</r:EventAction>{held}</m:NotifyRegistryEvent>"
    for data in (deletion_request, interface("20", event)):
        with pytest.raises(MessageError, match="deletion"):
            read_message(data)


def test_a_registration_without_an_id_has_no_urn() -> None:
    """A registration without an id from a registry has no URN."""
    data = request("21").replace(b'<r:Registration id="REG_1" ', b"<r:Registration ")
    with pytest.raises(MessageError, match="no id"):
        read_message(data)
