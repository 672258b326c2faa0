"""All content that the standard's schemas allow in a structure message is read, or listed here with a reason.

The samples are made from the schemas (``xsd_samples``, ``json_schema_samples``), each value in them is changed, and
the model has to change with it (``schema_probe``). So a new reader that forgets an attribute fails here.
"""

from __future__ import annotations

import re
from typing import Final

import pytest

from support.sdmx.schema_probe import Findings, ignored_in_json, ignored_in_message, ignored_in_xml

pytestmark = pytest.mark.long

# A pattern of places -> why they may be ignored.
_XML: Final = {
    r".*@urn": "the URN is made of class, agency, id and version; one that contradicts them is not believed",
    r".*/(Ref@(local|class|package|containerID)|URN)": "beside what it repeats, or within one artefact: the id says it",
    r".*/(Object|ObjectReference|Source|Target)/Ref@version": "an item's version is that of what holds it",
    r".*/AttributeRelationship/(None|Dataflow)": "the data set: what it is where nothing else is said",
    r".*Dimension@type": "fixed; the name of the element says the same",
    r"Geo(Grid|graphic)Codelist@geoType": "fixed; the class says the same",
    r".*/GenericDataflow": "any dataflow: a mapping of none in particular",
}
_ITEMS_20: Final = r".*/?(Category|Concept|Agency|DataProvider|DataConsumer)"
_XML_OLD: Final = _XML | {
    rf"{_ITEMS_20}@isExternalReference": "of an item: only artefacts can be elsewhere since 2.1",
    r"(ConceptScheme/)?Concept@(parentAgency|agencyID)": "the parent of a concept is in its own scheme since 2.1",
    r".*/CategoryVersion": "categories in a path have the version of their scheme since 2.1",
    r".*/Level/Order": "is the order; the sample has one level",
    r"(KeyFamily|MetadataStructureDefinition)/.*@conceptAgency": "beside conceptSchemeAgency, which is more exact",
    r"OrganisationScheme@(id|version|isExternalReference)": "each kind of organisation has one scheme, with a fixed id",
    r".*/TargetIdentifiers/Annotations/.*": "of a list of targets, which is not an object since 2.1",
    r"StructureSet/CodelistMap/(Target)?CodelistRef/Alias": "names the list within its own reference",
    r".*/RepresentationMapRef(/RepresentationMapAgencyID|@representationType)": "the map is one of the same set",
}
_JSON: Final = {
    r".*annotations\[\]\.links\[\]\.(rel|type|title|titles\.fr|uri|urn)": "an annotation has addresses by language",
    r".*\.attributeRelationship\.(none|dataflow)": "the data set: what it is where nothing else is said",
    r"geo(Grid|graphic)Codelists\.geoType": "fixed; the class says the same",
    r"representationMaps\.(source|target)\[\]\.dataType": "beside a codelist; the schema allows one of both",
    r".*\.(measureDimensions|timeDimensions)\[\]\.type": "fixed; the list says the same",
}


def _unexplained(findings: Findings, reasons: dict[str, str]) -> list[str]:
    matches = [re.compile(pattern).fullmatch for pattern in reasons]
    return [place for place in findings.ignored if not any(match(place) for match in matches)]


def _unused(findings: Findings, reasons: dict[str, str]) -> list[str]:
    return [pattern for pattern in reasons if not any(re.fullmatch(pattern, place) for place in findings.ignored)]


@pytest.mark.parametrize("version", ["31", "21", "30"])
def test_sdmx_ml_is_read_whole(version: str) -> None:
    """Every element and attribute in the schemas of 2.1, 3.0 and 3.1 reaches the model."""
    findings, refused = ignored_in_xml(version)
    assert refused == []
    assert len(findings.noticed) > 1200
    assert _unexplained(findings, _XML) == []


@pytest.mark.parametrize("version", ["20", "10"])
def test_old_sdmx_ml_is_read_whole(version: str) -> None:
    """Every element and attribute in the schemas of 1.0 and 2.0 reaches the model."""
    findings, refused = ignored_in_xml(version)
    assert refused == []
    assert len(findings.noticed) > (100 if version == "10" else 700)
    assert _unexplained(findings, _XML_OLD) == []


@pytest.mark.parametrize("version", ["20", "21", "10"])
def test_sdmx_json_is_read_whole(version: str) -> None:
    """Every property in the schemas of SDMX-JSON reaches the model."""
    findings, refused = ignored_in_json(version)
    assert refused == []
    assert len(findings.noticed) > 1500
    assert _unexplained(findings, _JSON) == []


@pytest.mark.parametrize("version", ["20", "21"])
def test_metadata_sets_of_sdmx_json_are_read_whole(version: str) -> None:
    """Every property of metadata sets reaches the model, except formats of values, which repeat their structure's."""
    findings, refused = ignored_in_json(version, "metadata")
    assert refused == []
    reasons = _JSON | {r".*\.attributes\[\]\.format\..*": "the metadata structure says so"}
    assert _unexplained(findings, reasons) == []
    assert len(findings.noticed) > 40


_AROUND: Final = {
    r".*/Header/Sender@id": "of the message; it is the agency where nothing else tells one",
    r".*/Header/Structure@(schema|service)URL": "beside structureURL: one address of the metadata structure is kept",
    r".*/MetadataSet@dataProviderSchemeId": "each kind of organisation has one scheme, with a fixed id",
    r".*/DataProviderRef/(OrganisationSchemeID|Version)": "each kind of organisation has one scheme, with a fixed id",
    r".*/ProvisionAgreement@action": "what a registry is asked to do; deletions are refused",
}
_OTHER_MESSAGES: Final = {
    ("21", "GenericMetadata", "MetadataSet"): _XML,
    ("30", "GenericMetadata", "MetadataSet"): _XML,
    ("31", "GenericMetadata", "MetadataSet"): _XML,
    ("20", "GenericMetadata", "MetadataSet"): _XML_OLD,
    ("20", "RegistryInterface", "QueryProvisioningResponse", "ProvisionAgreement"): _XML_OLD,
}


@pytest.mark.parametrize("path", _OTHER_MESSAGES, ids="-".join)
def test_metadata_sets_and_agreements_are_read_whole(path: tuple[str, ...]) -> None:
    """All content of separate messages is read: metadata sets, and provision agreements of 2.0."""
    findings, refused = ignored_in_message(*path)
    assert refused == []
    assert len(findings.noticed) > 25
    assert _unexplained(findings, _OTHER_MESSAGES[path] | _AROUND) == []


@pytest.mark.long
def test_every_reason_is_needed() -> None:
    """Each exception in the lists is still ignored by a reader; others must be removed from the lists."""
    xml = Findings()
    for version in ("10", "20", "21", "30"):
        xml.noticed |= dict.fromkeys(ignored_in_xml(version)[0].ignored, False)
    json = Findings()
    for version in ("10", "20"):
        json.noticed |= dict.fromkeys(ignored_in_json(version)[0].ignored, False)
    assert _unused(xml, _XML_OLD) == []
    others = Findings()
    for path in _OTHER_MESSAGES:
        others.noticed |= dict.fromkeys(ignored_in_message(*path)[0].ignored, False)
    assert _unused(others, _AROUND) == []
    assert _unused(json, _JSON) == []
