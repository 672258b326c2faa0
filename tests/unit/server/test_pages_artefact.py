"""The page of an artefact: names, trees of items, content, references, messages, and hostile texts."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_replica import Replica
from kafka_replica.sdmx import Annotation, Code, Codelist, Format, InternationalString, Items, Urn
from kafka_replica.sdmx.containers import StubItems
from kafka_replica.sdmx.lookups.references import references_of
from kafka_replica.sdmx.model import Artefact, ValueItem, ValueList
from kafka_replica.sdmx.model.base import ItemScheme
from kafka_replica.server import create_app
from kafka_replica.server.pages.item_rows import item_rows, parent_tree
from kafka_replica.server.pages.links import artefact_address, format_names
from kafka_replica.server.pages.outline import outline_of_artefact, outline_of_item
from kafka_replica.testing import FakeTopic
from support.server.app_tools import client_of
from support.server.html_tools import page_at
from support.server.page_topic import publish, small_codelist
from support.server.registry import ARTEFACTS, urn

HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>"


@pytest.fixture
def topic() -> FakeTopic:
    """A topic with the small registry."""
    topic = FakeTopic()
    publish(topic, ARTEFACTS.values())
    return topic


@pytest.fixture
def replica(topic: FakeTopic) -> Iterator[Replica]:
    """A replica that keeps some versions."""
    with topic.replica(kept_versions=20) as replica:
        replica.wait_ready(30)
        yield replica


def path_of(one: Urn) -> str:
    """Return the path of an artefact's page."""
    return "/" + "/".join(artefact_address(one).segments)


def with_parents(parents: dict[str, str | None]) -> Codelist:
    """Return a codelist of codes with parents, which may be missing or form cycles."""
    own = Urn.of("Codelist", "MANY", "TREE", "1.0")
    codes = {id_: Code(urn=own.with_item("Code", id_), parent=parent) for id_, parent in parents.items()}
    return Codelist(urn=own, codes=Items(codes))


@pytest.mark.thorough
def test_every_artefact_has_a_page_with_references_that_lead_both_ways(replica: Replica) -> None:
    """The links of the page lead to pages, and each reference is found from its other end."""
    client = client_of(create_app(replica))
    links = {artefact: page_at(client, path_of(artefact)).links.values() for artefact in ARTEFACTS}
    structures = [path_of(artefact) for artefact in ARTEFACTS]
    for addresses in links.values():
        assert all(address in structures for address in addresses if address.count("/") == 5 and "?" not in address)
    flow, data_structure = path_of(urn("Dataflow ECB:EXR(1.0)")), path_of(urn("DataStructure ECB:EXR(1.0)"))
    assert data_structure in links[urn("Dataflow ECB:EXR(1.0)")]
    assert flow in links[urn("DataStructure ECB:EXR(1.0)")]
    assert path_of(urn("Codelist ECB:CL_FREQ(1.1)")) in links[urn("Codelist ECB:CL_FREQ(1.0)")]


@pytest.mark.thorough
def test_the_message_is_linked_in_each_format(replica: Replica) -> None:
    """The links lead to this artefact in the SDMX REST API, in the format that they name."""
    client = client_of(create_app(replica))
    one = urn("Codelist ECB:CL_FREQ(1.0)")
    page = page_at(client, path_of(one))
    assert set(page.links) >= {format_.title for format_ in format_names()}
    for format_ in (Format.SDMX_ML_2_1, Format.SDMX_JSON_2_0, Format.FUSION_JSON):
        found = client.get(page.links[format_.title])
        assert (found.status_code, "CL_FREQ" in found.text) == (200, True)
        assert found.headers["content-type"].startswith(str(format_).partition(";")[0])


