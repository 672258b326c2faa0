"""Replicas with a header stack: readers see what the application wrote, and bad records name the piece."""

from __future__ import annotations

import asyncio
import gc
import json
import socket
import time
from base64 import b64encode
from pathlib import Path

import pytest

from kafka_replica import (
    BadRecordError,
    DeadLetterFile,
    MemoryStore,
    Partition,
    Record,
    RocksStore,
    State,
    Store,
    WaitTimeoutError,
)
from kafka_replica.aio import AsyncReplica
from kafka_replica.headers import PieceError, PieceInput, PieceOutput, ServiceUnavailableError, Stack
from kafka_replica.headers.pieces import CachedRegistryClient, RegistrySchemas
from kafka_replica.replication.record_filter import RecordFilter
from kafka_replica.testing import FakeTopic
from support.headers.small_pieces import Suffix, Unavailable
from support.waiting import wait_until

pytestmark = pytest.mark.thorough

PATIENCE_S = 60
STACK = Stack([Suffix("x"), Suffix("y")])


def written(topic: FakeTopic, **records: bytes | None) -> None:
    """Write records through the stack, in one transaction."""
    with topic.producer(header_stack=STACK).transaction() as transaction:
        for key, value in records.items():
            if value is None:
                transaction.delete(key)
            else:
                transaction.put(key, value, (("mine", b"1"),))


def test_readers_see_values_before_the_stack() -> None:
    """The stack is undone for values, headers and deletions; the log itself holds the transformed records."""
    topic = FakeTopic()
    written(topic, a=b"1", b=b"2")
    with topic.replica(header_stack=STACK) as replica:
        record = replica.wait_ready(PATIENCE_S)["a"]
        assert (record.value, record.headers) == (b"1", (("mine", b"1"),))
        written(topic, a=None)
        assert set(replica.wait_for(topic.end(), PATIENCE_S)) == {b"b"}
    assert topic.records()[0].value == b"1xy"


def test_an_asynchronous_replica() -> None:
    """An asynchronous replica of a replica with a stack reads the same."""
    topic = FakeTopic()
    written(topic, a=b"1")

    async def value() -> bytes | None:
        async with AsyncReplica(topic.replica(header_stack=STACK)) as replica:
            return (await replica.wait_ready(PATIENCE_S))["a"].value

    assert asyncio.run(value()) == b"1"


def test_a_validator_gets_the_record_after_the_stack() -> None:
    """A validator gets the record after the stack; what it refuses is kept as it was in the log."""
    topic = FakeTopic()
    written(topic, a=b"1")
    seen: list[bytes | None] = []

    def refuse(record: object) -> None:
        seen.append(record.value)  # type: ignore[attr-defined]
        raise ValueError("no")

    with topic.replica(header_stack=STACK, validator=refuse, on_bad_record="skip") as replica:
        assert not replica.wait_ready(PATIENCE_S)
        assert seen == [b"1"]
        refused = replica.bad_records[0].record
        assert isinstance(refused, Record)
        assert refused.value == b"1xy"


def test_a_bad_record_stops_the_replica() -> None:
    """The error of the replica names record and piece."""
    topic = FakeTopic()
    topic.put("a", b"not suffixed")
    with (
        topic.replica(header_stack=STACK) as replica,
        pytest.raises(BadRecordError, match=r"fake-0, offset 0, key 'a': the header piece 'suffix-y' refused it"),
    ):
        replica.wait_ready(PATIENCE_S)


def test_a_dead_letter_holds_the_original(tmp_path: Path) -> None:
    """A dead letter has value and headers as they were in the log; the key is absent until a good record arrives."""
    topic = FakeTopic()
    topic.put("a", b"1x", (("suffix-y", b"?"), ("mine", b"1")))
    letters = DeadLetterFile(tmp_path / "letters")
    with topic.replica(header_stack=STACK, on_bad_record="dead-letter", dead_letters=letters) as replica:
        assert not replica.wait_ready(PATIENCE_S)
        (letter,) = map(json.loads, (tmp_path / "letters").read_text().splitlines())
        assert letter["value_base64"] == b64encode(b"1x").decode()
        assert [name for name, _ in letter["headers"]] == ["suffix-y", "mine"]
        assert "'suffix-y'" in letter["reason"]
        written(topic, a=b"2")
        assert replica.wait_for(topic.end(), PATIENCE_S)["a"].value == b"2"
        assert not replica.bad_records


def test_a_refused_deletion_is_a_bad_record() -> None:
    """A tombstone that a piece refuses is reported like any other record; its key is absent, as after compaction."""
    topic = FakeTopic()
    written(topic, a=b"1")
    topic.delete("a")
    with topic.replica(header_stack=STACK, on_bad_record="skip") as replica:
        assert not replica.wait_ready(PATIENCE_S)
        assert [bad.key for bad in replica.bad_records] == [b"a"]


