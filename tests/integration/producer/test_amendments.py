"""Transactions that cannot be sent: rejected at recording where possible; otherwise skipped or replaced later."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from sqlalchemy import Engine, select

from kafka_replica.cli.groups import kafka_replica
from kafka_replica.embedded import LocalKafka
from kafka_replica.errors import UsageError
from kafka_replica.producer import Change, Delete, ProducerControl, Put, StructureProducer
from kafka_replica.producer.changes.encoding import EncodedValue
from kafka_replica.producer.errors import EncodingError
from kafka_replica.producer.outbox import Mode, Outbox, Status, TransactionKind
from kafka_replica.producer.outbox.cleanup import Cleanup
from kafka_replica.producer.outbox.lease import Lease, LeaseHolder, LeaseLostError
from kafka_replica.producer.outbox.queue import Queue
from kafka_replica.producer.outbox.recorded_transactions import Content
from kafka_replica.producer.outbox.tables import change
from kafka_replica.testing.pytest_plugin import TopicMaker
from support.producer.producer_tools import log_of, mark_sent, settings_of, transactions_of
from support.waiting import wait_until

KEEP = {"min.compaction.lag.ms": "600000"}


def refuse_bad(key: bytes, value: bytes, content_type: str | None, media_type: str) -> EncodedValue | None:
    """Return an encoder that fails on content with ``bad``."""
    if b"bad" in value:
        raise ValueError("it is bad")
    return EncodedValue(value, media_type)


class Relay:
    """The database's side of a relay, which connects and returns the transactions to send."""

    def __init__(self, engine: Engine) -> None:
        self.queue = Queue(engine, "structures")
        self.lease = Lease(engine, "structures", "me", 3600)
        assert self.lease.hold()

    @property
    def incarnation(self) -> str:
        """Return the producer's relay."""
        return self.queue.view().intent.incarnation

    def connect(self, arrived: int) -> None:
        """Apply the requests for transactions after those that have arrived in Kafka."""
        self.queue.apply_requests(self.lease.holder, arrived, incarnation=self.incarnation)

    def would_send(self) -> dict[int, list[Content]]:
        """Return contents by number."""
        return {
            each.tx_id: [Content(*record) for record in self.queue.recorded.contents(each).records]
            for each in self.queue.view().next
        }


@pytest.fixture
def relay(engine: Engine, outbox: Outbox) -> Iterator[Relay]:
    """A relay that holds the lease, with five recorded transactions of which none is sent."""
    with engine.begin() as connection:
        for changes in ([Put("a", b"1")], [Put("b", b"bad"), Put("c", b"2")], [Delete("a")], [Put("d", b"3")]):
            outbox.record(connection, changes)
    made = Relay(engine)
    yield made
    made.lease.release()


def request(engine: Engine, outbox: Outbox, *requests: tuple[Any, ...]) -> None:
    """Request to skip (number, keys) or to replace (number, keys, puts), in one database transaction."""
    with engine.begin() as connection:
        for tx_id, keys, *puts in requests:
            if puts:
                outbox.replace(connection, tx_id, puts[0], reason="mended")
            else:
                outbox.skip(connection, tx_id, keys, reason="useless")


