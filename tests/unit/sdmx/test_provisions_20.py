"""Provision agreements of SDMX-ML 2.0 in the messages of registries."""

from __future__ import annotations

import pytest
from lxml import etree

from kafka_replica.sdmx import split_message
from kafka_replica.sdmx.errors import MessageError, UnwritableError
from kafka_replica.sdmx.messages.format import Format
from kafka_replica.sdmx.model import ProvisionAgreement
from kafka_replica.sdmx.model.earlier_editions import ProvisionAgreementOfSources
from kafka_replica.sdmx.reading.messages import read_message
from kafka_replica.sdmx.urns.urn import Urn
from kafka_replica.sdmx.writing.messages import write_message
from support.paths import SDMX_DATA
from support.sdmx.registry_messages import interface, schema
from support.sdmx.standard_schemas import schema_errors

DATA = (SDMX_DATA / "provision_agreements.sdmx20.xml").read_bytes()
URN = "urn:sdmx:org.sdmx.infomodel."
ML = "http://www.sdmx.org/resources/sdmxml/schemas/v2_1"
OF_21 = f"""<m:Structure xmlns:m="{ML}/message" xmlns:s="{ML}/structure" xmlns:c="{ML}/common"><m:Structures>
<s:ProvisionAgreements><s:ProvisionAgreement id="PA_PLAIN" agencyID="KR" version="1.0" validFrom="2026-01-01T00:00:00">
<c:Name xml:lang="en">Labour by STAT</c:Name>
<s:StructureUsage><Ref agencyID="KR" id="LABOUR" version="1.0" class="Dataflow"/></s:StructureUsage>
<s:DataProvider><Ref agencyID="SDMX" maintainableParentID="DATA_PROVIDERS" maintainableParentVersion="1.0" id="STAT"/>
</s:DataProvider></s:ProvisionAgreement></s:ProvisionAgreements></m:Structures></m:Structure>""".encode()
AGREEMENT = (
    '<r:ProvisionAgreement id="PA" action="{action}"><r:DataflowRef><r:AgencyID>KR</r:AgencyID>'
    "<r:DataflowID>F</r:DataflowID></r:DataflowRef><r:DataProviderRef>"
    "<r:URN>urn:sdmx:org.sdmx.infomodel.base.DataProvider=SDMX:ORGS[1.0].STAT</r:URN></r:DataProviderRef>"
    "</r:ProvisionAgreement>"
)


def test_a_plain_agreement_equals_that_of_2_1() -> None:
    """An agreement without further content equals that of 2.1; its agency is that of the flow."""
    plain, _ = read_message(DATA)
    assert type(plain) is ProvisionAgreement
    assert [plain] == list(read_message(OF_21))


def test_sources_and_constraints() -> None:
    """Properties without a place in 2.1 are kept; the URN has the agency and version where the agreement has them."""
    _, full = read_message(DATA)
    assert isinstance(full, ProvisionAgreementOfSources)
    assert str(full.urn) == f"{URN}registry.ProvisionAgreement=OTHER:PA_FULL(2.0)"
    assert str(full.structure_usage) == f"{URN}metadatastructure.Metadataflow=KR:QUALITY(1.0)"
    assert full.flow_provision is not None
    assert full.flow_provision.simple_data_source == "https://example.org/data.xml"
    assert full.provider_provision is None
    assert (full.index_time_series, full.index_data_set) == (True, False)
    assert full.provision is not None
    assert full.provision.queryable_data_source is not None
    assert full.provision.queryable_data_source.data_url == "https://example.org/rest"
    constraint = full.provision.constraint
    assert constraint is not None
    assert (constraint.id, constraint.kind) == ("C1", "Content")
    [region] = constraint.cube_regions
    [member] = region.key_values
    assert (region.include, member.id, [value.value for value in member.values]) == (False, "FREQ", ["A", "Q"])
    [keys] = constraint.key_sets
    assert [(key_value.id, key_value.values[0].value) for key_value in keys.keys[0].key_values] == [
        ("FREQ", "A"),
        ("AREA", "DE"),
    ]
    assert constraint.reference_period == ("2020-01-01T00:00:00", "2021-01-01T00:00:00")
    with pytest.raises(UnwritableError):
        write_message(full, Format.SDMX_ML_2_1)


def test_each_agreement_is_split_off_alone() -> None:
    """Each agreement is split off alone, and the message stays valid: the status comes after it."""
    whole = list(read_message(DATA))
    parts = split_message(
        DATA.replace(b'status="Success"/>', b'status="Success"><!--the artefact goes here--></r:StatusMessage>')
    )
    assert [part.urn for part in parts] == [one.urn for one in whole]
    for part, one in zip(parts, whole, strict=True):
        assert list(read_message(part.value, part.content_type)) == [one]
        faults = [str(fault.message) for fault in _faults(part.value)]
        assert [fault for fault in faults if "[1.0]" not in fault] == []


def _faults(data: bytes) -> list[etree._LogEntry]:
    valid = schema("20")
    valid.validate(etree.fromstring(data))
    return schema_errors(valid)


