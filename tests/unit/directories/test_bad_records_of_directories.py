"""Bad records stop a directory, visibly and until they are repaired, or are left out; messages say what helps."""

from __future__ import annotations

import json
import logging
import random
import re
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest
from prometheus_client import CollectorRegistry

from kafka_replica import DeadLetterFile
from kafka_replica.directories import Directory, DirectoryChange, MultiValuedIndex
from kafka_replica.errors import BadRecordError, ConfigurationError, KafkaReplicaError, UsageError
from kafka_replica.history import VersionHistory
from kafka_replica.metrics import export_directory, unexport_directory
from kafka_replica.testing import FakeTopic
from support.directories.terminals import KINDS, WAIT_S, Received, put, row, topic_of_two
from support.waiting import wait_until


class Terminal(msgspec.Struct, frozen=True):
    """A row of a directory."""

    id: str
    merchant: str


BAD = b'{"id": "T3"}'
"""A value without a merchant."""


@pytest.fixture
def topic() -> FakeTopic:
    """Return a topic with two good records."""
    return topic_of_two()


def keys(change: DirectoryChange[Any, Terminal]) -> tuple[list[Any], list[Any], list[Any]]:
    """Return the keys that a change adds, changes and deletes."""
    return sorted(change.added), sorted(change.changed), sorted(change.deleted)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("repair", [row("T3"), None])
def test_a_listener_gets_what_it_missed_as_one_change_after_the_repair(
    topic: FakeTopic, kind: str, repair: bytes | None
) -> None:
    """No part of a transaction with a bad record, and no later version, reaches a listener before the repair."""
    received = Received()
    with topic.replica() as replica, Directory(replica, Terminal, **KINDS[kind]) as terminals:
        terminals.subscribe(received.receive)
        received.up_to(terminals.wait_ready(WAIT_S).version)
        put(topic, T1=row("T1", "changed"), T3=BAD, T4=row("T4"))
        position = put(topic, T2=None, T5=row("T5"))
        with pytest.raises(BadRecordError):
            terminals.wait_for(position, WAIT_S)
        for _ in range(5):  # so that the listener's thread surely had the versions above
            replica.wait_for(put(topic, T5=row("T5")), WAIT_S)
        now = terminals.wait_for(put(topic, T3=repair), WAIT_S)
        last = received.up_to(now.version)
        assert len(received.changes) == 2, received.changes
        added = ["T4", "T5"] if repair is None else ["T3", "T4", "T5"]
        assert keys(last) == (added, ["T1"], ["T2"])
        assert (last.initial, last.changed["T1"].before.merchant) == (False, "M")
        assert sorted(terminals) == sorted({"T1", *added})
        assert terminals["T1"].merchant == "changed"
        assert terminals.error is None
        now = terminals.wait_for(put(topic, T1=None), WAIT_S)
        assert keys(received.up_to(now.version)) == ([], [], ["T1"])


@pytest.mark.parametrize("kind", KINDS)
def test_a_listener_gets_everything_once_the_first_version_is_repaired(topic: FakeTopic, kind: str) -> None:
    """The first change after a bad first version has all objects, and is marked as initial."""
    received = Received()
    position = put(topic, T3=BAD)
    with topic.replica() as replica, Directory(replica, Terminal, **KINDS[kind]) as terminals:
        terminals.subscribe(received.receive)
        with pytest.raises(BadRecordError):
            terminals.wait_for(position, WAIT_S)
        now = terminals.wait_for(put(topic, T2=None, T3=row("T3")), WAIT_S)
        first = received.up_to(now.version)
        assert (received.changes, first.initial, keys(first)) == ([first], True, (["T1", "T3"], [], []))


