"""The addresses that the JavaScript client (npm sdmx-rest 2.20.0) builds, fetched from the real server.

The topic has artefacts that the addresses name: A:B(1.0) of many classes, and codelists of the agencies A and B.C.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pytest

from kafka_replica.sdmx import Format, InternationalString, Items, Structures, Urn, read_message
from kafka_replica.sdmx.model import (
    Artefact,
    Categorisation,
    Category,
    CategoryScheme,
    Code,
    Codelist,
    Concept,
    ConceptScheme,
    ConstraintAttachment,
    DataConstraint,
    Dataflow,
    DataProvider,
    DataProviderScheme,
    DataStructure,
    Dimension,
    HierarchicalCode,
    Hierarchy,
    HierarchyAssociation,
    Measure,
    ProvisionAgreement,
    ValueItem,
    ValueList,
)
from kafka_replica.sdmx.model.base import ItemScheme, Maintainable
from kafka_replica.sdmx.model.representation import Representation
from kafka_replica.testing import FakeTopic
from support import plain_http
from support.paths import TESTS
from support.server.page_topic import publish
from support.server.registry import items, named, urn, version_of
from support.server.rest_service import RestService, rest_service

LINES: Final = (TESTS / "support/server/data/sdmx_rest_js_urls.tsv").read_text("utf-8").splitlines()
JSON: Final = {"Accept": str(Format.SDMX_JSON_2_0)}
NEWEST: Final = {"latest", "~", "+", "2+.0.0"}
"""Version expressions of which each means the last one of 1.0, 2.0.0 and 2.1.0; "1.0+" means the last 1.x."""
DIRECT: Final = {"children", "parents", "descendants", "ancestors"}


def artefacts() -> Iterator[Artefact]:
    """Yield the artefacts, each with its references."""
    versions = ("A:B(1.0)", "A:B(2.0.0)", "A:B(2.1.0)", "A:X(1.0)", "A:Y(1.0)", "B.C:X(1.0)", "B.C:Y(1.0)", "A:Z(1.0)")
    for reference in versions:
        short = f"Codelist {reference}"
        yield Codelist(codes=items(short, "Code", Code, "IJK"), **named(short))
    short = "ConceptScheme A:B(1.0)"
    yield ConceptScheme(concepts=items(short, "Concept", Concept, "DV"), **named(short))
    structure, flow, concepts = urn("DataStructure A:B(1.0)"), urn("Dataflow A:B(1.0)"), urn(short)
    dimension = Dimension(
        position=1, urn=structure.with_item("Dimension", "D"), concept=concepts.with_item("Concept", "D"),
        representation=Representation(enumeration=urn("Codelist A:X(1.0)")),
    )  # fmt: skip
    measure = Measure(urn=structure.with_item("Measure", "V"), concept=concepts.with_item("Concept", "V"))
    yield DataStructure(
        dimension_list=Items({"D": dimension}), measures=Items({"V": measure}), attributes=Items(), groups=Items(),
        **named("DataStructure A:B(1.0)"),
    )  # fmt: skip
    yield Dataflow(structure_reference=structure, **named("Dataflow A:B(1.0)"))
    attached = ConstraintAttachment(references=(flow,))
    yield DataConstraint(role="Allowed", attachment=attached, **named("DataConstraint A:B(1.0)"))
    scheme = urn("CategoryScheme A:B(1.0)")
    inner = Category(urn=scheme.with_item("Category", "X.Y"), names=InternationalString({"en": "Y"}))
    outer = Category(
        urn=scheme.with_item("Category", "X"), names=InternationalString({"en": "X"}), categories=Items({"Y": inner})
    )
    yield CategoryScheme(categories=Items({"X": outer}), **named("CategoryScheme A:B(1.0)"))
    yield Categorisation(source=flow, target=inner.urn, **named("Categorisation A:B(1.0)"))
    short = "DataProviderScheme A:DATA_PROVIDERS(1.0)"
    yield DataProviderScheme(organisations=items(short, "DataProvider", DataProvider, "P"), **named(short))
    provider = urn(short).with_item("DataProvider", "P")
    yield ProvisionAgreement(structure_usage=flow, data_provider=provider, **named("ProvisionAgreement A:B(1.0)"))
    hierarchy = urn("Hierarchy A:B(1.0)")
    node = HierarchicalCode(
        urn=hierarchy.with_item("HierarchicalCode", "N"), code=urn("Codelist B.C:Y(1.0)").with_item("Code", "I")
    )
    yield Hierarchy(codes=Items({"N": node}), **named("Hierarchy A:B(1.0)"))
    yield HierarchyAssociation(
        linked_hierarchy=hierarchy, linked_object=dimension.urn, context_object=flow,
        **named("HierarchyAssociation A:B(1.0)"),
    )  # fmt: skip
    value = ValueItem(id="€", names=InternationalString({"en": "euro"}))
    yield ValueList(value_items=(value,), **named("ValueList A:B(1.0)"))


ARTEFACTS: Final = {each.urn: each for each in artefacts()}
DIRECTLY: Final = version_of(ARTEFACTS.values())
"""A direct read of the records."""


@pytest.fixture(scope="module")
def service() -> Iterator[RestService]:
    """Yield the service with the artefacts."""
    topic = FakeTopic()
    publish(topic, ARTEFACTS.values())
    with rest_service(topic) as found:
        yield found


def classes_of(resource: str) -> set[str]:
    """Return the classes of the topic that a resource has, by their names alone."""
    known = {artefact.cls for artefact in ARTEFACTS}
    others = {
        "*": known, "structure": known, "organisationscheme": {"DataProviderScheme"},
        "contentconstraint": {"DataConstraint"}, "allowedconstraint": {"DataConstraint"},
    }  # fmt: skip
    return others.get(resource) or {cls for cls in known if cls.lower() == resource}


def expected_of(version: str, path: str) -> set[Urn]:
    """Return the artefacts that a path selects, by a simple reading of it."""
    is_old = version.startswith("v1")
    resource, agencies, ids, wanted = path.split("/")[0 if is_old else 1 :][:4]
    split, found = "+" if is_old else ",", set[Urn]()
    for artefact in ARTEFACTS:
        versions = [
            each.version
            for each in ARTEFACTS
            if (each.cls, each.agency, each.id) == (artefact.cls, artefact.agency, artefact.id)
        ]
        if (
            artefact.cls in classes_of(resource)
            and (agencies in {"*", "all"} or artefact.agency in agencies.split(split))
            and (ids in {"*", "all"} or artefact.id in ids.split(split))
            and artefact.version == (max(versions) if wanted in NEWEST else wanted.rstrip("+"))
        ):
            found.add(artefact)
    return found


def related(found: set[Urn], references: str, structures: Structures) -> set[Urn] | None:
    """Return what references add, by direct look-ups; None for those that combine several of them."""
    if references == "none":
        return set()
    if references in DIRECT:
        look_up = getattr(structures, references)
        return {each for one in found for each in look_up(one)}
    if references in {"all", "parentsandsiblings"}:
        return None
    around = {each for one in found for each in (*structures.children(one), *structures.parents(one))}
    return {one for one in around if one.cls in classes_of(references)}


@pytest.mark.thorough
def test_each_address_is_answered_as_a_direct_read(service: RestService) -> None:
    """Status and artefacts are those of look-ups; artefacts equal those that were published, stubs and items aside."""
    statuses: dict[int, int] = {}
    with plain_http.Client(timeout=60) as client:
        for line in LINES:
            version, address = line.split("\t")
            answer = client.get(f"{service.address}/sdmx/{version[:2]}/{address}", headers=JSON)
            statuses[answer.status_code] = statuses.get(answer.status_code, 0) + 1
            path, _, query = address.partition("?")
            parameters = dict(part.split("=") for part in query.split("&"))
            found = expected_of(version, path)
            if not found:
                assert answer.status_code == 404, address
                continue
            assert answer.status_code == 200, (address, answer.text)
            check(address, dict(read_message(answer.content).artefacts), found, parameters)
    assert statuses == {200: 118, 404: 42}
    assert service.statuses() == {"200", "404"}


def check(address: str, answered: dict[Urn, Artefact], found: set[Urn], parameters: dict[str, str]) -> None:
    """Compare an answer with a direct read."""
    more = related(found, parameters["references"], DIRECTLY)
    if more is None:
        near = related(found, "children", DIRECTLY), related(found, "parents", DIRECTLY)
        assert found.union(*(one for one in near if one is not None)) <= set(answered), address
    else:
        assert set(answered) == found | more, address
    is_stub, items_wanted = "allstubs" in parameters["detail"] or "allcompletestubs" in parameters["detail"], None
    last = address.partition("?")[0].split("/")[-1]
    if last in {"I+J", "I,J", "X.Y"}:
        items_wanted = ["X"] if last == "X.Y" else ["I", "J"]
    for one, artefact in answered.items():
        direct = DIRECTLY.get(one)
        assert isinstance(artefact, Maintainable)
        assert isinstance(direct, Maintainable)
        assert artefact.names == direct.names, address
        if items_wanted and one in found:
            assert isinstance(artefact, ItemScheme)
            assert (list(artefact.items), artefact.is_partial) == (items_wanted, True), address
        elif is_stub:
            assert artefact.is_stub, address
        else:
            assert artefact == direct, address


def test_the_topic_has_what_most_addresses_name() -> None:
    """The expected answers have artefacts of all classes; otherwise all answers could be empty."""
    seen = {
        one.cls for line in LINES for one in expected_of(line.split("\t")[0], line.split("\t")[1].partition("?")[0])
    }
    assert seen == {artefact.cls for artefact in ARTEFACTS} - {"DataProviderScheme"}
