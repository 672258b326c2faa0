"""The differences of an artefact: items, texts, attributes and order; on its own page, and in the list of keys."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from starlette.testclient import TestClient

from kafka_replica import Replica
from kafka_replica.history import VersionHistory
from kafka_replica.sdmx import Code, Codelist, InternationalString, Items, Urn
from kafka_replica.sdmx.model import Category, CategoryScheme, Dataflow, ValueItem, ValueList
from kafka_replica.sdmx.model.base import Annotation
from kafka_replica.server import create_app
from kafka_replica.server.pages.differences import differences
from kafka_replica.testing import FakeTopic
from support.core.rocks_tools import new_folder
from support.server.app_tools import client_of
from support.server.html_tools import page_at
from support.server.page_topic import MANY, codelist_of_many, publish, small_codelist
from support.server.registry import ARTEFACTS, urn

OWN = Urn.of("Codelist", "MANY", "CL", "1.0")


def code(id_: str, name: str = "", **more: Any) -> Code:
    """Return a code with an English name."""
    return Code(urn=OWN.with_item("Code", id_), names=InternationalString({"en": name or id_}), **more)


def codelist(*codes: Code, **more: Any) -> Codelist:
    """Return a codelist."""
    return Codelist(urn=OWN, codes=Items({code.id: code for code in codes}), **more)


def found(before: Any, after: Any) -> list[tuple[str, str, str | None, str | None]]:
    """Return the differences with their kinds."""
    return [
        (difference.kind, difference.part, difference.before, difference.after)
        for difference in differences(before, after)
    ]


def test_codes_are_added_removed_renamed_and_moved() -> None:
    """Each has its own line, with its name; what is equal has none."""
    before = codelist(code("A", "one"), code("B"), code("C"), code("D", parent="A"))
    after = codelist(code("C"), code("A", "One", parent="C"), code("D"), code("E", "new"))
    assert found(before, after) == [
        ("removed", "codes › B", "B", None),
        ("added", "codes › E", None, "new"),
        ("changed", "codes › order", "A, C, D", "C, A, D"),
        ("changed", "codes › A › names › en", "one", "One"),
        ("added", "codes › A › parent", None, "C"),
        ("removed", "codes › D › parent", "A", None),
    ]
    assert found(before, before) == []


def test_texts_attributes_and_annotations_change() -> None:
    """Languages are compared one by one; parts without an id as wholes."""
    note, other = Annotation(type="T", text=InternationalString({"en": "a"})), Annotation(id="I", title="b")
    before = codelist(names=InternationalString({"en": "x", "fr": "y"}), is_final=True, annotations=(note,))
    after = codelist(names=InternationalString({"en": "x", "de": "z"}), valid_from="2026", annotations=(note, other))
    assert found(before, after) == [
        ("added", "annotations", None, "I; b"),
        ("removed", "names › fr", "y", None),
        ("added", "names › de", None, "z"),
        ("added", "valid from", None, "2026"),
        ("changed", "is final", "yes", "no"),
    ]
    swapped = codelist(annotations=(other, note))
    assert found(codelist(annotations=(note, other)), swapped) == [
        ("changed", "annotations › order", "T; a, I; b", "I; b, T; a")
    ]


def test_other_classes_are_compared_in_the_same_way() -> None:
    """Values by id, nested items at any depth, references as references; another class is one difference."""
    own = Urn.of("ValueList", "MANY", "VL", "1.0")
    euro, dollar = (ValueItem(id=one, names=InternationalString({"en": one * 2})) for one in "€$")
    renamed = structs.replace(euro, names=InternationalString({"en": "euro"}))
    one, other = ValueList(urn=own, value_items=(euro, dollar)), ValueList(urn=own, value_items=(renamed,))
    assert found(one, other) == [
        ("removed", "value items › $", "$; $$", None),
        ("changed", "value items › € › names › en", "€€", "euro"),
    ]
    twice = ValueList(urn=own, value_items=(euro, dollar, dollar))
    assert [line[0] for line in found(twice, other)] == ["removed", "removed", "removed", "added"]
    flow = ARTEFACTS[urn("Dataflow ECB:EXR(1.0)")]
    assert isinstance(flow, Dataflow)
    elsewhere = structs.replace(flow, structure_reference=urn("DataStructure ECB:OTHER(1.0)"))
    assert found(flow, elsewhere) == [
        ("changed", "structure reference", "DataStructure ECB:EXR(1.0)", "DataStructure ECB:OTHER(1.0)")
    ]
    assert [line[:2] for line in found(flow, one)] == [("changed", "class")]
    assert found(scheme("deep"), scheme("deeper")) == [
        ("changed", "categories › A › categories › B › names › en", "deep", "deeper")
    ]


def scheme(name: str) -> CategoryScheme:
    """Return a category scheme with a category below another."""
    own = Urn.of("CategoryScheme", "MANY", "CS", "1.0")
    inner = Category(urn=own.with_item("Category", "A.B"), names=InternationalString({"en": name}))
    outer = Category(urn=own.with_item("Category", "A"), categories=Items({"B": inner}))
    return CategoryScheme(urn=own, categories=Items({"A": outer}))


CODES = st.lists(st.builds(code, st.sampled_from("ABCD"), st.sampled_from(["x", "y"])), unique_by=lambda one: one.id)


@pytest.mark.thorough
@given(CODES, CODES)
def test_equal_artefacts_have_no_difference_and_others_have_some(before: list[Code], after: list[Code]) -> None:
    """Exchanging the artefacts exchanges what was added and removed."""
    one, other = codelist(*before), codelist(*after)
    assert bool(found(one, other)) == (one != other)
    back = sorted((part, now, was) for _, part, was, now in found(other, one))
    assert sorted((part, was, now) for _, part, was, now in found(one, other)) == back


@pytest.mark.thorough
def test_a_change_of_a_long_codelist_is_found_among_many_codes() -> None:
    """A new name of one code among 50,000 gives one line for each text that changed."""
    one = codelist_of_many()
    codes = dict(one.codes)
    codes["C700"] = structs.replace(codes["C700"], names=InternationalString({"en": "renamed"}))
    assert [line[:2] for line in found(one, structs.replace(one, codes=Items(codes)))] == [
        ("changed", "codes › C700 › names › en"), ("removed", "codes › C700 › names › fr"),
    ]  # fmt: skip
    assert len(codes) == MANY


@pytest.fixture
def world() -> Iterator[tuple[FakeTopic, Replica, TestClient]]:
    """A service with a history over a topic with codelists."""
    topic = FakeTopic()
    publish(topic, [small_codelist("CL_A", {"en": "a"}), small_codelist("CL_B", {"en": "b"}, codes=300)])
    with new_folder() as folder, topic.replica() as replica, VersionHistory(Path(folder)).follow(replica) as history:
        replica.wait_ready(30)
        yield topic, replica, client_of(create_app(replica, history=history))


@pytest.mark.thorough
def test_the_list_of_keys_shows_the_first_differences_and_leads_to_all(
    world: tuple[FakeTopic, Replica, TestClient],
) -> None:
    """Each changed artefact has its own; hostile texts are text; records that cannot be read have the reason."""
    topic, replica, client = world
    hostile = "<script>alert(1)</script>"
    bad = bytes(small_codelist("CL_BAD", {}).urn)
    replica.wait_for(topic.put(bad, b"<no"), 30)
    replica.wait_for(publish(topic, [small_codelist("CL_A", {"en": hostile}), small_codelist("CL_B", {"en": "b"})]), 30)
    replica.wait_for(topic.put(bad, b"<neither"), 30)
    page = page_at(client, "/diff/2/4")
    rows = dict(zip(page.column("Changes", 1), page.column("Changes", 0), strict=True))
    assert set(rows.values()) == {"changed"}
    assert any(hostile in text and "changed names › en: a" in text for text in rows)
    assert any("CL_B" in text and "293 more, and all details" in text for text in rows)
    assert any("CL_BAD" in text and "fake-0" in text and "etails" not in text for text in rows)
    link = next(link for text, link in page.links.items() if text.startswith("293 more"))
    shown, seen = page_at(client, link), list[str]()
    assert "298 differences" in shown.text
    while True:
        seen += shown.column("Differences", 1)
        if "Next" not in shown.links:
            break
        shown = page_at(client, shown.links["Next"])
    assert seen == [f"codes › C{number}" for number in range(2, 300)]
    assert set(shown.column("Differences", 0)) == {"removed"}
    page_at(client, shown.links["All changes between these versions"])
    same = page_at(client, "/version/4/diff/3/4/Codelist/MANY/CL_A/1.0")
    assert "the same in both versions" in same.text
    for path in (
        "/diff/2/4/Codelist/MANY/CL_BAD/1.0",
        "/diff/2/4/Codelist/MANY/NONE/1.0",
        "/diff/2/x/Codelist/MANY/CL_A/1.0",
    ):
        page_at(client, path, 404)
    page_at(client, "/diff/2/4/Codelist/MANY/CL_A/1.0?start=x", 400)