def test_a_skipped_transaction_is_sent_empty_and_kept(engine: Engine, outbox: Outbox, relay: Relay) -> None:
    """A skipped transaction keeps its number; its content is kept for inspection, but is not current content."""
    request(engine, outbox, (2, None))
    assert relay.would_send()[2], "a request changes nothing by itself"
    relay.connect(1)
    sent = relay.would_send()
    assert [*sent] == [1, 2, 3, 4]
    assert sent[2] == []
    assert sent[4] == [Content(b"d", b"3", None)]
    with engine.begin() as connection:
        assert outbox.record(connection, [Put("c", b"2")]) == [5], "c was not sent, so this is not a repetition"
        assert outbox.record_flush(connection) == [6, 7]
    assert sorted(relay.queue.recorded.keys_as_of(7)) == [b"c", b"d"]
    mark_sent(relay.queue, 7)
    while Cleanup(engine, "structures", 0).step():
        pass
    control = ProducerControl(settings_of("localhost:1", "FOO", engine))
    status = control.status()
    assert (status.skipped, status.skipped_records, status.pending, status.failed) == (1, 2, 0, None)
    (listed,) = control.transactions(Status.SKIPPED)
    assert (listed.tx_id, listed.records, listed.kind) == (2, 2, TransactionKind.CHANGES)
    assert {(each.action, each.key, each.state, each.reason) for each in listed.amendments} == {
        ("skip", None, "applied", "useless"), ("skip", "b", "applied", "useless"), ("skip", "c", "applied", "useless"),
    }  # fmt: skip
    assert [(each.key, each.value, each.state) for each in control.records(2)] == [
        (b"b", b"bad", "skipped"), (b"c", b"2", "skipped"),
    ]  # fmt: skip


def test_amending_records_leaves_the_rest_of_the_transaction(engine: Engine, outbox: Outbox, relay: Relay) -> None:
    """The rest of a transaction stays as it is; the earlier content is kept; and it can be amended twice."""
    request(engine, outbox, (2, None, [Put("b", b"worse", "text/plain")]))
    relay.connect(1)
    assert relay.would_send()[2] == [Content(b"b", b"worse", "text/plain"), Content(b"c", b"2", None)]
    request(engine, outbox, (2, None, [Put("b", b"good")]), (2, ["c"]))
    relay.connect(1)
    assert relay.would_send()[2] == [Content(b"b", b"good", None)]
    assert [each.messages for each in relay.queue.view().next] == [1, 1, 1, 1], "as the headers will say"
    with engine.begin() as connection:
        assert outbox.record(connection, [Put("b", b"good")]) == [], "it is the present content now"
    control = ProducerControl(settings_of("localhost:1", "FOO", engine))
    assert [(each.key, each.value, each.state) for each in control.records(2)] == [
        (b"b", b"good", "recorded"), (b"b", b"bad", "replaced"), (b"b", b"worse", "replaced"), (b"c", b"2", "skipped"),
    ]  # fmt: skip
    status = control.status()
    assert (status.skipped, status.skipped_records, status.pending) == (0, 1, 4)


def test_a_transaction_that_has_arrived_is_not_amended(engine: Engine, outbox: Outbox, relay: Relay) -> None:
    """A transaction that arrived by an unanswered commit is not amended: Kafka's state shows that it is too late."""
    request(engine, outbox, (2, None), (4, None))
    relay.connect(2)  # the second one is in Kafka after all
    assert relay.would_send()[4] == []
    mark_sent(relay.queue, 2)
    control = ProducerControl(settings_of("localhost:1", "FOO", engine))
    states = {
        each.tx_id: (each.status, [amendment.state for amendment in each.amendments]) for each in control.transactions()
    }
    assert states[2] == (Status.SENT, ["too late"])
    assert states[4] == (Status.SKIPPED, ["applied", "applied"])
    relay.connect(0)  # the progress topic was deleted, say
    assert [(each.key, each.state) for each in control.records(2)] == [(b"b", "recorded"), (b"c", "recorded")]


def test_nothing_is_amended_without_the_lease(engine: Engine, outbox: Outbox, relay: Relay) -> None:
    """Without the lease nothing is amended: another instance may have sent the transaction meanwhile."""
    request(engine, outbox, (2, None))
    incarnation = relay.incarnation
    relay.lease.release()
    other = Lease(engine, "structures", "other", 3600)
    assert other.hold()
    former = LeaseHolder("me", 1)
    for holder, of in ((None, incarnation), (former, incarnation), (other.holder, "another")):
        with pytest.raises(LeaseLostError):
            relay.queue.apply_requests(holder, 1, incarnation=of)
    assert relay.would_send()[2] == [Content(b"b", b"bad", None), Content(b"c", b"2", None)]


