"""The explorer: filters, search in all languages, and paging without omissions or repetitions."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_replica import Replica
from kafka_replica.sdmx import (
    Code,
    Codelist,
    Format,
    InternationalString,
    Items,
    LiveStructures,
    Structures,
    Urn,
)
from kafka_replica.sdmx.model import Category, CategoryScheme, ValueItem, ValueList
from kafka_replica.sdmx.model.base import Annotation
from kafka_replica.server import ServerSettings, create_app
from kafka_replica.server.answers.versions import VersionId
from kafka_replica.server.app import Service
from kafka_replica.server.pages import search_index
from kafka_replica.server.pages.folding import folded
from kafka_replica.server.pages.search import search, words_of
from kafka_replica.server.pages.search_index import SearchIndex
from kafka_replica.server.pages.texts import texts_of
from kafka_replica.testing import FakeTopic
from support.server.app_tools import client_of
from support.server.html_tools import page_at
from support.server.page_topic import publish, small_codelist
from support.server.registry import ARTEFACTS, version_of
from support.waiting import wait_until

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


@pytest.mark.thorough
def test_structures_are_listed_and_filtered(replica: Replica) -> None:
    """Class, agency and id select; wildcards mean any text, and are few."""
    client = client_of(create_app(replica))
    page = page_at(client, "/structures")
    assert page.column("Structures", 0) == [urn.id for urn in sorted(ARTEFACTS)]
    assert f"{len(ARTEFACTS)} structures" in page.text
    page = page_at(client, "/structures/?class=Codelist&agency=ECB*&id=CL_*")
    found = list(zip(*(page.column("Structures", number) for number in (3, 0, 4)), strict=True))
    expected = [urn for urn in sorted(ARTEFACTS) if urn.cls == "Codelist" and urn.agency.startswith("ECB")]
    assert found == [(urn.agency, urn.id, urn.version) for urn in expected]
    assert "No structure matches" in page_at(client, "/structures?id=NONE").text
    assert page_at(client, f"/structures?q={HOSTILE}&class={HOSTILE}").column("Structures", 0) == []
    assert "wildcards" in page_at(client, "/structures?id=*a*a*a*a", 400).text


@pytest.mark.thorough
def test_search_finds_words_in_all_languages(topic: FakeTopic, replica: Replica) -> None:
    """Case and accents make no difference; the page shows the name that matched, in its language, as text."""
    names = {"en": HOSTILE, "fr": "Périodicité générale", "el": "Συχνότητα", "x\"'><b>": "Straße"}
    replica.wait_for(publish(topic, [small_codelist("CL_ODD", names)]), 30)
    client = client_of(create_app(replica))
    for words in ("periodicite", "GÉNÉRALE+cl_odd", "συχνοτητα", "strasse", "onerror"):
        page = page_at(client, f"/structures?q={words}")
        assert page.column("Structures", 0) == ["CL_ODD"], words
        assert page_at(client, f"/structures?in=names&q={words}").column("Structures", 0) == ["CL_ODD"], words
        assert page.column("Structures", 1)[0].startswith(HOSTILE)
    page = page_at(client, "/structures?q=periodicite")
    assert [one["lang"] for one in page.named("span") if "lang" in one] == ["en", "fr"]
    assert page_at(client, "/structures?q=periodicite+absent").column("Structures", 0) == []
    assert page_at(client, "/structures?q=x&in=elsewhere", 400)
    urn = small_codelist("CL_ODD", names).urn
    assert page_at(client, f"/structures?q={urn}").column("Structures", 0) == ["CL_ODD"]


@pytest.mark.thorough
def test_search_finds_words_in_descriptions_annotations_and_items(topic: FakeTopic, replica: Replica) -> None:
    """In all languages, at any depth; the page shows the text and the item it belongs to."""
    own = Urn.of("Codelist", "MANY", "CL_DEEP", "1.0")
    note = Annotation(type="CONTEXT", text=InternationalString({"es": "Añadida después"}))
    code = Code(
        urn=own.with_item("Code", "K9"),
        names=InternationalString({"de": "Jährlich"}),
        descriptions=InternationalString({"fr": "Une fois par année"}),
        annotations=(note,),
    )
    deep = Codelist(
        urn=own, names=InternationalString({"en": "deep"}), descriptions=InternationalString({"pl": "Częstość"}),
        annotations=(Annotation(title="Provenance"),), codes=Items({"K9": code}),
    )  # fmt: skip
    tree = CategoryScheme(urn=Urn.of("CategoryScheme", "MANY", "CS", "1.0"), categories=Items({"A": category(30)}))
    values = ValueList(
        urn=Urn.of("ValueList", "MANY", "VL", "1.0"),
        value_items=(ValueItem(id="¥", names=InternationalString({"ja": "円通貨"})),),
    )
    replica.wait_for(publish(topic, [deep, tree, values], Format.SDMX_JSON_2_0), 30)
    client = client_of(create_app(replica))
    for words, id_, shown in (
        ("jahrlich", "CL_DEEP", "K9 name Jährlich"), ("k9", "CL_DEEP", "K9 id K9"),
        ("annee", "CL_DEEP", "K9 description Une fois par année"), ("despues+context", "CL_DEEP", "K9 annotation"),
        ("czestosc", "CL_DEEP", "description Częstość"), ("provenance", "CL_DEEP", "annotation Provenance"),
        ("level30", "CS", "name Level30"), ("円", "VL", "¥ name 円通貨"),
    ):  # fmt: skip
        page = page_at(client, f"/structures?q={words}")
        assert page.column("Structures", 0) == [id_], words
        assert shown in page.column("Structures", 1)[0]
        assert page_at(client, f"/structures?in=names&q={words}").column("Structures", 0) == [], words
    assert page_at(client, "/structures?q=deep+jahrlich+k9").column("Structures", 0) == ["CL_DEEP"]


def category(depth: int) -> Category:
    """Return a category with others below it, as deep as given."""
    found: Category | None = None
    for level in range(depth, -1, -1):
        own = Urn.of("CategoryScheme", "MANY", "CS", "1.0").with_item("Category", "A" + ".A" * level)
        below: Items[Category] = Items() if found is None else Items({"A": found})
        found = Category(urn=own, names=InternationalString({"en": f"Level{level}"}), categories=below)
    assert found is not None
    return found


def test_texts_are_made_once_for_all_versions_that_have_the_message(
    topic: FakeTopic, replica: Replica, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a change only what has changed is made again, and earlier versions are searched as they were."""
    made: list[Urn] = []
    real = search_index._text_of

    def counted(structures: Structures, urn: Urn) -> bytes:
        made.append(urn)
        return real(structures, urn)

    monkeypatch.setattr(search_index, "_text_of", counted)
    lists = [small_codelist(f"CL_{number:03}", {"en": "before"}) for number in range(30)]
    replica.wait_for(publish(topic, lists), 30)
    index, live = SearchIndex(1 << 20), LiveStructures(replica)
    first = live.structures()
    index.fill(first)
    assert sorted(made) == sorted({*first.urns, *first.companions()})
    made.clear()
    changed = small_codelist("CL_007", {"en": "afterwards"})
    replica.wait_for(publish(topic, [changed]), 30)
    second = live.structures()
    for structures, words, expected in (
        (second, "afterwards", [changed.urn]), (first, "afterwards", []),
        (first, "before cl_007", [changed.urn]), (second, "before cl_007", []),
    ):  # fmt: skip
        found = search(structures, index, list(structures.urns), words_of(words), 0, 50, 1000.0).found
        assert [one.urn for one in found] == expected, words
    assert made == [changed.urn]
    index.fill(second)
    assert made == [changed.urn]
    kept = index.size_bytes
    replica.wait_for(topic.delete(bytes(changed.urn)), 30)
    index.fill(live.structures())
    assert index.size_bytes < kept  # and with it the text of the message before
    live.close()


