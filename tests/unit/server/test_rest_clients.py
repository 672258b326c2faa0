"""Unmodified clients of other projects: what they read from the service equals a direct read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from kafka_replica.sdmx import read_files
from kafka_replica.sdmx.samples import extra_files, sample_files
from kafka_replica.testing import FakeTopic
from support.server.data_samples import labour_topic
from support.server.page_topic import publish
from support.server.registry import ARTEFACTS
from support.server.rest_service import RestService, rest_service

SAMPLES = read_files(*sample_files(), *(path for path in extra_files() if path.suffix == ".xml"))
PYSDMX = [("SDMX_JSON_2_0_0", "/sdmx/v2/"), ("FUSION_JSON", "/sdmx/v2/"), ("FUSION_JSON", "/ws/public/sdmxapi/rest/")]
"""The formats that pysdmx reads, and the base paths: the last one is that of FMR."""


@pytest.fixture(scope="module")
def samples() -> Iterator[RestService]:
    """Yield the service with the sample structures."""
    with rest_service(labour_topic()) as found:
        yield found


@pytest.fixture(scope="module")
def registry() -> Iterator[RestService]:
    """Yield the service with the small registry."""
    topic = FakeTopic()
    publish(topic, ARTEFACTS.values())
    with rest_service(topic) as found:
        yield found


def client(service: RestService, format_: str, path: str) -> Any:
    """Return pysdmx's client of a service, for a format it reads."""
    fmr = pytest.importorskip("pysdmx.api.fmr")
    formats = pytest.importorskip("pysdmx.io.format")
    return fmr.RegistryClient(service.address + path, formats.StructureFormat[format_])


def names(items: Any) -> list[tuple[str, str | None]]:
    """Return the ids and English names of items, ours or theirs."""
    return [(one.id, one.name() if callable(one.name) else one.name) for one in items]


@pytest.mark.thorough
@pytest.mark.parametrize(("format_", "path"), PYSDMX)
def test_pysdmx_reads_the_samples(samples: RestService, format_: str, path: str) -> None:
    """Codes, concepts, flows, details, structures and maps of pysdmx's registry client are those of the samples."""
    registry = client(samples, format_, path)
    assert names(registry.get_codes("SDMX", "CL_FREQ")) == names(SAMPLES.codelist("SDMX:CL_FREQ(2.1)").codes.values())
    concepts = SAMPLES.concept_scheme("KR_DEMO:CS_LABOUR(1.0)").concepts
    assert names(registry.get_concepts("KR_DEMO", "CS_LABOUR")) == names(concepts.values())
    assert names(registry.get_agencies("SDMX")) == [("KR_DEMO", "Demonstration Office of Statistics")]
    assert {one.id for one in registry.get_dataflows("KR_DEMO")} == {"AIR", "LABOUR"}
    details = registry.get_dataflow_details("KR_DEMO", "LABOUR")
    resolved = SAMPLES.resolve("KR_DEMO:LABOUR(1.0)")
    assert {one.id for one in details.components} == set(resolved.components)
    assert {one.id for one in registry.get_data_structures("KR_DEMO")} == {"DSD_AIR", "DSD_LABOUR", "DSD_PANEL"}
    assert registry.get_mapping("KR_DEMO", "LABOUR_TO_PANEL").id == "LABOUR_TO_PANEL"
    assert registry.get_code_map("KR_DEMO", "SEX_TO_GENDER").id == "SEX_TO_GENDER"
    with pytest.raises(pytest.importorskip("pysdmx.errors").NotFound):
        registry.get_codes("SDMX", "CL_NONE")
    assert samples.statuses() == {"200", "404"}


@pytest.mark.thorough
@pytest.mark.parametrize(("format_", "path"), PYSDMX)
@pytest.mark.parametrize(
    ("context", "id_", "freq"),
    [
        ("dataflow", "EXR", ["A", "M"]), ("dataflow", "EXR_ALL", ["A", "M", "Q", "D"]),
        ("datastructure", "EXR", ["A", "M", "Q", "D"]), ("provisionagreement", "EXR_P1", ["A", "M"]),
    ],
)  # fmt: skip
def test_pysdmx_reads_schemas_with_the_codes_that_constraints_allow(
    registry: RestService, format_: str, path: str, context: str, id_: str, freq: list[str]
) -> None:
    """``get_schema`` has the components of the structure, each with its allowed codes."""
    schema = client(registry, format_, path).get_schema(context, "ECB", id_, "1.0")
    assert {one.id for one in schema.components} == {"FREQ", "AREA", "OBS_VALUE", "UNIT"}
    assert [one.id for one in schema.components["FREQ"].enumeration] == freq
    # A hierarchy is linked to this dimension in the context of one flow: there pysdmx replaces its codes.
    assert len(list(schema.components["AREA"].enumeration)) >= 1