@pytest.mark.thorough
def test_names_annotations_and_addresses_are_text_in_their_language(topic: FakeTopic, replica: Replica) -> None:
    """Hostile texts are shown and not interpreted; only addresses over HTTP are links."""
    names = {"en": HOSTILE, "el": "Συχνότητα", "ar": "تكرار"}
    annotations = (
        Annotation(id="A1", type=HOSTILE, title=HOSTILE, urls=InternationalString({"en": "javascript:alert(1)"})),
        Annotation(
            id="A2", text=InternationalString(names), urls=InternationalString({"en": "https://example.org/?a&b"})
        ),
    )
    plain = small_codelist("CL_ODD", names)
    codes = Items({"C": Code(urn=plain.urn.with_item("Code", "C"), names=plain.names, annotations=annotations)})
    odd = Codelist(urn=plain.urn, names=plain.names, descriptions=plain.names, annotations=annotations, codes=codes)
    replica.wait_for(publish(topic, [odd], Format.SDMX_JSON_2_1), 30)
    page = page_at(client_of(create_app(replica)), path_of(odd.urn))
    assert page.text.count(HOSTILE) >= 7
    assert page.tables["Items"][0] == ["Id", "Level", "Names", "Details"]
    languages = [one["lang"] for one in page.named("span") if "lang" in one]
    assert languages.count("el") == languages.count("ar") == 5
    assert page.links["https://example.org/?a&b"] == "https://example.org/?a&b"
    assert "javascript:alert(1)" in page.text
    assert "javascript:alert(1)" not in page.links.values()


@pytest.mark.thorough
@pytest.mark.parametrize("count", [1, 100, 101, 250])
def test_following_the_pages_shows_each_item_once_in_order_while_the_list_changes(
    topic: FakeTopic, replica: Replica, count: int
) -> None:
    """The pages are those of the version of the first page."""
    large = small_codelist("CL_LARGE", {"en": "old"}, codes=count)
    replica.wait_for(publish(topic, [large]), 30)
    client, path, seen = client_of(create_app(replica)), path_of(large.urn), []
    while path:
        page = page_at(client, path)
        assert "new" not in page.text
        seen += page.column("Items", 0)
        path = page.links.get("Next", "")
        replica.wait_for(publish(topic, [small_codelist("CL_LARGE", {"en": "new"}, codes=count + 7)]), 30)
    assert seen == list(large.codes)


@pytest.mark.thorough
def test_items_are_searched_and_nested_items_are_a_tree(replica: Replica) -> None:
    """A nested item shows its path and level; words select in all languages; a column of details is never empty."""
    client = client_of(create_app(replica))
    path = path_of(urn("CategoryScheme ECB:DOMAINS(1.0)"))
    page = page_at(client, path)
    assert page.column("Items", 0) == ["ECO", "ECO.PRICES", "ECO.PRICES.HICP", "ECO.TRADE", "SOC"]
    assert page.column("Items", 1) == ["1", "2", "3", "2", "1"]
    assert page.tables["Items"][0] == ["Id", "Level", "Names"]
    assert page_at(client, f"{path}?q=hicp+eco").column("Items", 0) == ["ECO.PRICES.HICP"]
    assert page_at(client, f"{path}?q=absent").column("Items", 0) == []


@pytest.mark.thorough
def test_a_missing_structure_has_a_page_that_names_existing_ones(topic: FakeTopic, replica: Replica) -> None:
    """Impossible names, missing versions and records that cannot be read."""
    client = client_of(create_app(replica))
    assert "it exists in version 1.0" in page_at(client, path_of(urn("Dataflow ECB:EXR(9.0)")), 404).text
    for path in (
        "Codelist/E*/CL_FREQ/1.0",
        "Nothing/ECB/CL_FREQ/1.0",
        "Codelist/ECB/CL_FREQ/%3Cb%3E",
        "Codelist/ECB/%00/1",
    ):
        page_at(client, f"/structures/{path}", 404)
    for text in ("x", "-1", "1" * 13):
        page_at(client, f"{path_of(urn('Dataflow ECB:EXR(1.0)'))}?start={text}", 400)
    replica.wait_for(topic.put(bytes(small_codelist("CL_BAD", {}).urn), b"<no"), 30)
    assert "This record cannot be read" in page_at(client, path_of(small_codelist("CL_BAD", {}).urn)).text
    replica.wait_for(topic.delete(bytes(urn("DataStructure ECB:EXR(1.0)"))), 30)
    page = page_at(client, path_of(urn("Dataflow ECB:EXR(1.0)")))
    assert "1 reference to structures that this version does not have" in " ".join(page.text.split())