@pytest.mark.thorough
def test_a_full_index_finds_the_same(topic: FakeTopic, replica: Replica) -> None:
    """Texts beyond its size are made for each search; the texts of the newest version take the place of older ones."""
    index, none, live = SearchIndex(4000), SearchIndex(0), LiveStructures(replica)
    for number in range(5):
        texts = {"en": f"number{number} " + "x" * 500}
        replica.wait_for(publish(topic, [small_codelist(f"CL_{each}", texts) for each in range(4)]), 30)
        structures = live.structures()
        for one in (index, none):
            one.fill(structures)
            for words, count in ((f"number{number}", 4), (f"number{number - 1}", 0), ("name of", len(ARTEFACTS))):
                found = search(structures, one, list(structures.urns), words_of(words), 0, 50, 1000.0).found
                assert len(found) == count
        assert 0 < index.size_bytes <= 4000
        assert none.size_bytes == 0
    live.close()


def test_an_index_that_is_full_reads_nothing_more(
    topic: FakeTopic, replica: Replica, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first text that does not fit ends the preparation, which is not repeated for the same version."""
    made: list[Urn] = []
    text_of = search_index._text_of

    def counted(structures: Structures, urn: Urn) -> bytes:
        made.append(urn)
        return text_of(structures, urn)

    monkeypatch.setattr(search_index, "_text_of", counted)
    lists = [small_codelist(f"CL_{number:03}", {"en": "x" * 500}) for number in range(30)]
    replica.wait_for(publish(topic, lists), 30)
    live = LiveStructures(replica)
    structures = live.structures()
    for max_bytes, most in ((0, 1), (4000, 9)):
        index = SearchIndex(max_bytes)
        assert index.fill(structures) is False
        assert 1 <= len(made) <= most
        version = VersionId(structures.version, "x")
        index.begin(structures, version)
        thread = index._thread
        assert thread is not None
        thread.join(30)
        made.clear()
        index.begin(structures, version)
        assert index._thread is thread
        assert not made
    assert SearchIndex(1 << 20).fill(structures) is True
    live.close()


@pytest.mark.thorough
def test_a_search_starts_the_index_in_the_background(topic: FakeTopic, replica: Replica) -> None:
    """Nothing is made before; a further version begins with what the one before it has."""
    service = Service(replica, ServerSettings())
    index, client = service._pages._index, client_of(service.app)
    page_at(client, "/structures?class=Codelist")
    assert index.size_bytes == 0
    page_at(client, "/structures?q=absent")
    wait_until(lambda: index._filled is not None)
    first = index._filled
    replica.wait_for(publish(topic, [small_codelist("CL_NEW", {"en": "new"})]), 30)
    page_at(client, "/structures?q=absent")
    wait_until(lambda: index._filled != first)
    index.close()
    current = service.versions.current()
    index.begin(current.structures, current.id)  # does nothing any more
    asyncio.run(service.close())


@pytest.mark.thorough
def test_the_index_releases_the_version_whose_texts_it_has(replica: Replica) -> None:
    """A version that has no other user is freed, although no search follows."""
    index, structures = SearchIndex(1 << 20), Structures(replica.snapshot())
    released = weakref.ref(structures)
    version = VersionId(structures.version, replica.incarnation)
    index.begin(structures, version)
    del structures
    wait_until(lambda: index._filled == version)
    wait_until(lambda: gc.collect() >= 0 and released() is None)
    index.close()


@pytest.mark.thorough
def test_following_the_pages_shows_each_structure_once_while_the_topic_changes(
    topic: FakeTopic, replica: Replica
) -> None:
    """The links to further pages are pinned to the version of the first page."""
    lists = [small_codelist(f"CL_{number:03}", {"en": "many"}) for number in range(120)]
    replica.wait_for(publish(topic, lists), 30)
    client = client_of(create_app(replica))
    for parameters in ("agency=MANY", "agency=MANY&q=many"):
        path, seen, versions = f"/structures?{parameters}", [], set()
        while path:
            page = page_at(client, path)
            versions.add(client.get(path).headers["kafka-replica-version"] if "/version/" in path else None)
            seen += page.column("Structures", 0)
            assert page.links.get("Previous", "") == "" or "q=" not in parameters
            path = page.links.get("Next", "")
            topic.delete(bytes(lists[len(seen) // 2].urn))
            replica.wait_for(topic.put(bytes(lists[0].urn), b"unreadable"), 30)
        assert seen == [list_.urn.id for list_ in lists], parameters
        assert len(versions - {None}) == 1
        replica.wait_for(publish(topic, lists), 30)


@pytest.mark.thorough
def test_records_that_cannot_be_read_are_listed_with_the_reason(topic: FakeTopic, replica: Replica) -> None:
    """An id finds its structure, although nothing is known of its names."""
    replica.wait_for(topic.put(bytes(small_codelist("CL_BAD", {}).urn), b"<no"), 30)
    page = page_at(client_of(create_app(replica)), "/structures?q=cl_bad")
    assert "fake-0" in page.column("Structures", 1)[0]


@pytest.mark.thorough
def test_a_name_that_no_encoding_has_is_shown(topic: FakeTopic, replica: Replica) -> None:
    """Controls and signs of other planes are text."""
    name = "a\u202eb\U0001f600 &amp; \u007f"
    replica.wait_for(publish(topic, [small_codelist("CL_SIGNS", {"en": name})]), 30)
    assert page_at(client_of(create_app(replica)), "/structures?id=CL_SIGNS").column("Structures", 0) == ["CL_SIGNS"]


STRUCTURES = version_of(ARTEFACTS.values())
URNS = sorted(ARTEFACTS)
INDEX = SearchIndex(1 << 20)
TEXTS = {urn: [text.text for text in texts_of(artefact)] for urn, artefact in ARTEFACTS.items()}


@pytest.mark.thorough
@given(
    words=st.lists(st.sampled_from(["e", "freq", "nom de", "2.0", "name", "area"]), max_size=2),
    size=st.integers(1, 9),
    slow=st.integers(1, 9),
)
def test_a_search_in_parts_finds_each_match_once_in_order(words: list[str], size: int, slow: int) -> None:
    """However soon the time is over, each part examines a structure, and the parts together find all."""
    wanted = words_of(" ".join(words))
    whole = search(STRUCTURES, INDEX, URNS, wanted, 0, len(URNS) + 1, 1000.0)
    found, end = [], 0
    while end < len(URNS):
        ticks = iter(range(1000))
        part = search(STRUCTURES, INDEX, URNS, wanted, end, size, slow, lambda ticks=ticks: next(ticks))  # type: ignore[misc] # a lambda with a default
        assert end < part.end
        assert len(part.found) <= size
        assert part.end - end <= max(1, slow)
        found += part.found
        end = part.end
    assert found == whole.found
    assert [one.urn for one in found] == [
        urn for urn in URNS if all(word in folded("\n".join((urn.reference, *TEXTS.get(urn, ())))) for word in wanted)
    ]