def test_a_flush_is_skipped_with_its_deletions(engine: Engine, outbox: Outbox, relay: Relay) -> None:
    """A skipped flush also skips its deletions: without its content it would delete everything."""
    with engine.begin() as connection:
        assert outbox.record_flush(connection) == [5, 6]
    request(engine, outbox, (5, None))
    relay.connect(0)
    assert relay.would_send()[5] == relay.would_send()[6] == []


def test_an_invalid_amendment_is_rejected_with_advice(engine: Engine, outbox: Outbox, relay: Relay) -> None:
    """An invalid request is rejected with the reason and advice; nothing is written."""
    mark_sent(relay.queue, 1)
    for tx_id, keys, puts, says in (
        (1, None, None, "it was sent; record further changes"),
        (9, None, None, "this transaction does not exist"),
        (2, ["x"], None, r"has no record of x; its keys \(2\): b, c"),
        (2, [], None, "is amended by key"),
        (2, None, [Put("x", b"1")], "has no record of x"),
        (3, None, [Put("a", b"1")], "is of the kind deletions; it can only be skipped"),
        (2, None, [Delete("b")], "a deletion is not content; skip the record"),
    ):
        with pytest.raises(UsageError, match=says):
            request(engine, outbox, (tx_id, keys, *([] if puts is None else [puts])))
    with engine.begin() as connection:
        outbox.resume(connection)
    with pytest.raises(UsageError, match="the producer is running and may be sending it; suspend the producer first"):
        request(engine, outbox, (2, None))
    with engine.begin() as connection:
        outbox.suspend(connection)
    request(engine, outbox, (2, None))
    relay.connect(1)
    with pytest.raises(UsageError, match="it is already skipped"):
        request(engine, outbox, (2, None))


def test_resuming_does_not_take_a_skip_back(engine: Engine, outbox: Outbox, relay: Relay) -> None:
    """After resuming, a failed transaction is pending again; a skipped one is not."""
    request(engine, outbox, (2, None))
    relay.connect(1)
    with engine.begin() as connection:
        outbox.resume(connection)
    assert relay.would_send()[2] == []


def test_content_that_cannot_be_sent_is_not_recorded(engine: Engine) -> None:
    """Content that fails to encode or is too large is not recorded; the caller's transaction can continue."""
    kafka = {"bootstrap.servers": "localhost:1", "max.request.size": 1000}
    settings = settings_of("localhost:1", "FOO", engine, media_type="text/loud", kafka=kafka)
    producer = StructureProducer(settings, encoder=refuse_bad)
    with engine.begin() as connection:
        with pytest.raises(
            EncodingError, match="recording b: it cannot be sent as text/loud: it is bad; it was not rec"
        ):
            producer.record(connection, [Put("a", b"1"), Put("b", b"bad")])
        with pytest.raises(EncodingError, match=r"recording large: .*1,005 bytes.*max.request.size"):
            producer.record(connection, [Put("large", b"x" * 1000)])
        assert producer.record(connection, [Put("a", b"1")]) == [1]
        assert connection.execute(select(change.c.record_key)).scalars().all() == [b"a"]
    with pytest.raises(EncodingError, match="it is bad"):
        producer.replace(1, [Put("a", b"bad")])
    producer.close()


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (Put("a", None), "recording a: its value must be bytes, not NoneType; to delete a key, use a Delete"),  # type: ignore[arg-type]
        (Put("a", "text"), "its value must be bytes, not str"),  # type: ignore[arg-type]
        (Put("a", b"", "text/\nplain"), "its content type must be a media type or None"),
        (Put("a", b"", None, b"short"), "its digest must have 32 bytes"),
        (Put(5, b""), "its key must be str or bytes, not int"),  # type: ignore[arg-type]
        (Delete("\ud800"), "is not text"),
        (("a", b"1"), "each must be a Put or a Delete, not tuple"),
    ],
)
def test_an_amendment_without_effect_is_rejected(wrong: Change, says: str, engine: Engine, outbox: Outbox) -> None:
    """A request without effect is rejected before anything is written."""
    with engine.begin() as connection, pytest.raises(UsageError, match=says):
        outbox.record(connection, [wrong])