@pytest.mark.thorough
def test_pinned_pages_keep_showing_their_version(topic: FakeTopic, replica: Replica) -> None:
    """A deleted artefact is still there, and all links of the page stay in the version."""
    client, base = client_of(create_app(replica)), f"/version/1.{replica.incarnation}"
    path = path_of(urn("Dataflow ECB:EXR(1.0)"))
    replica.wait_for(topic.delete(bytes(urn("Dataflow ECB:EXR(1.0)"))), 30)
    page_at(client, path, 404)
    page = page_at(client, f"{base}{path}")
    leaving = {text for text, address in page.links.items() if not address.startswith(base)}
    assert leaving == {"Skip to the content", "Show the current version"}
    assert client.get(page.links["SDMX-JSON 2.0"]).headers["kafka-replica-version"] == base.removeprefix("/version/")


@given(st.lists(st.integers(-1, 14), max_size=14))
def test_every_item_is_in_the_tree_once_below_its_parent(numbers: list[int]) -> None:
    """Whatever the parents are: missing, themselves, or in a cycle."""
    parents = {f"C{place}": None if number < 0 else f"C{number}" for place, number in enumerate(numbers)}
    tree = parent_tree(with_parents(parents).codes)
    assert sorted(id_ for _, id_ in tree) == sorted(parents)
    above: list[str] = []
    for depth, id_ in tree:
        del above[depth:]
        assert depth == len(above)
        if depth:
            assert parents[id_] == above[-1]
        else:
            assert parents[id_] not in parents or _is_in_cycle(id_, parents)
        above.append(id_)
    roots = [id_ for depth, id_ in tree if not depth and not _is_in_cycle(id_, parents)]
    assert roots == [id_ for id_ in parents if id_ in roots]


def _is_in_cycle(id_: str, parents: dict[str, str | None]) -> bool:
    seen, one = set(), parents.get(id_)
    while one is not None and one not in seen:
        seen.add(one)
        one = parents.get(one)
    return id_ in seen


@pytest.mark.thorough
def test_deep_trees_values_and_stubs_have_pages(topic: FakeTopic, replica: Replica) -> None:
    """Nesting has no limit; the ids of values may be any text, and repeat; a stub says where its content is."""
    deep = with_parents({f"C{number}": f"C{number - 1}" if number else None for number in range(3000)})
    assert item_rows(deep, (), 2999, 5) == ([(2999, "C2999", deep.codes["C2999"])], 3000)
    values = ValueList(urn=Urn.of("ValueList", "MANY", "VL", "1.0"), value_items=tuple(
        ValueItem(id=id_) for id_ in (HOSTILE, "¥", "¥")
    ))  # fmt: skip
    own = Urn.of("Codelist", "MANY", "STUB", "1.0")
    stub = Codelist(urn=own, codes=StubItems(own), names=InternationalString({"en": "stub"}),
                    is_external_reference=True, structure_url="javascript:alert(1)")  # fmt: skip
    replica.wait_for(publish(topic, [deep, values], Format.SDMX_JSON_2_0), 30)
    replica.wait_for(publish(topic, [stub], Format.SDMX_ML_3_0), 30)
    client = client_of(create_app(replica))
    assert page_at(client, path_of(values.urn)).column("Items", 0) == [HOSTILE, "¥", "¥"]
    assert page_at(client, path_of(deep.urn) + "?start=2900").column("Items", 1) == list(map(str, range(2901, 3001)))
    assert "This is a stub" in page_at(client, path_of(stub.urn)).text


@pytest.mark.parametrize("one", ARTEFACTS.values(), ids=str)
def test_the_content_names_every_reference(one: Artefact) -> None:
    """The outline and the items have each reference that the artefact has."""
    targets = {line.target for line in outline_of_artefact(one)}
    children = one.children_field if isinstance(one, ItemScheme) else None
    for row in item_rows(one, (), 0, 100)[0]:
        targets |= {line.target for line in outline_of_item(row.item, children)}
    assert targets >= set(references_of(one))