def test_requests_and_events() -> None:
    """Agreements in requests and events are read; those to be deleted are refused."""
    for action in ("Append", "Delete"):
        one = AGREEMENT.format(action=action)
        event = "<m:NotifyRegistryEvent><r:EventAction>{}</r:EventAction><r:ProvisioningEvent>{}</r:ProvisioningEvent>"
        happened = f"{event.format(action, AGREEMENT.format(action='Append'))}</m:NotifyRegistryEvent>"
        for body in (f"<m:SubmitProvisioningRequest>{one}</m:SubmitProvisioningRequest>", happened):
            data = interface("20", body)
            if action == "Delete":
                with pytest.raises(MessageError, match="deletion"):
                    read_message(data)
                continue
            [found] = read_message(data)
            assert isinstance(found, ProvisionAgreement)
            assert str(found.urn) == f"{URN}registry.ProvisionAgreement=KR:PA(1.0)"
            assert str(found.data_provider) == f"{URN}base.DataProvider=SDMX:DATA_PROVIDERS(1.0).STAT"


def test_nothing_found_and_no_id() -> None:
    """An answer without agreements is an empty message; an agreement without any id has no URN."""
    body = '<m:QueryProvisioningResponse><r:StatusMessage status="Success"/></m:QueryProvisioningResponse>'
    assert len(read_message(interface("20", body))) == 0
    with pytest.raises(MessageError, match="no id"):
        read_message(DATA.replace(b' id="PA_PLAIN"', b""))
    assert next(iter(read_message(DATA.replace(b' id="PA_FULL"', b"").replace(b"PA_PLAIN", b"A")))).id == "A"
    with pytest.raises(MessageError, match="ConstraintID"):
        read_message(DATA.replace(b"<c:ConstraintID>C1</c:ConstraintID>", b""))


OF_THE_STANDARD = "SDMX:DATA_PROVIDERS.BIS.BIS:BIS_JEDH_DEBT,1.2"


def answer(*agreements: str) -> bytes:
    """Return a response with agreements, of which each is the URN and the id, if any."""
    body = "".join(
        AGREEMENT.format(action="Append")
        .replace(' id="PA"', attributes)
        .replace("<r:DataflowID>F<", f"<r:DataflowID>F{at}<")
        for at, attributes in enumerate(agreements)
    )
    return interface("20", f"<m:QueryProvisioningResponse>{body}</m:QueryProvisioningResponse>")


def of_20(reference: str) -> str:
    """Return the attribute with a URN of 2.0."""
    return f' urn="{URN}registry.ProvisionAgreement={reference}"'


def test_a_urn_of_2_0_identifies_an_agreement_without_an_id() -> None:
    """The URN of the standard's sample is the key, in each reading and in the part that is split off."""
    data = answer(of_20(OF_THE_STANDARD))
    [found] = read_message(data)
    expected = f"{URN}registry.ProvisionAgreement=BIS:SDMX@DATA_PROVIDERS@BIS@BIS_JEDH_DEBT(1.2)"
    assert str(found.urn) == expected
    assert Urn.parse(expected) == found.urn
    assert list(read_message(data)) == [found]
    [part] = split_message(data)
    assert part.urn == found.urn
    assert list(read_message(part.value, part.content_type)) == [found]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("A:S.P.B:F,2.0", "B:A@S@P@F(2.0)"),
        ("A:S.P.B:F[2.0]", "B:A@S@P@F(2.0)"),
        ("A:S.P.B:F", "B:A@S@P@F(1.0)"),
    ],
)
def test_versions_in_urns_of_2_0(written: str, expected: str) -> None:
    """The version is after a comma, in brackets, or left out."""
    [found] = read_message(answer(of_20(written)))
    assert found.urn.reference == expected


@pytest.mark.parametrize(
    "written",
    ["A:F,1.2", "A:S.P.B:F,", "A:S.P.B:F,1.2.", "A:S.P:B:F,1.2", "A@C:S.P.B:F,1.2", "A:S.P.Q.B:F,1.2", "A:S." * 90_000],
)
def test_other_urns_do_not_replace_an_id(written: str) -> None:
    """A URN that is not exactly of this form does not replace an id, however long it is."""
    with pytest.raises(MessageError, match=r"no id|cannot be its version"):
        read_message(answer(of_20(written)))


def test_agreements_with_and_without_an_id_have_different_keys() -> None:
    """Agreements with the same URN of 2.0 keep their own ids, and those without one differ in each part of the URN."""
    references = ["A:S.P.B:F,1.2", "A:S.P.B:F,1.3", "A:S.P.B:G,1.2", "A:S.P.C:F,1.2", "A:S.Q.B:F,1.2", "A:T.P.B:F,1.2"]
    attributes = [of_20(reference) for reference in references]
    attributes += [of_20(references[0]) + ' id="F"', of_20(references[0]) + ' id="A_S_P_F"']
    found = read_message(answer(*attributes))
    assert len({one.urn for one in found}) == len(attributes)
    assert [one.urn.reference for one in found][-2:] == ["KR:F(1.0)", "KR:A_S_P_F(1.0)"]
    with pytest.raises(MessageError, match="duplicate"):
        read_message(answer(attributes[0], attributes[0]))


def test_an_answer_within_a_metadata_set_is_refused() -> None:
    """An answer within a metadata set is refused: the part of the set would contain its agreements."""
    inner = DATA[DATA.index(b"<m:QueryProvisioningResponse") : DATA.index(b"</m:RegistryInterface>")]
    reports = (SDMX_DATA / "metadata_set.sdmx20.xml").read_bytes()
    mark = b"</g:AttributeValueSet>"
    spaces = b' xmlns:r="http://www.SDMX.org/resources/SDMXML/schemas/v2_0/registry" '
    inner = inner.replace(b"<m:QueryProvisioningResponse", b"<m:QueryProvisioningResponse" + spaces, 1)
    assert reports.count(mark)
    with pytest.raises(MessageError, match="not allowed in <GenericMetadata>"):
        split_message(reports.replace(mark, inner + mark, 1))