@pytest.mark.thorough
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_changes_at_random_add_up_to_whole_versions(topic: FakeTopic, kind: str, seed: int) -> None:
    """Whatever is bad and for how long, the changes so far are the objects of a version without bad records."""
    chance, received = random.Random(seed), Received()
    written: dict[str, bytes | None] = {"T1": row("T1"), "T2": row("T2")}
    versions: dict[int, dict[str, bytes]] = {}
    with topic.replica() as replica, Directory(replica, Terminal, **KINDS[kind]) as terminals:
        terminals.subscribe(received.receive)
        for number in range(80):
            names = chance.sample(["T1", "T2", "T3", "T4", "T5"], chance.randint(1, 3))
            kinds = (row, row, row) if number == 79 else (row, None, None) if number % 8 > 2 else (row, None, "bad")
            rows: dict[str, bytes | None] = {}
            for name in ["T1", "T2", "T3", "T4", "T5"] if number == 79 else names:
                found = chance.choice(kinds)
                rows[name] = row(name, str(number)) if found is row else BAD if found == "bad" else None
            written |= rows
            snapshot = replica.wait_for(put(topic, **rows), WAIT_S)
            versions[snapshot.version] = {name: value for name, value in written.items() if value is not None}
        received.up_to(terminals.wait_ready(WAIT_S).version)
    shown: dict[str, Terminal] = {}
    for change in received.changes:
        shown |= {**change.added, **{key: each.after for key, each in change.changed.items()}}
        shown = {key: found for key, found in shown.items() if key not in change.deleted}
        if change.version in versions:  # others are of before the first transaction
            expected = versions[change.version]
            assert BAD not in expected.values()
            assert {key: row(key, found.merchant) for key, found in shown.items()} == expected
    assert len(shown) == 5
    assert len(received.changes) < 80


def test_a_record_that_only_an_index_refuses_is_absent_for_listeners_too(topic: FakeTopic) -> None:
    """A listener and its directory have the same objects, whichever function refuses a record."""
    received = Received()
    indexes: dict[str, Any] = {"n": MultiValuedIndex[Terminal](lambda found: int(found.merchant))}
    position = put(topic, T1=row("T1", "1"), T2=row("T2", "x"))
    with (
        topic.replica() as replica,
        Directory(replica, Terminal, key="id", indexes=indexes, on_bad_record="skip") as terminals,
    ):
        terminals.subscribe(received.receive)
        now = terminals.wait_for(position, WAIT_S)
        received.up_to(now.version)
        assert sorted(now) == sorted({key for change in received.changes for key in change.added}) == ["T1"]
        assert repr(now) == f"<DirectoryView of version {now.version}, 1 object>"


def test_only_versions_without_bad_records_are_shown(topic: FakeTopic) -> None:
    """Earlier and later versions stay readable, and a version with a bad record is never shown."""
    with topic.replica(kept_versions=10) as replica, Directory(replica, Terminal) as terminals:
        good = terminals.wait_ready(WAIT_S)
        bad = replica.wait_for(put(topic, T1=row("T1", "changed"), T3=BAD), WAIT_S)
        for shown in (lambda: terminals.at(bad), terminals.view, lambda: terminals["T1"], lambda: len(terminals)):
            with pytest.raises(BadRecordError):
                shown()
        assert terminals.at(good.snapshot)["T1"].merchant == "M"
        assert [each.key for each in terminals.bad_records] == [b"T3"]
        terminals.wait_for(put(topic, T3=None), WAIT_S)
        assert terminals["T1"].merchant == "changed"
        assert terminals.bad_records == []
        with pytest.raises(BadRecordError):
            terminals.at(bad)


