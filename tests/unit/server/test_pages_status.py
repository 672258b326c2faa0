"""The status page, errors as pages, and the rules that they follow, without I/O."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.routing import Mount

from kafka_replica import Partition, Record, Replica
from kafka_replica.errors import BadRecordError
from kafka_replica.publication.status import Counts
from kafka_replica.sdmx import Format, Structures
from kafka_replica.server import ServerSettings, create_app
from kafka_replica.server.answers.accept import prefers_html
from kafka_replica.server.pages.links import Address, Links
from kafka_replica.server.pages.paging import page_of
from kafka_replica.server.pages.redaction import HIDDEN, redacted
from kafka_replica.server.pages.throughput import Throughput
from kafka_replica.server.rest.request_and_answer import RestAnswer, RestRequest
from kafka_replica.testing import FakeTopic
from support.core.unconfirmed_ends import set_unconfirmed
from support.server.app_tools import URN, client_of
from support.server.html_tools import BROWSER, page_at
from support.waiting import wait_until

REJECTED = "Rejected records, the newest first"
HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>"


@pytest.fixture
def topic() -> FakeTopic:
    """A topic with one key."""
    topic = FakeTopic()
    topic.put(URN.format("A"), b"a")
    return topic


@pytest.fixture
def replica(topic: FakeTopic) -> Iterator[Replica]:
    """A replica that keeps two versions in addition to the current one, and skips bad records."""
    with topic.replica(kept_versions=2, on_bad_record="skip") as replica:
        replica.wait_ready(30)
        yield replica


@pytest.mark.thorough
def test_browsers_get_a_page_and_programs_json(replica: Replica) -> None:
    """The header Accept decides, and caches know that it does."""
    client = client_of(create_app(replica))
    page = page_at(client, "/")
    assert "ready: the replica follows the topic." in page.text
    assert page.links["Status"] == "/"
    found = client.get("/")
    assert found.json()["service"].startswith("kafka-replica ")
    assert [client.get("/", headers=more).headers["vary"] for more in ({}, BROWSER)] == ["Accept", "Accept"]
    assert client.get("/static/pages.css").headers["content-type"] == "text/css; charset=utf-8"
    assert client.get("/static/icon.svg").headers["content-type"] == "image/svg+xml"
    assert client.get("/static/base.html").status_code == 404


@pytest.mark.parametrize(
    ("accept", "expected"),
    [
        ("", False), ("*/*", False), ("text/*", False), ("application/json", False), (BROWSER["Accept"], True),
        ("text/html", True), ("application/json, text/html;q=0.9", False), ("text/html;q=0", False),
        ("Text/HTML; q=0.5, application/json;q=0.4", True), ("text/html;q=x, application/json", False),
        (";;,=,text/html;q", True),
    ],
)  # fmt: skip
def test_only_requests_that_name_html_get_pages(accept: str, expected: bool) -> None:
    """Ranges name nothing, and JSON wins if it is preferred."""
    assert prefers_html(accept) is expected


@pytest.mark.thorough
def test_rejected_records_are_shown_with_reasons_in_pages(topic: FakeTopic) -> None:
    """Each is on exactly one page, the newest first; hostile keys and reasons are text."""

    def refuse(record: Record) -> None:
        if record.value == b"bad":
            raise ValueError(HOSTILE)

    for number in range(119):
        topic.put(f"{HOSTILE} {number}", b"bad")
    position = topic.put(URN.format("B"), b"b")
    with topic.replica(validator=refuse, on_bad_record="skip") as replica:
        replica.wait_for(position, 30)
        client = client_of(create_app(replica))
        keys: list[str] = []
        path = "/"
        while path:
            page = page_at(client, path)
            assert "119 records could not be replicated" in page.text
            assert all("<script>" in reason for reason in page.column(REJECTED, 3))
            keys += [text.removeprefix(f"{HOSTILE} ") for text in page.column(REJECTED, 2)]
            path = page.links.get("Next", "")
    assert keys == [str(number) for number in range(118, -1, -1)]


@pytest.mark.thorough
def test_unconfirmed_ends_are_a_notice_and_then_a_count(topic: FakeTopic, monkeypatch: pytest.MonkeyPatch) -> None:
    """The notice names the partitions until their ends are confirmed, also without new records; the count remains."""
    unconfirmed = set_unconfirmed(monkeypatch)
    notice = f"Too few brokers answer to exclude that {topic.name}-0 got another leader"
    with topic.replica() as replica:
        replica.wait_ready(30)
        client = client_of(create_app(replica))
        page = page_at(client, "/")
        assert "Unconfirmed end offsetsnone" in page.text
        assert notice not in page.text
        unconfirmed.add(Partition(topic.name, 0))
        wait_until(lambda: bool(replica.status().unconfirmed_partitions))
        assert notice in page_at(client, "/").text
        unconfirmed.clear()
        wait_until(lambda: not replica.status().unconfirmed_partitions)
        page = page_at(client, "/")
        assert re.search(r"Unconfirmed end offsetsin [\d,]+ quer(y|ies) since the start", page.text)
        assert notice not in page.text


@pytest.mark.thorough
def test_pinned_status_shows_the_facts_of_its_version(topic: FakeTopic, replica: Replica) -> None:
    """The banner names the version and leads back to the current one; gone versions are a page, too."""
    for name in "BCD":
        replica.wait_for(topic.put(URN.format(name), b"x"), 30)
    client = client_of(create_app(replica, ServerSettings(environment="staging <1>")))
    page = page_at(client, f"/version/2.{replica.incarnation}/")
    assert "Pinned to version 2" in page.text
    assert "staging <1>" in page.text
    assert page.links["Show the current version"] == "/"
    assert page.links["Structures"] == f"/version/2.{replica.incarnation}/structures"
    assert "no longer kept" in page_at(client, "/version/1", 410).text
    for text in ("9", "x"):
        page_at(client, f"/version/{text}/", 404)


@pytest.mark.thorough
def test_errors_are_pages_for_browsers_wherever_they_arise(replica: Replica) -> None:
    """Routes, the gate and unexpected errors; programs get the same status as JSON."""

    def fails(_request: RestRequest, _structures: Structures) -> RestAnswer:
        raise RuntimeError("/etc/secret")

    client = client_of(create_app(replica, answer=fails))
    long = "/?q=" + "x" * 9000
    for path, status, host in (("/nothing", 404, ""), (long, 414, ""), ("/", 400, "evil"), ("/sdmx/v2/x", 500, "")):
        more = {"Host": host} if host else {}
        found = client.get(path, headers=BROWSER | more)
        assert (found.status_code, found.headers["content-type"]) == (status, "text/html; charset=utf-8")
        assert len(found.content) == int(found.headers["content-length"])
        assert "secret" not in found.text
        assert found.headers["x-request-id"]
        problem = client.get(path, headers=more)
        kind = str(Format.SDMX_JSON_2_1) if path.startswith("/sdmx") else "application/problem+json"
        assert (problem.status_code, problem.headers["content-type"]) == (status, kind)
    head = client.head("/nothing", headers=BROWSER)
    assert (head.status_code, head.content) == (404, b"")
    assert HOSTILE not in client.get(f"/{HOSTILE}", headers=BROWSER).text
    assert client.get("/?start=-1", headers=BROWSER).status_code == 400


@pytest.mark.thorough
def test_pages_work_below_the_path_of_another_app(replica: Replica) -> None:
    """Below another app, each link and the style sheet of a page have the path of that app."""
    client = client_of(Starlette(routes=[Mount("/my app", create_app(replica))]))
    page = page_at(client, "/my%20app/")
    assert all(
        address.startswith("/my%20app/") for text, address in page.links.items() if text != "Skip to the content"
    )
    assert client.get(page.named("link")[0]["href"] or "").status_code == 200


@pytest.mark.thorough
def test_a_replica_without_a_version_or_with_an_error_has_a_status_page(topic: FakeTopic, replica: Replica) -> None:
    """The page says that there is none yet; and shows the error without addresses and paths."""
    with topic.outage(), topic.replica(stalled_after_s=1000) as other:
        client = client_of(create_app(other))
        assert "no version yet" in page_at(client, "/structures", 503).text
        wait_until(lambda: other.status().last_error is not None)
        page = page_at(client, "/")
        assert "not ready: the replica has not yet read everything" in page.text
        assert "it started: no broker answers; the log has the details" in page.text
        assert "none yet" in page.text
    topic.fail(BadRecordError("fake", 0, 1, "it lies in /secret/path on host:9092", "nothing"))
    while replica.state != "failed":
        threading.Event().wait(0.01)
    page = page_at(client_of(create_app(replica)), "/")
    assert "it lies in [hidden] on [hidden];" in page.text


PRIVATE = ("/etc/passwd", "broker-1:9092", "10.0.0.1", "user@host", "'/var/x'", "https://u", "sasl.password=x", "~/a")
WORDS = (*PRIVATE, "a", "topic-0,", "failed;", "application/xml", "urn:sdmx:Codelist=SDMX:CL(1.0)")


@given(st.lists(st.sampled_from(WORDS)))
def test_redacted_messages_have_no_addresses_and_keep_the_rest(words: list[str]) -> None:
    """Each word that contains a path, an address or a secret is hidden; others are unchanged."""
    assert [word.strip("'") for word in redacted(" ".join(words)).split()] == [
        HIDDEN if word in PRIVATE else word for word in words
    ]


@given(total=st.integers(0, 60), size=st.integers(1, 9))
def test_pages_of_a_list_hold_each_entry_once_in_order(total: int, size: int) -> None:
    """Following the links forward, and then back, visits all entries."""
    links, entries, seen, start = Links("", ()), list(range(total)), [], 0
    while True:
        page = page_of(Address(("x",), (("q", "a"),)), links, start, size, total)
        seen += entries[start : start + size]
        assert (page.first, page.last) == (min(start + 1, total), min(start + size, total))
        if page.following is None:
            break
        assert page.following == f"/x?q=a&start={start + size}"
        start += size
    assert seen == entries
    while page.previous is not None:
        start -= size
        assert page.previous == (f"/x?q=a&start={start}" if start else "/x?q=a")
        page = page_of(Address(("x",), (("q", "a"),)), links, start, size, total)
    assert start == 0


def test_throughput_is_the_difference_of_counts() -> None:
    """The newest look that is old enough counts, and the first; the first look has no rates."""
    throughput = Throughput()
    assert throughput.rates(100, Counts(records=10)) == ()
    (rate,) = throughput.rates(105, Counts(records=60, versions=5))
    assert (rate.period_s, rate.records, rate.versions) == (5, 10, 1)
    recent, whole = throughput.rates(120, Counts(records=210, versions=5))
    assert (recent.period_s, recent.records, recent.versions) == (15, 10, 0)
    assert (whole.period_s, whole.records) == (20, 10)
