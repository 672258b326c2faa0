"""The explorer: filters, search in all languages, and paging without omissions or repetitions."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_replica import Replica
from kafka_replica.server import create_app
from kafka_replica.server.pages.search import folded, search, words_of
from kafka_replica.testing import FakeTopic
from support.server.app_tools import client_of
from support.server.html_tools import page_at
from support.server.page_topic import publish, small_codelist
from support.server.registry import ARTEFACTS, version_of

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
    with topic.replica(history=20) as replica:
        replica.wait_ready(30)
        yield replica


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


def test_search_finds_words_in_all_languages(topic: FakeTopic, replica: Replica) -> None:
    """Case and accents make no difference; the page shows the name that matched, in its language, as text."""
    names = {"en": HOSTILE, "fr": "Périodicité générale", "el": "Συχνότητα", "x\"'><b>": "Straße"}
    replica.wait_for(publish(topic, [small_codelist("CL_ODD", names)]), 30)
    client = client_of(create_app(replica))
    for words in ("periodicite", "GÉNÉRALE+cl_odd", "συχνοτητα", "strasse", "onerror"):
        page = page_at(client, f"/structures?q={words}")
        assert page.column("Structures", 0) == ["CL_ODD"], words
        assert page.column("Structures", 1)[0].startswith(HOSTILE)
    page = page_at(client, "/structures?q=periodicite")
    assert [one["lang"] for one in page.named("span") if "lang" in one] == ["en", "fr"]
    assert page_at(client, "/structures?q=periodicite+absent").column("Structures", 0) == []
    urn = small_codelist("CL_ODD", names).urn
    assert page_at(client, f"/structures?q={urn}").column("Structures", 0) == ["CL_ODD"]


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
        assert seen == [one.urn.id for one in lists], parameters
        assert len(versions - {None}) == 1
        replica.wait_for(publish(topic, lists), 30)


def test_records_that_cannot_be_read_are_listed_with_the_reason(topic: FakeTopic, replica: Replica) -> None:
    """An id finds its structure, although nothing is known of its names."""
    replica.wait_for(topic.put(bytes(small_codelist("CL_BAD", {}).urn), b"<no", []), 30)
    page = page_at(client_of(create_app(replica)), "/structures?q=cl_bad")
    assert "fake-0" in page.column("Structures", 1)[0]


def test_a_name_that_no_encoding_has_is_shown(topic: FakeTopic, replica: Replica) -> None:
    """Controls and signs of other planes are text."""
    name = "a\u202eb\U0001f600 &amp; \u007f"
    replica.wait_for(publish(topic, [small_codelist("CL_SIGNS", {"en": name})]), 30)
    assert page_at(client_of(create_app(replica)), "/structures?id=CL_SIGNS").column("Structures", 0) == ["CL_SIGNS"]


STRUCTURES = version_of(ARTEFACTS.values())
URNS = sorted(ARTEFACTS)


@given(
    words=st.lists(st.sampled_from(["e", "freq", "nom de", "2.0", "name", "area"]), max_size=2),
    size=st.integers(1, 9),
    slow=st.integers(1, 9),
)
def test_a_search_in_parts_finds_each_match_once_in_order(words: list[str], size: int, slow: int) -> None:
    """However soon the time is over, each part examines a structure, and the parts together find all."""
    wanted = words_of(" ".join(words))
    whole = search(STRUCTURES, URNS, wanted, 0, len(URNS) + 1, 1000.0)
    found, end = [], 0
    while end < len(URNS):
        ticks = iter(range(1000))
        part = search(STRUCTURES, URNS, wanted, end, size, slow, lambda ticks=ticks: next(ticks))
        assert end < part.end
        assert len(part.found) <= size
        assert part.end - end <= max(1, slow)
        found += part.found
        end = part.end
    assert found == whole.found
    assert [one.urn for one in found] == [
        urn
        for urn in URNS
        if all(word in folded(f"{urn.reference}\nname of {urn.id}\nnom de {urn.id}") for word in wanted)
    ]
