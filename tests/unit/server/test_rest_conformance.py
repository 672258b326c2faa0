"""SDMX's conformance kit: its tests fail where the documentation says so, for the reasons that it gives."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest
from lxml import etree

from support import plain_http
from support.conformance.addresses import address_in_1
from support.conformance.data_structure import DataStructure
from support.conformance.kit_tests import RESOURCES, first_test, further_tests
from support.conformance.registry import registry_topic
from support.conformance.report import UNKNOWN, cause_of, failures, summary
from support.conformance.runner import Answer, Outcome, StructureTests
from support.conformance.schema_checks import Expected
from support.conformance.schema_checks import failures as schema_failures
from support.conformance.schema_document import SchemaDocument
from support.conformance.service_tests import run_tests
from support.conformance.workspace import Workspace
from support.paths import CORPUS, ROOT
from support.sdmx.standard_schemas import faults
from support.server.rest_service import RestService, rest_service

pytestmark = pytest.mark.thorough

PAGE: Final = (ROOT / "docs" / "conformance.md").read_text("utf-8")
SAMPLES: Final = Path(os.environ.get("KAFKA_REPLICA_DATA_SAMPLES", CORPUS / "data-messages"))


@pytest.fixture(scope="module")
def service() -> Iterator[RestService]:
    """Yield the service with the registry."""
    with rest_service(registry_topic()) as found:
        yield found


@pytest.fixture(scope="module")
def outcomes(service: RestService) -> dict[str, list[Outcome]]:
    """Return the outcomes of all tests."""
    return run_tests(service.address)


def table(title: str) -> list[str]:
    """Return the lines of a table of the page, below its title."""
    lines = PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0].splitlines()
    return [line for line in lines if line.startswith("|")]


def get(service: RestService, path: str) -> etree._Element:
    """Return the message with the answer of 1.x."""
    found = plain_http.get(f"{service.address}/sdmx/v1/{path}")
    assert found.status_code == 200, path
    return etree.fromstring(found.content)


def classes(message: etree._Element) -> set[tuple[str, str | None]]:
    """Return the classes of a message's artefacts, each with the attribute type."""
    structures = message.find("{*}Structures")
    assert structures is not None
    return {(etree.QName(one).localname, one.get("type")) for each in structures for one in each}


@pytest.mark.long
def test_the_failures_are_those_that_the_page_lists(outcomes: dict[str, list[Outcome]]) -> None:
    """Print the tables with ``PYTHONPATH=.:tests python -m support.conformance``."""
    assert list(summary(outcomes)) == table("Results")
    assert list(failures(outcomes)) == table("Failures")


@pytest.mark.long
def test_each_failure_has_a_cause_that_the_page_explains(outcomes: dict[str, list[Outcome]]) -> None:
    """A cause is the first words of an item of the list of causes."""
    explained = set(re.findall(r"^- \*\*([a-z ]+)\*\*", PAGE, re.MULTILINE))
    named = {cause_of(one) for some in outcomes.values() for one in some if one.reason}
    assert UNKNOWN not in named
    assert named == explained


def test_the_kit_has_1025_structure_tests() -> None:
    """The kit's own list, for all resources and API 1.4, has 1,025 tests, each with another name."""
    names = [
        further_test.name for resource in RESOURCES for further_test in (first_test(resource), *further_tests(resource))
    ]
    assert (len(names), len(set(names))) == (1_025, 1_025)


def without_codes(message: etree._Element) -> None:
    """Remove all codes."""
    for element in list(message.iter("{*}Codelist")):
        for code in element.findall("{*}Code"):
            element.remove(code)


def with_another_id(message: etree._Element) -> None:
    """Change the id of a codelist to which others refer."""
    for element in message.iter("{*}Codelist"):
        element.set("id", element.get("id", "").replace("CL_AREA", "CL_OTHER"))


def of_another_agency(message: etree._Element) -> None:
    """Change the agency of all codelists."""
    for element in message.iter("{*}Codelist"):
        element.set("agencyID", "OTHER")


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (without_codes, "of another detail"),
        (with_another_id, "missing: "),
        (of_another_agency, "0 artefacts instead of one"),
    ],
)
def test_wrong_answers_fail(service: RestService, change: Callable[[etree._Element], None], expected: str) -> None:
    """Without codes, with another codelist than the one referred to, or of another agency, answers are rejected."""

    def fetch(path: str, accept: str) -> Answer:
        found = plain_http.get(f"{service.address}/sdmx/v1/{path}", headers={"Accept": accept})
        content_type = found.headers.get("content-type", "")
        if "/all/all/all" in path or "+xml" not in content_type or found.status_code != 200:
            return Answer(found.status_code, content_type, found.content)
        message = etree.fromstring(found.content)
        change(message)
        return Answer(found.status_code, content_type, etree.tostring(message))

    lacking = set(RESOURCES) - {"codelist", "hierarchicalcodelist"}
    found = StructureTests(fetch, address_in_1, lacking=lacking).run()
    assert any(expected in (one.reason or "") for one in found)