def test_a_stop_is_logged_once_and_so_is_its_end(topic: FakeTopic, caplog: pytest.LogCaptureFixture) -> None:
    """An ERROR names key, topic, partition and offset; a record that stops the directory afterwards has its own."""
    caplog.set_level(logging.WARNING, "kafka_replica.directories")
    with topic.replica() as replica, Directory(replica, Terminal) as terminals:
        terminals.wait_ready(WAIT_S)
        for rows in ({"T3": BAD, "T4": BAD}, {"T5": row("T5")}, {"T3": row("T3")}, {"T4": None}):
            replica.wait_for(put(topic, **rows), WAIT_S)
        terminals.wait_ready(WAIT_S)
    texts = [f"{each.levelname} {each.getMessage()}" for each in caplog.records]
    assert len(texts) == 3, texts
    for text, key in zip(texts, ("T3", "T4"), strict=False):
        assert text.startswith("ERROR the directory of Terminal is stopped at version "), text
        assert re.search(rf"terminals-0, offset \d+, key '{key}': decoding its value: ValidationError: ", text)
    assert texts[2].startswith("WARNING the directory of Terminal continues at version ")


def test_records_that_are_left_out_are_logged(topic: FakeTopic, caplog: pytest.LogCaptureFixture) -> None:
    """A version has one line, with the number of further records."""
    with topic.replica() as replica, Directory(replica, Terminal, on_bad_record="skip") as terminals:
        terminals.wait_for(put(topic, T3=BAD, T4=BAD, T5=BAD), WAIT_S)
        assert terminals.error is None
    (text,) = [each.getMessage() for each in caplog.records if each.name == "kafka_replica.directories"]
    assert "sets aside the record at terminals-0" in text
    assert text.endswith("; and 2 other records")


def test_metrics_show_bad_records_and_a_stop(topic: FakeTopic) -> None:
    """The gauges follow the directory; a directory that is closed is not exported."""
    registry = CollectorRegistry()

    def sample(metric: str, name: str) -> float | None:
        return registry.get_sample_value(f"kafka_replica_directory_{metric}", {"directory": name})

    with topic.replica() as replica:
        stopping = Directory(replica, Terminal)
        skipping = Directory(replica, Terminal, on_bad_record="skip")
        export_directory(stopping, "stopping", registry=registry)
        export_directory(skipping, "skipping", registry=registry)
        for rows, failed, count in (({"T3": BAD}, 1, 1), ({"T3": None}, 0, 0)):
            snapshot = replica.wait_for(put(topic, **rows), WAIT_S)
            skipping.at(snapshot)
            with stopping._changed:
                stopping._wait_for_version(snapshot.version, None)
            assert (sample("failed", "stopping"), sample("bad_records", "stopping")) == (failed, count)
            assert (sample("failed", "skipping"), sample("bad_records", "skipping")) == (0, count)
        skipping.close()
        assert sample("failed", "skipping") is None
        unexport_directory("stopping", registry=registry)
        assert sample("failed", "stopping") is None


def test_a_directory_without_a_version_has_no_number_of_bad_records(topic: FakeTopic) -> None:
    """The replica was not started, which its own metrics show."""
    registry = CollectorRegistry()
    export_directory(Directory(topic.replica(), Terminal), "new", registry=registry)
    assert registry.get_sample_value("kafka_replica_directory_failed", {"directory": "new"}) == 0
    assert registry.get_sample_value("kafka_replica_directory_bad_records", {"directory": "new"}) is None


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_an_error_that_is_not_about_a_record_lasts(topic: FakeTopic) -> None:
    """A decoder that ends the program ends the directory and its listeners: no version may lack a part."""
    received = Received()

    def decode(value: bytes) -> Terminal:
        if value == BAD:
            raise SystemExit(3)
        return msgspec.json.decode(value, type=Terminal)

    with topic.replica() as replica, Directory(replica, Terminal, decode=decode) as terminals:
        subscription = terminals.subscribe(received.receive)
        received.up_to(terminals.wait_ready(WAIT_S).version)
        put(topic, T1=row("T1", "changed"), T3=BAD)
        with pytest.raises(KafkaReplicaError, match="the directory of Terminal failed: SystemExit: 3"):
            terminals.wait_for(put(topic, T3=None), WAIT_S)
        assert "SystemExit" in str(terminals.error)
        with pytest.raises(KafkaReplicaError, match="SystemExit"):
            _ = terminals.bad_records
        replica.close()
        subscription.join(WAIT_S)
    assert len(received.changes) == 1


