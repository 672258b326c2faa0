"""Schema queries for metadata: each context leads to the metadata structure, and to the items that its reports use."""

from __future__ import annotations

import pytest
from msgspec import structs

from kafka_replica.sdmx import Format, Items, Structures, read_message, write_message
from kafka_replica.sdmx.model import (
    Artefact,
    ConceptScheme,
    MetadataAttribute,
    Metadataflow,
    MetadataProvider,
    MetadataProviderScheme,
    MetadataProvisionAgreement,
    MetadataStructure,
    ProvisionAgreement,
)
from kafka_replica.sdmx.model.representation import Representation
from kafka_replica.server.rest import RestAnswer, RestRequest, RestSettings, answer
from support.sdmx.sdmx_corpus import FakeSnapshot, record
from support.server.registry import ARTEFACTS, CONCEPTS, items, named, urn, version_of

PROVIDERS = "MetadataProviderScheme ECB:METADATA_PROVIDERS(1.0)"
STRUCTURE = "MetadataStructure ECB:QUALITY(1.0)"
XML_SCHEMA = "application/vnd.sdmx.schema+xml;version=3.0.0"


def attribute(id_: str, codelist: str) -> MetadataAttribute:
    """Return a metadata attribute with a concept and a codelist."""
    concept = urn(CONCEPTS).with_item("Concept", id_)
    own = urn(STRUCTURE).with_item("MetadataAttribute", id_)
    return MetadataAttribute(urn=own, concept=concept, representation=Representation(enumeration=urn(codelist)))


FLOW = urn("Metadataflow ECB:QUALITY_FLOW(1.0)")
REGISTRY = version_of([
    *ARTEFACTS.values(),
    MetadataStructure(
        metadata_attributes=Items({"FREQ": attribute("FREQ", "Codelist ECB:CL_FREQ(1.0)")}), **named(STRUCTURE)
    ),
    Metadataflow(
        structure_reference=urn(STRUCTURE), targets=(str(urn("Dataflow ECB:EXR(1.0)")),),
        **named("Metadataflow ECB:QUALITY_FLOW(1.0)"),
    ),
    MetadataProviderScheme(
        organisations=items(PROVIDERS, "MetadataProvider", MetadataProvider, ["P1", "P2"]), **named(PROVIDERS)
    ),
    MetadataProvisionAgreement(
        metadataflow=FLOW, metadata_provider=urn(PROVIDERS).with_item("MetadataProvider", "P1"),
        targets=(str(urn("Dataflow ECB:EXR(1.0)")),), **named("MetadataProvisionAgreement ECB:QUALITY_P1(1.0)"),
    ),
], Format.SDMX_JSON_2_0)  # fmt: skip
CONTEXTS = [
    "metadatastructure/ECB/QUALITY",
    "metadataflow/ECB/QUALITY_FLOW",
    "metadataprovisionagreement/ECB/QUALITY_P1",
]


def get(path: str, accept: str = str(Format.SDMX_JSON_2_1)) -> RestAnswer:
    """Return the answer to a query."""
    return answer(RestRequest(path, "", accept), REGISTRY, RestSettings())


@pytest.mark.parametrize("context", CONTEXTS)
@pytest.mark.parametrize("version", ["", "/1.0", "/~"])
def test_each_context_has_the_structure_and_what_it_uses(context: str, version: str) -> None:
    """The answer has the classes that the specification allows, with the concepts that are used and all codes."""
    made = get(f"v2/schema/{context}{version}")
    assert made.status == 200, made.body
    found = read_message(made.body).artefacts
    assert {f"{one.cls} {one.reference}" for one in found} == {
        STRUCTURE, CONCEPTS, "Codelist ECB:CL_FREQ(1.0)", "AgencyScheme SDMX:AGENCIES(1.0)",
    }  # fmt: skip
    concepts = found[urn(CONCEPTS)]
    assert isinstance(concepts, ConceptScheme)
    assert list(concepts.concepts) == ["FREQ"]


@pytest.mark.parametrize("context", CONTEXTS)
def test_schemas_of_metadata_messages_of_3_x_are_not_generated(context: str) -> None:
    """A request for an XML schema of 3.x is refused with the advice to request the structures instead."""
    made = get(f"v2/schema/{context}/1.0", XML_SCHEMA)
    assert (made.status, b"structures instead" in made.body) == (501, True)


