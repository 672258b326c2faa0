"""Registry messages of every edition, with a registration or with structures; valid by the schemas."""

from __future__ import annotations

from typing import Final

from lxml import etree

from support.sdmx.xsd_samples import folder

REGISTRATION_URN: Final = "urn:sdmx:org.sdmx.infomodel.registry.Registration=KR:REG_1(1.0)"
AGREEMENT_URN: Final = "urn:sdmx:org.sdmx.infomodel.registry.ProvisionAgreement=KR:PA(1.0)"
_BASES: Final = {
    "20": "http://www.SDMX.org/resources/SDMXML/schemas/v2_0",
    "21": "http://www.sdmx.org/resources/sdmxml/schemas/v2_1",
    "30": "http://www.sdmx.org/resources/sdmxml/schemas/v3_0",
    "31": "http://www.sdmx.org/resources/sdmxml/schemas/v3_1",
}


def namespaces(version: str) -> str:
    """Return declarations of the prefixes m, r, s and c."""
    base = _BASES[version]
    kinds = {"m": "message", "r": "registry", "s": "structure", "c": "common"}
    return " ".join(f'xmlns:{prefix}="{base}/{kind}"' for prefix, kind in kinds.items())


def interface(version: str, body: str) -> bytes:
    """Return a RegistryInterface message."""
    receiver = "" if version == "20" else '<m:Receiver id="ME"/>'
    header = (
        "<m:Header><m:ID>R1</m:ID><m:Test>false</m:Test><m:Prepared>2026-01-01T00:00:00</m:Prepared>"
        f'<m:Sender id="KR"/>{receiver}</m:Header>'
    )
    return f"<m:RegistryInterface {namespaces(version)}>{header}{body}</m:RegistryInterface>".encode()


def registration(version: str) -> str:
    """Return a Registration of 2.1 or 3.x."""
    agreement = (
        '<r:ProvisionAgreement><Ref agencyID="KR" id="PA" version="1.0"/></r:ProvisionAgreement>'
        if version == "21"
        else f"<r:ProvisionAgreement>{AGREEMENT_URN}</r:ProvisionAgreement>"
    )
    return (
        '<r:Registration id="REG_1" validFrom="2026-01-01T00:00:00" validTo="2027-01-01T00:00:00" '
        'lastUpdated="2026-02-01T00:00:00" indexTimeSeries="true" indexDataSet="1" indexAttributes="false" '
        f'indexReportingPeriod="true">{agreement}<r:Datasource>'
        "<r:SimpleDataSource>https://example.org/data.xml</r:SimpleDataSource>"
        '<r:QueryableDataSource isRESTDatasource="true" isWebServiceDatasource="false">'
        "<c:DataURL>https://example.org/rest</c:DataURL><c:WADLURL>https://example.org/wadl</c:WADLURL>"
        "</r:QueryableDataSource></r:Datasource></r:Registration>"
    )


def request(version: str, action: str = "Append") -> bytes:
    """Return a SubmitRegistrationsRequest."""
    one = f'<r:RegistrationRequest action="{action}">{registration(version)}</r:RegistrationRequest>'
    return interface(version, f"<m:SubmitRegistrationsRequest>{one}</m:SubmitRegistrationsRequest>")


def answer(version: str) -> bytes:
    """Return a QueryRegistrationResponse whose result names a constraint."""
    constraint = (
        '<r:ContentConstraint><Ref agencyID="KR" id="CC" version="1.0"/></r:ContentConstraint>'
        if version == "21"
        else "<r:Constraint>urn:sdmx:org.sdmx.infomodel.registry.DataConstraint=KR:CC(1.0)</r:Constraint>"
    )
    return interface(
        version,
        '<m:QueryRegistrationResponse><r:StatusMessage status="Success"/><r:QueryResult timeSeriesMatch="true">'
        f"<r:DataResult>{registration(version)}{constraint}</r:DataResult></r:QueryResult>"
        "</m:QueryRegistrationResponse>",
    )


def submission(version: str, action: str = "Append") -> bytes:
    """Return a SubmitStructureRequest with a codelist."""
    if version == "20":
        codelist = '<s:CodeList id="CL" agencyID="KR"><s:Name>A list</s:Name><s:Code value="A"/></s:CodeList>'
        held = f"<r:Structure><r:CodeLists>{codelist}</r:CodeLists></r:Structure>"
        return interface(version, f"<m:SubmitStructureRequest>{held}</m:SubmitStructureRequest>")
    codelist = '<s:Codelist id="CL" agencyID="KR" version="1.0"><c:Name>A list</c:Name></s:Codelist>'
    held = f"<s:Structures><s:Codelists>{codelist}</s:Codelists></s:Structures>"
    return interface(version, f'<m:SubmitStructureRequest action="{action}">{held}</m:SubmitStructureRequest>')


def schema(version: str) -> etree.XMLSchema:
    """Return the schema of messages."""
    return etree.XMLSchema(etree.parse(folder(version) / "SDMXMessage.xsd"))