@pytest.mark.thorough
@pytest.mark.parametrize(("format_", "path"), PYSDMX)
def test_pysdmx_reads_the_registry(registry: RestService, format_: str, path: str) -> None:
    """Categories, providers, constraints, agreements and hierarchies come with the artefacts that pysdmx needs."""
    reader = client(registry, format_, path)
    prices = next(iter(reader.get_categories("ECB", "DOMAINS"))).categories[0]
    assert (prices.id, [one.id for one in prices.dataflows]) == ("PRICES", ["EXR"])
    assert [one.id for one in reader.get_providers("ECB", with_flows=True)] == ["P1", "P2"]
    assert reader.get_provision_agreement("ECB", "EXR_P1").id == "EXR_P1"
    assert reader.get_categorisation("ECB", "EXR_IN_PRICES").id == "EXR_IN_PRICES"
    assert reader.get_data_constraint("ECB", "EXR_CODES").id == "EXR_CODES"
    assert [one.id for one in reader.get_hierarchy("ECB", "H_AREA").codes] == ["AT"]
    assert [one.id for one in reader.get_codes("ECB", "VL_UNIT")] == ["€", "$"]
    assert [one.id for one in reader.get_agencies("ECB")] == ["ECB.DISS", "ECB.OTHER"]


def sdmx1_client(service: RestService, source_id: str) -> Any:
    """Return sdmx1's client of a service."""
    sdmx = pytest.importorskip("sdmx")
    sdmx.add_source({"id": source_id, "url": f"{service.address}/sdmx/v1", "name": "the service"}, override=True)
    return sdmx.Client(source_id)


def test_sdmx1_reads_the_samples(samples: RestService) -> None:
    """Artefacts that sdmx1 reads through 1.5 in SDMX-ML 2.1, converted to our model, equal a direct read."""
    exchange = pytest.importorskip("kafka_replica.sdmx.exchange")
    reader = sdmx1_client(samples, "KR_SAMPLES")
    codes = reader.codelist("CL_FREQ", agency_id="SDMX").codelist["CL_FREQ"]
    assert list(exchange.differences(exchange.from_sdmx1(codes), SAMPLES.codelist("SDMX:CL_FREQ(2.1)"))) == []
    message = reader.dataflow("LABOUR", agency_id="KR_DEMO")
    found = {"KR_DEMO:LABOUR(1.0)", "KR_DEMO:DSD_LABOUR(1.0)", "KR_DEMO:CS_LABOUR(1.0)", "SDMX:CL_FREQ(2.1)"}
    theirs = {exchange.from_sdmx1(one).urn.reference for kind in ("dataflow", "structure", "concept_scheme", "codelist")
              for one in getattr(message, kind).values()}  # fmt: skip
    assert found < theirs
    assert theirs <= {one.reference for one in SAMPLES}
    assert [dimension.id for dimension in message.structure["DSD_LABOUR"].dimensions] == list(
        SAMPLES.data_structure("KR_DEMO:DSD_LABOUR(1.0)").dimension_list
    )
    assert set(reader.dataflow(agency_id="KR_DEMO").dataflow) == {"LABOUR", "AIR"}


def test_sdmx1_reads_the_registry(registry: RestService) -> None:
    """Category schemes come with their categorisations, which sdmx1 requests by itself."""
    reader = sdmx1_client(registry, "KR_REGISTRY")
    message = reader.categoryscheme("DOMAINS", agency_id="ECB")
    assert {one.id for one in message.category_scheme["DOMAINS"]} == {"ECO", "PRICES", "HICP", "TRADE", "SOC"}
    requests = pytest.importorskip("requests")
    with pytest.raises(requests.HTTPError, match="404"):
        reader.codelist("NONE", agency_id="ECB")
