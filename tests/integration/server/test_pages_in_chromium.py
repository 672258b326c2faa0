"""The pages in a real browser: every page and state, with scripts and without, in both themes, by keyboard.

The rules of axe-core are checked, too, if npm can fetch it, or the variable AXE_CORE has the path of ``axe.min.js``.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from kafka_replica import Record, Replica
from kafka_replica.errors import BadRecordError
from kafka_replica.history import VersionHistory
from kafka_replica.producer import Put, StructureProducer
from kafka_replica.producer.configuration_files.configuration import read_configuration
from kafka_replica.sdmx import Urn
from kafka_replica.server import ServerSettings
from kafka_replica.testing import FakeTopic
from support.effort import first_in_usual, usual_or_long
from support.server.axe import axe_core
from support.server.browser import browsing, chromium
from support.server.data_samples import LABOUR_CSV, MAP, labour_topic
from support.server.page_rules import ENTER, TAB, check_keyboard, check_rules
from support.server.page_topic import publish, small_codelist
from support.server.registry import ARTEFACTS
from support.server.server_tools import running

HOSTILE = "<script>document.title='broken'</script>\"'><img src=x onerror=document.title='broken'>"


def refuse(record: Record) -> None:
    """Refuse records that are marked."""
    if record.value == b"refused":
        raise ValueError(HOSTILE)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, FakeTopic, Replica]]:
    """The address of a service with structures, rejected records, hostile texts, errors and a history."""
    chromium()
    topic = FakeTopic()
    publish(topic, ARTEFACTS.values())
    topic.put(HOSTILE, b"refused")
    with (
        topic.replica(kept_versions=20, validator=refuse, on_bad_record="skip") as replica,
        VersionHistory(tmp_path_factory.mktemp("history") / "h").follow(replica) as history,
    ):
        replica.wait_ready(60)
        odd = small_codelist("CL_ODD", {"en": HOSTILE, "el": "Συχνότητα", "ar": "تكرار"})
        replica.wait_for(publish(topic, [odd]), 60)
        replica.wait_for(topic.put(bytes(Urn.of("Codelist", "MANY", "CL_BAD", "1.0")), b"<no"), 60)
        replica.wait_for(topic.delete(bytes(Urn.of("Dataflow", "ECB", "EXR_ALL", "1.0"))), 60)
        replica.wait_for(publish(topic, [small_codelist("CL_ODD", {"en": f"{HOSTILE} again", "fr": "x"}, codes=9)]), 60)
        settings = ServerSettings(environment="test", producers=(producer_file(tmp_path_factory.mktemp("producer")),))
        with running(replica, settings=settings, answer=None, history=history) as (address, _):
            yield address, topic, replica


def producer_file(folder: Path) -> str:
    """Make a producer that does not run, with transactions; return its settings file."""
    file = folder / "p.toml"
    file.write_text(f"""
        [producer]
        topic = "structures"
        database = "sqlite:///{folder / "outbox.db"}"
        [kafka]
        "bootstrap.servers" = "localhost:1"
    """)
    producer = StructureProducer(read_configuration(file).producer)
    with producer.engine.begin() as connection:
        producer.record(connection, [Put(HOSTILE, b"value", "text/plain")])
    producer.suspend(HOSTILE)
    producer.close()
    return str(file)


def pages() -> list[str]:
    """Return the paths of pages in all states."""
    one_of_each = {urn.cls: urn for urn in ARTEFACTS}.values()
    artefacts = [f"/structures/{urn.cls}/{urn.agency}/{urn.id}/{urn.version}" for urn in one_of_each]
    artefacts += [f"/structures/Codelist/MANY/{id_}/1.0" for id_ in ("CL_ODD", "CL_BAD", "NONE")]
    return [
        "/", "/version/1/", "/version/99/", "/nothing", "/structures", "/structures?class=Codelist&q=name",
        "/structures?id=NONE", "/structures?start=x", "/version/1/structures", "/history", "/version/1/history",
        "/diff/1/4", "/diff/2/2", "/diff/2/5", "/diff/2/5/Codelist/MANY/CL_ODD/1.0", "/upload",
        "/version/1/upload", "/producers", "/producers/p", "/version/1/producers",
        *artefacts, f"/version/1{artefacts[0]}",
    ]  # fmt: skip


def test_the_rules_of_axe_core_are_known() -> None:
    """All tests of pages apply them; this one tells if they could not."""
    if axe_core() is None:
        pytest.skip("NOT TESTED: the rules of axe-core; npm could not fetch it, and AXE_CORE names no axe.min.js")


@pytest.mark.long
@pytest.mark.scaled
def test_every_page_renders_without_errors_and_follows_the_rules(
    world: tuple[str, FakeTopic, Replica], tmp_path: Path
) -> None:
    """The console has no messages but those of the status of error pages, and hostile texts change nothing."""
    address = world[0]
    with browsing(tmp_path) as browser:
        for path in usual_or_long(pages()[::3], pages()):
            browser.open(address + path)
            title = browser.run("return document.title")
            assert title.endswith("· test · kafka-replica"), (path, title)
            messages = [
                message
                for message in browser.messages()
                if "Failed to load resource: the server responded" not in message
            ]
            assert messages == [], path
            assert browser.run("return getComputedStyle(document.querySelector('header')).borderBottomWidth") == "1px"
            check_rules(browser, path)


def test_pages_work_without_scripts_and_by_keyboard(world: tuple[str, FakeTopic, Replica], tmp_path: Path) -> None:
    """The first stop is the link to the content; forms are submitted by Enter; focus is visible."""
    address = world[0]
    with browsing(tmp_path, scripts=False) as browser:
        browser.open(f"{address}/structures")
        browser.press(TAB)
        assert browser.run("return document.activeElement.textContent") == "Skip to the content"
        assert browser.run("return getComputedStyle(document.activeElement).outlineStyle") == "solid"
        stops = set()
        for _ in range(100):
            browser.press(TAB)
            stops.add(browser.run("return document.activeElement.id || document.activeElement.textContent"))
            if browser.run("return document.activeElement.id") == "q":
                break
        assert {"Status", "Structures", "History", "class", "agency", "id", "q"} <= stops
        for key in "odd":
            browser.press(key)
        browser.press(ENTER)
        rows = "return [...document.querySelectorAll('tbody th')].map(one => one.textContent)"
        assert browser.run(rows) == ["CL_ODD"]
        assert "q=odd" in browser.run("return location.search")
        assert browser.messages() == []


@pytest.mark.long
def test_every_control_is_reached_by_keyboard(world: tuple[str, FakeTopic, Replica], tmp_path: Path) -> None:
    """In the order of the page, with a visible focus, and past the head of the page by its first link."""
    paths = ["/", "/structures?q=name", "/history", "/diff/2/5", "/upload", "/nothing", "/version/1/structures"]
    with browsing(tmp_path, scripts=False) as browser:
        for path in [*paths, "/structures/Codelist/MANY/CL_ODD/1.0", "/producers", "/producers/p"]:
            browser.open(world[0] + path)
            check_keyboard(browser, path)


@pytest.mark.parametrize("scripts", first_in_usual([True, False], 1))
def test_a_file_is_uploaded_with_scripts_and_without(tmp_path: Path, *, scripts: bool) -> None:
    """The browser names its origin, so that the form is accepted; the report and a refusal are pages."""
    data, large = tmp_path / "labour.csv", tmp_path / "large.csv"
    data.write_bytes(LABOUR_CSV)
    large.write_bytes(b"a" * 150_000)
    settings = ServerSettings(max_upload_bytes=100_000)
    with (
        labour_topic().replica() as replica,
        running(replica, settings=settings, answer=None) as (address, _),
        browsing(tmp_path, scripts=scripts) as browser,
    ):
        replica.wait_ready(60)
        for file, expected in ((data, "Report"), (large, "Request Entity Too Large")):
            browser.open(f"{address}/upload")
            browser.choose_file("#validate-file", file)
            browser.submit("form[action$='/upload'] button")
            assert browser.run("return document.querySelector('h1').textContent") == expected
            if scripts:  # which axe-core needs
                check_rules(browser, expected)
        browser.open(f"{address}/upload")
        browser.choose_file("#map-file", data)
        browser.run("document.getElementById('map-map').value = arguments[0]", MAP)
        browser.submit("form[action$='/upload/map'] button")
        assert "rows mapped" in browser.run("return document.querySelector('.state').textContent")
        if scripts:
            check_rules(browser, "mapped")


@pytest.mark.long
def test_the_pages_of_a_list_belong_to_one_version_while_the_topic_changes(tmp_path: Path) -> None:
    """The next page is pinned, says so, and leads back to the current version; the version that is gone is an error."""
    topic = FakeTopic()
    publish(topic, [small_codelist(f"CL_{number:03}", {"en": "many"}) for number in range(80)])
    with (
        topic.replica(kept_versions=3) as replica,
        running(replica, answer=None) as (address, _),
        browsing(tmp_path) as browser,
    ):
        replica.wait_ready(60)
        browser.open(f"{address}/structures")
        replica.wait_for(topic.delete(bytes(Urn.of("Codelist", "MANY", "CL_070", "1.0"))), 60)
        browser.follow("a[rel=next]")
        check_rules(browser, "a pinned list")
        rows = "return [...document.querySelectorAll('tbody th')].map(one => one.textContent)"
        assert browser.run(rows) == [f"CL_{number:03}" for number in range(50, 80)]
        assert "Pinned to version 1" in browser.run("return document.querySelector('.pinned').textContent")
        browser.follow(".pinned a")
        assert "CL_070" not in browser.run(rows)
        browser.open(f"{address}/structures")
        for number in range(5):
            replica.wait_for(publish(topic, [small_codelist("CL_000", {"en": str(number)})]), 60)
        browser.follow("a[rel=next]")
        assert browser.run("return document.querySelector('h1').textContent") == "Gone"
        check_rules(browser, "gone")


@pytest.mark.long
def test_a_failed_replica_has_a_page(tmp_path: Path) -> None:
    """The state is shown with its reason, without a path of the machine; the page of a new replica is there, too."""
    topic = FakeTopic()
    publish(topic, ARTEFACTS.values())
    with browsing(tmp_path) as browser, ExitStack() as stack:
        with topic.outage(), topic.replica(stalled_after_s=1000) as new, running(new, answer=None) as (address, _):
            for path in ("/", "/structures"):
                browser.open(address + path)
                check_rules(browser, path)
            assert "no version yet" in browser.run("return document.body.textContent")
        replica = stack.enter_context(topic.replica())
        replica.wait_ready(60)
        address, _ = stack.enter_context(running(replica, answer=None))
        topic.fail(BadRecordError("fake", 0, 1, "it lies in /secret/path", "nothing"))
        while replica.state != "failed":
            threading.Event().wait(0.01)
        browser.open(address)
        assert "it lies in [hidden]" in browser.run("return document.body.textContent")
        check_rules(browser, "failed")