def test_an_operator_skips_and_replaces_and_everything_else_arrives_in_order(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path
) -> None:
    """The commands amend, on a real broker, content that was recorded before the encoder failed on it."""
    topic, database = kafka_topic(config=KEEP), f"sqlite:///{tmp_path / 'o.db'}"
    settings = settings_of(local_kafka.bootstrap_servers, topic, database, media_type="text/loud", validate=False)
    file, mended = tmp_path / "producer.toml", tmp_path / "mended"
    mended.write_bytes(b"good")
    file.write_text(f"""
        [producer]
        id = "structures"
        topic = "{topic}"
        database = "{database}"
        [kafka]
        bootstrap.servers = "{local_kafka.bootstrap_servers}"
    """)

    def command(name: str, *more: str) -> str:
        done = CliRunner().invoke(kafka_replica, ["producer", name, "--config", str(file), *more])
        assert done.exit_code == 0, (done.output, done.exception)
        return done.output

    with StructureProducer(settings, encoder=refuse_bad) as producer:
        with producer.engine.begin() as connection:
            for number in range(1, 7):
                puts = [Put(f"k{number}", b"bad" if number in {2, 4, 5} else b"%d" % number), Put("x", b"%d" % number)]
                producer.record(connection, puts)

        def stuck_at(number: int) -> None:
            wait_until(lambda: producer.status().mode is Mode.FAILED, f"it fails at {number}")
            failed = producer.status().failed
            assert failed is not None
            assert failed.tx_id == number
            assert "producer replace, skip" in (failed.error or "")

        stuck_at(2)
        assert "bad" in command("show", "2", "--key", "k2")
        command("skip", "2", "--reason", "nobody needs it")
        command("resume")
        stuck_at(4)
        command("replace", "4", str(mended), "--key", "k4")
        command("skip", "5", "--key", "k5")
        command("resume")
        wait_until(lambda: producer.status().pending == 0, f"all are sent: {producer.status()}")
        shown = CliRunner().invoke(kafka_replica, ["producer", "status", "--config", str(file)]).output
        assert "skipped by request: 1 transaction, 3 records" in shown
        listed = [json.loads(line) for line in command("list", "--status", "skipped", "--json").splitlines()]
        assert [(each["tx_id"], each["status"], each["records"]) for each in listed] == [(2, 5, 2)]
    assert transactions_of(local_kafka.bootstrap_servers, topic) == [(1, 2), (3, 2), (4, 2), (5, 1), (6, 2)]
    found = [(each.key, each.value) for each, _ in log_of(local_kafka.bootstrap_servers, topic)]
    assert found == [
        (b"k1", b"1"), (b"x", b"1"), (b"k3", b"3"), (b"x", b"3"), (b"k4", b"good"), (b"x", b"4"), (b"x", b"5"),
        (b"k6", b"6"), (b"x", b"6"),
    ]  # fmt: skip


def test_a_transaction_is_skipped_while_the_producer_runs(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path
) -> None:
    """The producer is suspended and resumed between two of its queries, and does not notice the suspension."""
    topic, database = kafka_topic(config=KEEP), f"sqlite:///{tmp_path / 'o.db'}"
    settings = settings_of(local_kafka.bootstrap_servers, topic, database)
    with StructureProducer(settings) as producer:
        with producer.engine.begin() as connection:
            producer.record(connection, [Put("a", b"1")])
        wait_until(lambda: producer.status().pending == 0, "1 is sent")
        with producer.engine.begin() as connection:
            producer.record(connection, [Put("a", b"2")])
            producer.outbox.suspend(connection)
            producer.outbox.skip(connection, 2, reason="useless")
            producer.outbox.resume(connection)
            producer.record(connection, [Put("a", b"3")])
        wait_until(lambda: producer.status().pending == 0, "the others are sent")
        assert producer.status().skipped == 1
    assert [record.value for record, _ in log_of(local_kafka.bootstrap_servers, topic)] == [b"1", b"3"]
