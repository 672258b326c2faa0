"""Header names that are not UTF-8 on a real broker, which does not check them: they are read, and never damage."""

from __future__ import annotations

from pathlib import Path

import pytest
from aiokafka.record.util import calc_crc32c
from confluent_kafka import Message, Producer

from kafka_replica import Record, Replica, RocksStore
from kafka_replica.broker.reading import consumer
from kafka_replica.embedded import LocalKafka
from kafka_replica.errors import DataError
from kafka_replica.producer import DeadLetterTopic
from support.broker.durable_tools import config, values
from support.broker.log_tools import folder_of
from support.waiting import wait_until

pytestmark = [pytest.mark.broker, pytest.mark.long]

ODD = b"Gr\xf6\xdfe"
_CRC, _FIRST_OF_CRC = slice(17, 21), 21


@pytest.fixture(scope="module")
def topic(own_kafka: LocalKafka) -> str:
    """Return a topic of two batches: one with the key k, and one with k, a second key, and a header with an odd name.

    The client sends UTF-8 only, so the name, of equal length, and the checksum are written into the log.
    """
    name = "odd-names"
    own_kafka.create_topic(name, 1, {"cleanup.policy": "compact"})
    plain = Producer({"bootstrap.servers": own_kafka.bootstrap_servers, "linger.ms": 1000})
    plain.produce(name, key="k", value="old")
    assert plain.flush(20) == 0
    plain.produce(name, key="k", value="new")
    plain.produce(name, key="other", value="x", headers=[("Gr__e", b"1"), ("größe", b"2")])
    assert plain.flush(20) == 0
    own_kafka.stop()
    log = folder_of(own_kafka, name) / "00000000000000000000.log"
    data = log.read_bytes()
    at = 12 + int.from_bytes(data[8:12], "big")  # the second batch
    batch = bytearray(data[at:].replace(b"Gr__e", ODD))
    batch[_CRC] = calc_crc32c(bytes(batch[_FIRST_OF_CRC:])).to_bytes(4, "big")
    log.write_bytes(data[:at] + batch)
    own_kafka.start()
    return name


def test_an_odd_name_is_read_and_stored(own_kafka: LocalKafka, topic: str, tmp_path: Path) -> None:
    """The batch replaces the old record of its key, and a store keeps the name over a restart."""
    expected = ((ODD.decode(errors="surrogateescape"), b"1"), ("größe", b"2"))
    for _ in range(2):
        with Replica(config(own_kafka, check__crcs=True), topic, RocksStore(tmp_path), boundaries="markers") as replica:
            snapshot = replica.wait_ready(timeout_s=60)
            assert values(snapshot) == {"k": "new", "other": "x"}
            assert snapshot["other"].headers == expected


def test_an_odd_name_in_a_dead_letter(own_kafka: LocalKafka, topic: str) -> None:
    """The letter has the name with escapes, because the client can send no other form."""

    def refuse_others(record: Record) -> None:
        if record.key == b"other":
            raise ValueError("not wanted: \udcf6")

    own_kafka.create_topic("letters-of-odd-names", 1, {"cleanup.policy": "delete"})
    letters = DeadLetterTopic(config(own_kafka), "letters-of-odd-names")
    with Replica(
        config(own_kafka), topic, boundaries="markers", validator=refuse_others,
        on_bad_record="dead-letter", dead_letters=letters,
    ) as replica:  # fmt: skip
        assert values(replica.wait_ready(timeout_s=60)) == {"k": "new"}
    with Replica(config(own_kafka), "letters-of-odd-names", boundaries="markers") as replica:
        wait_until(lambda: replica.ready and len(replica.snapshot()) == 1)
        headers = dict(replica.snapshot()["other"].headers)
    assert headers[r"Gr\udcf6\udcdfe"] == b"1"
    assert headers["__connect.errors.exception.message"] == rb"ValueError: not wanted: \udcf6"


def test_the_consumer_reports_a_name_that_it_cannot_return(own_kafka: LocalKafka, topic: str) -> None:
    """With quiescence the replica ends, and names the record and the other way to read.

    Also after many records, when Python has specialized the calls.
    """
    for _ in range(1_000):
        consumer._record(Message(topic="t", partition=0, offset=0, key=b"k", value=b"v", headers=[("a", b"1")]))
    with (
        Replica(config(own_kafka), topic, boundaries="quiescence") as replica,
        pytest.raises(DataError, match=r'reading odd-names-0, offset 2: the name of a header .*boundaries="markers"'),
    ):
        replica.wait_ready(timeout_s=60)
