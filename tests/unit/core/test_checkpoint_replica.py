"""A replica whose memory store has a checkpoint file."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_replica import KeyFilter, Record
from kafka_replica.errors import StoreDamagedError
from kafka_replica.testing import FakeTopic
from support.core.checkpoint_tools import PATIENCE_S, damage, opened, opened_and_closed
from support.core.store_contract import values
from support.waiting import wait_until


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a path for a checkpoint file."""
    return tmp_path / "state"


def test_a_restarted_replica_continues_from_its_saved_state(path: Path) -> None:
    """A restarted replica shows its saved state, reads only new records, and continues the version numbers."""
    topic = FakeTopic(partitions=2)
    for number in range(50):
        topic.put(f"k{number}", b"1", partition=number % 2)
    with topic.replica(opened(path)) as replica:
        version = replica.wait_for(topic.end(), PATIENCE_S).version
        assert replica.status().counts.records >= 50
        incarnation = replica.incarnation
    topic.put("k7", b"2", partition=1)
    topic.delete("k8", partition=0)
    with topic.replica(opened(path)) as replica:
        snapshot = replica.wait_ready(PATIENCE_S)
        assert values(snapshot) == {record.key: record.value for record in alive(topic)}
        assert dict(snapshot) == {record.key: record for record in alive(topic)}
        wait_until(lambda: replica.status().counts.records == 2)
        assert snapshot.version > version
        assert replica.incarnation != incarnation
    with topic.replica(opened(path)) as replica:
        assert replica.wait_ready(PATIENCE_S).version == snapshot.version
        assert replica.status().counts.records == 0


def alive(topic: FakeTopic) -> list[Record]:
    """Return the newest record of each key."""
    newest = {record.key: record for record in topic.records()}
    return [record for record in newest.values() if record.value is not None]


def test_a_version_from_before_is_shown_while_there_is_no_broker_to_catch_up_with(path: Path) -> None:
    """Without a broker the saved version is shown; a crash costs only the time to read later records again."""
    topic = FakeTopic()
    topic.put("a", b"1")
    with topic.replica(opened(path)) as replica:
        replica.wait_ready(PATIENCE_S)
    crashed = path.read_bytes()
    topic.put("a", b"2")
    with topic.replica(opened(path)) as replica:
        assert replica.wait_ready(PATIENCE_S)["a"].value == b"2"
    path.write_bytes(crashed)  # as if it had never been closed
    topic.put("b", b"3")
    with topic.replica(opened(path)) as replica:
        assert values(replica.wait_ready(PATIENCE_S)) == {b"a": b"2", b"b": b"3"}


def test_a_topic_that_was_made_again(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Nothing of a deleted topic is shown after it was created again, though its offsets would fit."""
    topic = FakeTopic()
    topic.put("ghost", b"1")
    with topic.replica(opened(path)) as replica:
        replica.wait_ready(PATIENCE_S)
    topic.recreate()
    topic.put("a", b"2")
    topic.put("b", b"2")
    with topic.replica(opened(path)) as replica:
        assert values(replica.wait_ready(PATIENCE_S)) == {b"a": b"2", b"b": b"2"}
        assert "rebuilt" in caplog.text
    assert values(opened_and_closed(path).snapshot()) == {b"a": b"2", b"b": b"2"}


def test_a_file_of_another_filter_is_not_continued(path: Path) -> None:
    """A file saved with another filter is not continued."""
    topic = FakeTopic()
    topic.put("a", b"1")
    topic.put("b", b"1")
    with topic.replica(opened(path)) as replica:
        replica.wait_ready(PATIENCE_S)
    with topic.replica(opened(path), key_filter=KeyFilter.prefix("a")) as replica:
        assert values(replica.wait_ready(PATIENCE_S)) == {b"a": b"1"}


@pytest.mark.parametrize("part", ["header", "record"])
@pytest.mark.thorough
def test_a_replica_with_a_damaged_file(path: Path, part: str, caplog: pytest.LogCaptureFixture) -> None:
    """A damaged file is rebuilt, at the start or when the damaged record is read; damaged data is never shown."""
    topic = FakeTopic()
    topic.put("a", b"first value")
    topic.put("b", b"1")
    with topic.replica(opened(path)) as replica:
        replica.wait_for(topic.end(), PATIENCE_S)
    if part == "header":
        path.write_bytes(path.read_bytes()[:20])
    else:
        damage(path, b"first value")
    with topic.replica(opened(path)) as replica:
        snapshot = replica.wait_ready(PATIENCE_S)
        if part == "record":
            with pytest.raises(StoreDamagedError):
                snapshot.get("a")
            wait_until(lambda: replica.status().counts.rebuilds == 1 and replica.status().ready)
        assert values(replica.snapshot()) == {b"a": b"first value", b"b": b"1"}
        wait_until(lambda: replica.status().counts.records == 2)
        assert replica.status().counts.rebuilds == 1
    assert "rebuilt" in caplog.text
    assert values(opened_and_closed(path).snapshot()) == {b"a": b"first value", b"b": b"1"}
