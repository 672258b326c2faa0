"""Structure messages of SDMX-ML that tests write by hand."""

from __future__ import annotations

from typing import Any

from kafka_replica.sdmx import read_message
from support.paths import SDMX_DATA

ML = "http://www.sdmx.org/resources/sdmxml/schemas/v"
EVERY = (SDMX_DATA / "every_class.sdmx30.xml").read_bytes()


def xml(body: str, version: str = "2_1", header: str = "") -> bytes:
    """Return a message of SDMX-ML around some containers."""
    base = f"{ML}{version}"
    return (
        f'<m:Structure xmlns:m="{base}/message" xmlns:s="{base}/structure" xmlns:c="{base}/common">'
        f"<m:Header>{header}</m:Header><m:Structures>{body}</m:Structures></m:Structure>"
    ).encode()


def codelist_xml(codes: str, attributes: str = "", version: str = "2_1") -> bytes:
    """Return a message of one codelist."""
    return xml(
        f'<s:Codelists><s:Codelist id="CL" agencyID="A" version="1.0" {attributes}>{codes}</s:Codelist></s:Codelists>',
        version,
    )


def only(data: bytes, kind: type[Any]) -> Any:
    """Return the only artefact of a message."""
    [found] = read_message(data)
    assert isinstance(found, kind)
    return found


METADATA = f"""<m:GenericMetadata xmlns:m="{ML}3_0/message" xmlns:g="{ML}3_0/metadata/generic" xmlns:c="{ML}3_0/common">
<m:Header><m:ID>x</m:ID></m:Header><m:MetadataSet id="MS" agencyID="A" version="1.0" action="Replace">
<c:Name>N</c:Name><g:Metadataflow>urn:sdmx:org.sdmx.infomodel.metadatastructure.Metadataflow=A:F(1.0)</g:Metadataflow>
<g:Target>urn:sdmx:org.sdmx.infomodel.datastructure.Dataflow=A:*(*)</g:Target>
<g:Attribute id="CONTACT"><g:Attribute id="NAME"><c:Text xml:lang="en">Ann</c:Text><c:Text xml:lang="fr">Anne</c:Text>
</g:Attribute><g:Attribute id="NOTE"><c:StructuredText>a <p xmlns="http://www.w3.org/1999/xhtml">b <b>c</b>
</p> &lt; d</c:StructuredText></g:Attribute><g:Attribute id="YEAR"><g:Value>2020</g:Value><g:Value>2021</g:Value>
</g:Attribute></g:Attribute></m:MetadataSet></m:GenericMetadata>""".encode()


def old_ml(inside: str, edition: str = "2_0") -> bytes:
    """Return a structure message of SDMX-ML 1.0 or 2.0."""
    ns = f"http://www.SDMX.org/resources/SDMXML/schemas/v{edition}"
    return (
        f'<Structure xmlns="{ns}/message" xmlns:s="{ns}/structure"><Header><ID>M</ID><Test>false</Test>'
        f'<Prepared>2026-01-01T00:00:00</Prepared><Sender id="S"/></Header>{inside}</Structure>'
    ).encode()