def test_a_refused_record_aborts_its_transaction() -> None:
    """A record that a piece refuses on the producing side raises, and its transaction is not visible."""
    topic = FakeTopic()
    producer = topic.producer(header_stack=Stack([Suffix("x")]))

    def publish() -> None:
        with producer.transaction() as transaction:
            transaction.put("a", b"1")
            transaction.put("b", "text")  # type: ignore[arg-type]

    with pytest.raises(PieceError, match="suffix-x"):
        publish()
    assert not topic.records()


@pytest.mark.parametrize("is_durable", [False, True], ids=["checkpoint", "rocksdb"])
def test_a_store_of_another_stack_is_rebuilt(tmp_path: Path, is_durable: bool) -> None:
    """A store continues with the same stack, and is rebuilt with another one: nothing of the old one is left."""
    topic = FakeTopic()
    written(topic, a=b"1")

    def store() -> Store:
        return RocksStore(tmp_path / "store") if is_durable else MemoryStore(checkpoint=tmp_path / "file")

    def value(stack: Stack | None) -> tuple[bytes | None, int]:
        with topic.replica(store(), header_stack=stack) as replica:
            return replica.wait_ready(PATIENCE_S)["a"].value, replica.status().counts.records

    assert value(STACK) == (b"1", 1)
    assert value(Stack([Suffix("x"), Suffix("y")])) == (b"1", 0)  # continued: nothing was read again
    assert value(None) == (b"1xy", 1)
    assert value(Stack()) == (b"1xy", 0)  # an empty stack is the same as none
    assert value(Stack([Suffix("y")])) == (b"1x", 1)


def test_an_empty_stack_leaves_the_fast_path() -> None:
    """Without a stack, or with an empty one, records pass the filter as a whole, without a step for each."""
    assert RecordFilter(header_stack=None).is_open
    assert RecordFilter(header_stack=Stack()).is_open
    assert not RecordFilter(header_stack=STACK).is_open


class Counting(Suffix):
    """A piece that counts the records that it reads."""

    def __init__(self) -> None:
        super().__init__("x")
        self.count = 0

    def incoming(self, record: PieceInput) -> PieceOutput:
        """Count the record."""
        self.count += 1
        return super().incoming(record)


def test_a_replica_waits_for_a_service_and_continues(caplog: pytest.LogCaptureFixture) -> None:
    """The state is stalled and names the record, one line is logged, and no good record is set aside."""
    topic, service, counting = FakeTopic("keys"), Unavailable(), Counting()
    service.is_away = False
    stack = Stack([service, counting])
    with topic.replica(header_stack=stack, on_bad_record="skip", stalled_after_s=0.5) as replica:
        with topic.producer(header_stack=stack).transaction() as transaction:
            transaction.put("a", b"1")
        assert replica.wait_for(topic.end(), PATIENCE_S)["a"].value == b"1"
        service.is_away = True
        with topic.producer(header_stack=stack).transaction() as transaction:
            transaction.put("a", b"2")
            transaction.put("b", b"2")
        where = "reading the record at keys-0, offset 2, key 'a': the key service does not answer"
        wait_until(lambda: replica.state is State.STALLED, "the replica is stalled")
        wait_until(lambda: where in (replica.status().last_error or ""), "the status names the record")
        wait_until(lambda: counting.count == 2, "the other piece has undone its part, once")
        time.sleep(2.5)  # more attempts
        assert gc.isenabled(), "the garbage collector works meanwhile"
        assert counting.count == 2, "only the piece that failed is called again"
        assert replica.snapshot()["a"].value == b"1", "the version from before remains"
        service.is_away = False
        assert replica.wait_for(topic.end(), PATIENCE_S)["b"].value == b"2"
        wait_until(lambda: replica.state is State.LIVE, "the replica is live again")
        assert replica.status().last_error is None
        assert not replica.bad_records
        assert gc.isenabled()
    lines = [each.getMessage() for each in caplog.records if "service" in each.getMessage()]
    assert lines == [
        f"{where}; retrying", "the service for keys or schemas answers again; the replica of keys continues"
    ]  # fmt: skip


