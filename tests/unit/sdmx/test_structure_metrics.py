"""Prometheus metrics of look-ups."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from kafka_replica import Replica
from kafka_replica.metrics.replica import export_replica
from kafka_replica.metrics.sdmx import export_structures, unexport_structures
from kafka_replica.sdmx import DecodeCache, LiveStructures, split_message
from kafka_replica.testing import FakeTopic
from support.sdmx.sdmx_json_samples import URN, artefact, message, named


def codelist(id_: str, extends: str | None = None) -> tuple[str, bytes]:
    """Return a codelist that may extend another."""
    refers = [{"codelist": f"{URN}codelist.Codelist=A:{extends}(1.0.0)"}] if extends else []
    [part] = split_message(message({"codelists": [artefact(id_, codes=[named("A")], codelistExtensions=refers)]}))
    return str(part.urn), part.value


def shown(registry: CollectorRegistry) -> dict[str, float]:
    """Return the metrics of the look-ups."""
    lines = generate_latest(registry).decode().splitlines()
    values = [line for line in lines if line.startswith("kafka_replica_sdmx_") and "_created" not in line]
    pairs = [line.rpartition(" ") for line in values]
    return {
        name.removeprefix("kafka_replica_sdmx_").partition("{")[0]: float(value)
        for name, _, value in pairs
        if '{replica="codes"}' in name
    }


@pytest.mark.filterwarnings("default")
def test_dangling_references_are_counted_at_each_version() -> None:
    """Dangling references are counted at each version once ``prepare`` was called; cache metrics are always there."""
    registry, topic = CollectorRegistry(), FakeTopic()
    with topic.replica() as replica:
        export_replica(replica, name="codes", registry=registry)
        live = LiveStructures(replica, cache=DecodeCache(1_000_000))
        topic.put(*codelist("L0", extends="NONE"))
        topic.put(*codelist("L1", extends="L0"))
        replica.wait_for(topic.end(), 60)
        export_structures(live, name="codes", registry=registry)
        first = shown(registry)
        assert first["artefacts"] == 2
        assert first["cache_max_bytes"] == 1_000_000
        assert first["cache_misses_total"] == 0, "nothing is decoded for being looked at"
        assert "dangling_references" not in first
        live.prepare()
        second = shown(registry)
        assert (second["dangling_references"], second["unreadable_records"]) == (1, 0)
        assert (second["cache_misses_total"], second["cache_contents"]) == (2, 2)
        assert second["cache_bytes"] > 100
        assert second["decode_seconds_total"] > 0
        topic.delete(codelist("L0")[0])
        topic.put(codelist("L2")[0], b"{broken")
        replica.wait_for(topic.end(), 60)
        third = shown(registry)
        assert (third["dangling_references"], third["unreadable_records"], third["artefacts"]) == (1, 1, 2)
        topic.put(*codelist("NONE", extends="NOWHERE"))
        topic.put(*codelist("L2", extends="NOWHERE"))
        replica.wait_for(topic.end(), 60)
        fourth = shown(registry)
        assert (fourth["dangling_references"], fourth["unreadable_records"], fourth["artefacts"]) == (3, 0, 3)
        assert fourth["cache_hits_total"] == 0
        live.structures().get(codelist("L1")[0])
        assert shown(registry)["cache_hits_total"] == 1
    unexport_structures("codes", registry=registry)
    assert shown(registry) == {}


def test_before_the_first_version_and_after_the_end() -> None:
    """Before the first version and after closing no metrics are shown, and nothing fails."""
    registry = CollectorRegistry()
    live = LiveStructures(FakeTopic().replica())
    export_structures(live, name="codes", registry=registry)
    assert shown(registry) == {}
    live.close()
    assert shown(registry) == {}


def test_counted_problems_are_named_in_the_log_once(caplog: pytest.LogCaptureFixture) -> None:
    """A dangling reference and an unreadable record are logged when they appear, and again only after a repair."""
    topic = FakeTopic()
    with topic.replica() as replica, LiveStructures(replica) as live:
        topic.put(*codelist("L0", extends="NONE"))
        replica.wait_for(topic.end(), 60)
        live.stats()
        assert problems(caplog) == [], "references are not counted before they are requested"
        live.prepare()
        live.stats()
        [dangling] = problems(caplog)
        assert "1 dangling reference: " in dangling
        assert "A:L0(1.0.0) refers to " in dangling
        topic.put(codelist("L2")[0], b"{broken")
        replica.wait_for(topic.end(), 60)
        live.stats()
        [unreadable] = problems(caplog)
        assert "1 unreadable record: " in unreadable
        assert "A:L2(1.0.0)" in unreadable
        for extended in (None, "NONE"):
            topic.put(*codelist("L0", extends=extended))
            replica.wait_for(topic.end(), 60)
            live.stats()
            live.stats()
        assert [text.partition(": ")[2][:20] for text in problems(caplog)] == ["1 dangling reference"]


def problems(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return the problems that were logged since the last call."""
    found = [record.getMessage() for record in caplog.records if record.getMessage().startswith("structures: ")]
    caplog.clear()
    return found


@contextmanager
def dangling_references(count: int) -> Iterator[tuple[FakeTopic, Replica, LiveStructures]]:
    """Return a topic of lists that each extend a list that does not exist; the references are counted."""
    topic = FakeTopic()
    with topic.replica() as replica, LiveStructures(replica) as live:
        for number in range(count):
            topic.put(*codelist(f"L{number}", extends="NONE"))
        replica.wait_for(topic.end(), 60)
        live.prepare()
        live.stats()
        yield topic, replica, live


def test_many_problems_are_counted_in_one_line(caplog: pytest.LogCaptureFixture) -> None:
    """Ten of many problems are named."""
    with dangling_references(12):
        [text] = problems(caplog)
        assert text.startswith("structures: 12 dangling references: ")
        assert text.endswith("; and 2 more")


def test_too_many_problems_are_only_counted(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each version would compare all of them; when they become few, they are named."""
    monkeypatch.setattr("kafka_replica.sdmx.lookups.problem_log._MOST_COMPARED", 1)
    with dangling_references(3) as (topic, replica, live):
        assert problems(caplog) == ["structures: 3 dangling references"]
        for number in range(2):
            topic.put(*codelist(f"L{number}"))
            replica.wait_for(topic.end(), 60)
            live.stats()
        [text] = problems(caplog)
        assert text.startswith("structures: 1 dangling reference: ")