@pytest.mark.parametrize("context", CONTEXTS)
def test_the_reason_for_the_preferred_answer_is_reported(context: str) -> None:
    """If no acceptable answer exists, the status is that of the one with the greatest weight."""
    edi = "application/vnd.sdmx.structure;version=edi"
    statuses = [get(f"v2/schema/{context}/1.0", accept).status for accept in (
        XML_SCHEMA, edi, f"{XML_SCHEMA}, {edi};q=0.5", f"{edi}, {XML_SCHEMA};q=0.5",
    )]  # fmt: skip
    assert statuses == [501, 406, 501, 406]


AGREEMENT = ProvisionAgreement(
    structure_usage=FLOW,
    data_provider=urn("DataProviderScheme ECB:DATA_PROVIDERS(1.0)").with_item("DataProvider", "P1"),
    **named("ProvisionAgreement ECB:QUALITY_P2(1.0)"),
)
PATH_OF_2_1 = "v1/schema/provisionagreement/ECB/QUALITY_P2/1.0"


def with_others(*artefacts: Artefact, format_: Format) -> Structures:
    """Return the registry with other artefacts in a format."""
    records = {bytes(each): REGISTRY._snapshot.get(str(each)) for each in REGISTRY}
    for each in artefacts:
        records[bytes(each.urn)] = record(bytes(each.urn), write_message(each, format_), str(format_))
    return Structures(FakeSnapshot(records))  # type: ignore[arg-type]


def test_a_provision_agreement_of_a_metadataflow_has_the_structures_of_the_flow() -> None:
    """SDMX 2.1 has provision agreements of metadata; 1.5 names the metadataflow of an agreement."""
    registry = with_others(AGREEMENT, format_=Format.SDMX_ML_2_1)
    flow, agreement = (
        answer(RestRequest(path, "", str(Format.SDMX_JSON_2_1)), registry)
        for path in ("v1/schema/metadataflow/ECB/QUALITY_FLOW/1.0", PATH_OF_2_1)
    )
    assert (agreement.status, flow.status) == (200, 200), agreement.problem
    assert read_message(agreement.body).artefacts == read_message(flow.body).artefacts


@pytest.mark.parametrize(("version", "status"), [("1.0.0", 422), ("1.0.0-draft", 200)])
def test_a_draft_agreement_may_have_a_draft_metadataflow(version: str, status: int) -> None:
    """In a draft, the version rule of a reference selects among drafts, too."""
    flow = Metadataflow(
        structure_reference=urn(STRUCTURE), targets=(str(urn("Dataflow ECB:EXR(1.0)")),),
        **named("Metadataflow ECB:NEW_FLOW(1.1.0-draft)"),
    )  # fmt: skip
    rule = urn("Metadataflow ECB:NEW_FLOW(1+.0.0)")
    own = urn(f"ProvisionAgreement ECB:QUALITY_P3({version})")
    agreement = structs.replace(AGREEMENT, urn=own, structure_usage=rule)
    registry = with_others(flow, agreement, format_=Format.FUSION_JSON)
    path = f"v1/schema/provisionagreement/ECB/QUALITY_P3/{version}"
    made = answer(RestRequest(path, "", str(Format.SDMX_JSON_2_1)), registry)
    assert made.status == status, made.problem
    assert status != 200 or urn(STRUCTURE) in read_message(made.body).artefacts


def test_a_provision_agreement_of_a_missing_metadataflow_is_incomplete() -> None:
    """The error names the flow; it does not claim that the agreement is one of data."""
    registry = version_of([AGREEMENT], Format.SDMX_ML_2_1)
    for accept in (str(Format.SDMX_JSON_2_1), "application/vnd.sdmx.schema+xml;version=2.1"):
        made = answer(RestRequest(PATH_OF_2_1, "", accept), registry)
        assert (made.status, "QUALITY_FLOW" in (made.problem or "")) == (422, True)
        assert "not to a Dataflow" not in (made.problem or "")


def test_missing_and_impossible_contexts_are_distinguished() -> None:
    """A missing artefact is 404; a resource that is not a context is a wrong query; 1.5 has no metadata agreements."""
    assert get("v2/schema/metadataflow/ECB/NONE").status == 404
    assert get("v2/schema/metadataproviderscheme/ECB/METADATA_PROVIDERS").status == 400
    assert get("v1/schema/metadataprovisionagreement/ECB/QUALITY_P1").status == 400
    assert get("v1/schema/metadataflow/ECB/QUALITY_FLOW").status == 200