def test_dead_letters_that_cannot_be_written_are_logged(
    topic: FakeTopic, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The failure lasts, and has one line at level ERROR."""

    class Full:
        def put(self, bad_records: list[BadRecordError]) -> None:
            raise KafkaReplicaError(f"{tmp_path} is full: {len(bad_records)}")

    with (
        topic.replica() as replica,
        Directory(replica, Terminal, on_bad_record="dead-letter", dead_letters=Full()) as terminals,
    ):
        with pytest.raises(KafkaReplicaError, match="is full: 1"):
            terminals.wait_for(put(topic, T3=BAD), WAIT_S)
        with pytest.raises(KafkaReplicaError, match="is full: 1"):
            terminals.wait_for(put(topic, T3=None), WAIT_S)
    errors = [each.getMessage() for each in caplog.records if each.levelname == "ERROR"]
    assert errors == [f"the directory of Terminal failed: {tmp_path} is full: 1"]


@pytest.mark.parametrize(
    ("options", "part", "repair"),
    [
        ({}, "correct the type or decode= if", "publish its key again or delete it: the directory then continues"),
        ({"indexes": {"x": MultiValuedIndex("merchnt")}}, "correct the index x if", "publish its key again"),
        ({"where": lambda found: found.nope}, "correct where= if", "publish its key again or delete it"),
        ({"key": "nope"}, "correct key= if", "publish its key again or delete it"),
        ({"interpreter": lambda record: record.nope}, "correct interpreter= if", "publish its key again or delete it"),
        ({"on_bad_record": "skip"}, "correct the type or decode= if", "nothing needs to be done here"),
        ({"on_demand": True}, "correct the type or decode= if", "publish its key again or delete it"),
    ],
)
def test_the_advice_names_what_helps(options: dict[str, Any], part: str, repair: str) -> None:
    """The part of the program that may be wrong comes first; "skip" is not recommended to those who have it."""
    topic = FakeTopic("terminals")
    put(topic, T3=BAD if options.keys() <= {"on_bad_record", "on_demand"} else row("T3"))
    with topic.replica() as replica:
        replica.wait_ready(WAIT_S)
        with Directory(replica, Terminal, **options) as terminals:
            bad = _bad_record(terminals)
    assert bad.advice.startswith(f"{part} the program is wrong; otherwise {repair}")
    assert ("on_bad_record='skip'" in bad.advice) == (not options.keys() & {"on_bad_record", "on_demand"})
    assert any(name in bad.reason for name in ("AttributeError: ", "ValidationError: "))


def _bad_record(terminals: Directory[Any, Any]) -> BadRecordError:
    try:
        (bad,) = terminals.wait_ready(WAIT_S).bad_records or [terminals["T3"]]
    except BadRecordError as error:
        return error
    return bad


def test_a_reason_without_text_is_the_name_of_the_exception() -> None:
    """An exception such as a bare ValueError has no text."""
    topic = FakeTopic("terminals")
    put(topic, T3=BAD)

    def refuse(_: object) -> Any:
        raise ValueError

    with topic.replica() as replica:
        replica.wait_ready(WAIT_S)
        with Directory(replica, Terminal, decode=refuse) as terminals:
            assert _bad_record(terminals).reason == "decoding its value: ValueError"
    with topic.replica(validator=refuse, on_bad_record="skip") as replica:
        replica.wait_ready(WAIT_S)
        assert [bad.reason for bad in replica.bad_records] == ["ValueError"]


def test_the_advice_about_a_record_that_a_validator_refuses() -> None:
    """A restart reads the old record again until compaction, whatever was published since."""
    topic = FakeTopic("terminals")
    put(topic, T3=BAD)
    with (
        topic.replica(validator=lambda record: json.loads(record.value or b"")["merchant"]) as replica,
        pytest.raises(BadRecordError, match="KeyError: 'merchant'; correct the validator if it is wrong") as caught,
    ):
        replica.wait_ready(WAIT_S)
    expected = "until Kafka has compacted this old record away, a replica with on_bad_record='stop' still stops at it"
    assert expected in str(caught.value)


@pytest.mark.parametrize("partitions", [1, 2])
def test_a_bad_record_is_not_counted_as_a_tombstone(partitions: int) -> None:
    """Only records that were written without a value count as tombstones."""
    topic = FakeTopic("terminals", partitions)
    put(topic, T1=row("T1"), T3=BAD)
    merchant: Callable[[Any], object] = lambda record: json.loads(record.value)["merchant"]  # noqa: E731
    with topic.replica(validator=merchant, on_bad_record="skip") as replica:
        replica.wait_for(put(topic, T1=None, T4=BAD), WAIT_S)
        counts = replica.status().counts
        assert (counts.records, counts.tombstones, counts.bad_records) == (4, 1, 2)


@pytest.mark.parametrize("policy", ["stop", "skip", "dead-letter"])
def test_after_a_rebuild_errors_name_places_of_the_new_log(topic: FakeTopic, policy: str, tmp_path: Path) -> None:
    """A bad record that has not changed when its topic is created again may have another offset."""
    put(topic, T3=BAD)
    dead = {"dead_letters": DeadLetterFile(tmp_path / "dead")} if policy == "dead-letter" else {}
    with topic.replica() as replica, Directory(replica, Terminal, on_bad_record=policy, **dead) as terminals:  # type: ignore[call-overload]
        replica.wait_ready(WAIT_S)
        offset = replica.snapshot()["T3"].offset
        wait_until(lambda: terminals._version > 0)
        assert [bad.offset for bad in terminals.bad_records] == [offset]
        with topic.outage():
            topic.recreate()
            put(topic, T3=BAD, T1=row("T1"), T2=row("T2"))
        wait_until(lambda: replica.status().counts.rebuilds == 1 and replica.status().ready)
        wait_until(lambda: terminals._version == replica.snapshot().version)
        place = replica.snapshot()["T3"].offset
        assert place != offset
        assert [bad.offset for bad in terminals.bad_records] == [place]
        assert terminals.error is None or f"offset {place}," in str(terminals.error)


def test_wrong_arguments_are_named_at_once(topic: FakeTopic, tmp_path: Path) -> None:
    """Neither an index by name, nor a position or an instant as text, leads to an error of Python."""
    with topic.replica() as replica, Directory(replica, Terminal) as terminals:
        terminals.wait_ready(WAIT_S)
        with pytest.raises(UsageError, match=r"wait_for\('x'\): give offsets by partition"):
            terminals.wait_for("x", WAIT_S)  # type: ignore[arg-type]
        with pytest.raises(
            ConfigurationError, match=r"'merchant' is not an index; declare MultiValuedIndex\('merchant'\)"
        ):
            Directory(replica, Terminal, indexes={"x": "merchant"})  # type: ignore[dict-item]
        with pytest.raises(ConfigurationError, match=r"give each index a name, such as indexes=\{'acquirer'"):
            Directory(replica, Terminal, indexes=[MultiValuedIndex("merchant")])  # type: ignore[call-overload]
        with pytest.raises(ConfigurationError, match="where='merchant' is not a function of the object; give where="):
            Directory(replica, Terminal, where="merchant", on_bad_record="skip")  # type: ignore[call-overload]
        with pytest.raises(UsageError, match=r"subscribe\(None\): a listener must be a function"):
            terminals.subscribe(None)  # type: ignore[arg-type]
    with VersionHistory(tmp_path / "history") as history:
        for wrong in ("2026-01-01", date(2026, 1, 1), 1.5):
            with pytest.raises(UsageError, match="is not an instant; give a datetime with a time zone"):
                history.at(instant=wrong)  # type: ignore[arg-type]
        with pytest.raises(KafkaReplicaError, match="2020"):
            history.at(instant=datetime(2020, 1, 1, tzinfo=UTC))