@pytest.mark.parametrize(
    ("resource", "expected"),
    [
        ("attachmentconstraint", {("AttachmentConstraint", None)}),
        ("allowedconstraint", {("ContentConstraint", "Allowed")}),
        ("actualconstraint", {("ContentConstraint", "Actual")}),
    ],
)
def test_answers_have_the_classes_that_the_kit_does_not_find(
    service: RestService, resource: str, expected: set[tuple[str, str | None]]
) -> None:
    """The cause "classes": the answer has what was requested, and nothing else."""
    assert classes(get(service, f"{resource}/all/all/all?detail=full")) == expected


def test_a_structure_query_has_every_class(service: RestService) -> None:
    """The cause "classes": the kit has no class for this resource, which has the artefacts of all others."""
    of_others = {cls for cls in RESOURCES.values() if cls} - {
        "OrganisationScheme", "AllowedConstraint", "ActualConstraint",
    }  # fmt: skip
    assert {cls for cls, _ in classes(get(service, "structure/all/all/all"))} == of_others


def test_hierarchies_can_be_requested_as_items(service: RestService) -> None:
    """The cause "items": the kit does not know the ids of the hierarchies, but requests with them are answered."""
    message = get(service, "hierarchicalcodelist/KR/AREAS/1.0/H2")
    assert [element.get("id") for element in message.iter("{*}Hierarchy")] == ["H2"]


def test_a_format_that_is_not_offered_has_the_status_406(service: RestService) -> None:
    """The cause "status": the kit compares the number with a text."""
    found = plain_http.get(
        f"{service.address}/sdmx/v1/codelist/KR/CL_FREQ/1.0", headers={"Accept": "invalid representation query"}
    )
    assert found.status_code == 406


@pytest.mark.parametrize(
    ("path", "artefact_class", "part", "valid"),
    [
        ("provisionagreement/KR/AGREEMENT/1.0", "ProvisionAgreement", "StructureUsage", False),
        ("provisionagreement/KR/AGREEMENT/1.0", "ProvisionAgreement", "DataProvider", False),
        ("metadataflow/KR/REPORTS/1.0", "Metadataflow", "Structure", True),
    ],
)
def test_stubs_of_agreements_need_their_ends_by_the_standards_schema(
    service: RestService, path: str, artefact_class: str, part: str, valid: bool
) -> None:
    """The causes "agreement stubs" and "metadataflow stubs": without these parts, stubs of agreements are invalid."""
    message = get(service, f"{path}?detail=allstubs")
    assert faults("21", etree.tostring(message)) == []
    [artefact] = message.iter(f"{{*}}{artefact_class}")
    found = artefact.find(f"{{*}}{part}")
    assert found is not None
    artefact.remove(found)
    assert (faults("21", etree.tostring(message)) == []) is valid


def test_concepts_of_the_measure_dimension_are_in_the_partial_scheme(service: RestService) -> None:
    """The cause "measure scheme": the dimension refers to the whole scheme, of which the kit expects no concept."""
    message = get(service, "datastructure/KR/CROSS/1.0?detail=referencepartial&references=children")
    [scheme] = [element for element in message.iter("{*}ConceptScheme") if element.get("id") == "MEASURES"]
    assert [element.get("id") for element in scheme.iter("{*}Concept")] == ["STOCK", "RATE"]


@pytest.mark.parametrize(
    ("structures", "schema", "at_observation", "expected"),
    [
        ("ecb_exr_rg_full.xml", "ecb_exr_rg_ts.xsd", "TIME_PERIOD", "SeriesType lacks TITLE"),
        ("ecb_exr_rg_full.xml", "ecb_exr_rg_ts.xsd", "TIME_PERIOD", "SiblingGroup restricts GroupType"),
        ("demography.xml", "demography_xs_ex.xsd", "DEMO", "ObsType lacks DEMO"),
    ],
)
def test_the_standards_own_schemas_fail_in_the_same_way(
    structures: str, schema: str, at_observation: str, expected: str
) -> None:
    """The causes "group attributes", "group types", "explicit measures", with the samples of sdmx-twg/sdmx-ml-v2_1."""
    files = [next(SAMPLES.rglob(name), None) for name in (structures, schema)]
    if None in files:
        pytest.skip(f"NOT TESTED: {structures} and {schema} are not in {SAMPLES}")
    message, document = (file.read_bytes() for file in files if file is not None)
    [own] = Workspace.of_message(message).of_class("DataStructure")
    measures: dict[str, str] | None = {} if DataStructure(own).measure_dimension else None
    found = schema_failures(Expected(DataStructure(own), at_observation, measures, {}), SchemaDocument(document))
    assert any(reason.startswith(expected) for reason in found)