def test_a_replica_that_waits_for_a_service_closes_promptly(tmp_path: Path) -> None:
    """Closing does not wait for the service; the next start reads the records."""
    topic, service = FakeTopic(), Unavailable()
    stack = Stack([service])
    written(topic, a=b"1")
    with topic.replica(RocksStore(tmp_path), header_stack=stack) as replica:
        with pytest.raises(WaitTimeoutError, match="the key service does not answer"):
            replica.wait_ready(1)
        began_s = time.monotonic()
        replica.close()
        assert time.monotonic() - began_s < 5
    service.is_away = False
    with topic.replica(RocksStore(tmp_path), header_stack=stack) as replica:
        assert replica.wait_ready(PATIENCE_S)["a"].value == b"1xy"


def test_a_service_that_refuses_a_new_replica_ends_it() -> None:
    """Wrong credentials are reported at once, instead of an endless wait."""
    topic, service = FakeTopic("keys"), Unavailable()
    service.refuses = True
    written(topic, a=b"1")
    with (
        topic.replica(header_stack=Stack([service]), on_bad_record="skip") as replica,
        pytest.raises(ServiceUnavailableError, match=r"^reading the record at keys-0, offset 0, key 'a': the key"),
    ):
        replica.wait_ready(PATIENCE_S)
    assert replica.state is State.STOPPED
    assert not replica.bad_records
    assert gc.isenabled()


def test_a_tombstone_that_needs_no_service_is_no_answer_of_it() -> None:
    """The oldest record of a compacted topic is often a tombstone; wrong credentials are still reported at once."""
    topic, service = FakeTopic("keys"), Unavailable()
    service.refuses = service.only_values = True
    with topic.transaction() as transaction:
        transaction.delete("gone")
    written(topic, a=b"1")
    with (
        topic.replica(header_stack=Stack([service])) as replica,
        pytest.raises(ServiceUnavailableError, match=r"^reading the record at keys-0, offset 2, key 'a'"),
    ):
        replica.wait_ready(PATIENCE_S)


def test_a_refusal_during_a_rebuild_is_waited_for() -> None:
    """The service has answered before the topic was created again; a restart of servers may cause both."""
    topic, service = FakeTopic(), Unavailable()
    service.is_away, service.refuses = False, True
    written(topic, a=b"1")
    with topic.replica(header_stack=Stack([service])) as replica:
        replica.wait_for(topic.end(), PATIENCE_S)
        service.is_away = True
        topic.recreate()
        written(topic, b=b"2")
        wait_until(lambda: "key service" in (replica.status().last_error or ""), "the status has the refusal")
        time.sleep(0.2)
        assert replica.state not in {State.FAILED, State.STOPPED}
        service.is_away = False
        wait_until(lambda: "b" in replica.snapshot(), "the replica continues")


def test_a_service_that_refuses_later_is_waited_for() -> None:
    """A refusal after the first record may be temporary, as when credentials are replaced."""
    topic, service = FakeTopic(), Unavailable()
    service.is_away, service.refuses = False, True
    stack = Stack([service])
    with topic.replica(header_stack=stack) as replica:
        with topic.producer(header_stack=stack).transaction() as transaction:
            transaction.put("a", b"1")
        replica.wait_for(topic.end(), PATIENCE_S)
        service.is_away = True
        with topic.producer(header_stack=stack).transaction() as transaction:
            transaction.put("a", b"2")
        wait_until(lambda: "key service" in (replica.status().last_error or ""), "the status has the refusal")
        assert replica.state is State.LIVE
        service.is_away = False
        assert replica.wait_for(topic.end(), PATIENCE_S)["a"].value == b"2"


def test_a_replica_whose_registry_accepts_connections_only_closes_promptly(tmp_path: Path) -> None:
    """Closing waits for one request, which is short also with several URLs."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        registry = CachedRegistryClient({"url": ",".join([url] * 3)}, tmp_path / "schemas")
        topic = FakeTopic()
        with topic.transaction() as transaction:
            transaction.put("a", b"\0\0\0\0\7x")
        piece = RegistrySchemas(lambda _value, _context: registry.get_schema(7), bytes)
        with topic.replica(header_stack=Stack([piece])) as replica:
            wait_until(lambda: "does not answer" in (replica.status().last_error or ""), "one request has failed")
            time.sleep(1.2)  # the next request has begun
            began_s = time.monotonic()
            replica.close()
            assert time.monotonic() - began_s < 6


def test_without_a_replica_the_error_of_the_service_is_raised() -> None:
    """A filter without a wait names the record; a stack on its own raises the error as it is."""
    record_filter = RecordFilter(header_stack=Stack([Unavailable()]))
    records = [(b"a", b"1", 7, 0, ())]
    with pytest.raises(ServiceUnavailableError, match=r"^reading the record at t-0, offset 7, key 'a': the key"):
        record_filter._filter(Partition("t", 0), records)
    with pytest.raises(ServiceUnavailableError, match=r"^the key service"):
        Stack([Unavailable()]).incoming(b"a", b"1")
