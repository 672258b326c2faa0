"""G6 for a batch that the broker's disk damaged: its checksum shows it (``check.crcs``), and the policy decides."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

from kafka_replica import BadRecordError, BrokerError, DeadLetterFile, Replica, RocksStore
from kafka_replica.embedded import LocalKafka
from support.broker.durable_tools import config, values
from support.broker.log_tools import folder_of
from support.waiting import wait_until

pytestmark = pytest.mark.broker


@pytest.fixture(scope="module")
def damaged(own_kafka: LocalKafka) -> str:
    """Return a topic of three batches, of which the second is damaged."""
    topic = "damaged"
    own_kafka.create_topic(topic, 1, {"cleanup.policy": "compact"})
    plain = Producer({"bootstrap.servers": own_kafka.bootstrap_servers, "linger.ms": 1000})
    for keys in (["first"], ["second", *(f"beside {number}" for number in range(20))], ["third"]):
        for key in keys:
            plain.produce(topic, key=key, value=f"value of {key}")
        assert plain.flush(20) == 0
    own_kafka.stop()
    log = folder_of(own_kafka, topic) / "00000000000000000000.log"
    data = log.read_bytes()
    assert data.count(b"value of second") == 1
    log.write_bytes(data.replace(b"value of second", b"value of sEcond"))
    own_kafka.start()
    return topic


@pytest.mark.long
def test_a_damaged_batch(own_kafka: LocalKafka, damaged: str, tmp_path: Path) -> None:
    """``stop`` reports the place of a damaged batch; a dead letter names it once, and the other batches are shown."""
    settings = config(own_kafka, check__crcs=True)
    with (
        Replica(settings, damaged, RocksStore(tmp_path / "store"), boundaries="markers") as replica,
        pytest.raises(BadRecordError, match=r"damaged-0, offset 1: its batch") as raised,
    ):
        replica.wait_ready(timeout_s=60)
    assert (raised.value.key, raised.value.offset) == (None, 1)
    letters = DeadLetterFile(tmp_path / "letters")
    for _ in range(2):
        with Replica(
            settings, damaged, RocksStore(tmp_path / "store"), boundaries="markers",
            on_bad_record="dead-letter", dead_letters=letters,
        ) as replica:  # fmt: skip
            replica.wait_ready(timeout_s=60)
            wait_until(lambda replica=replica: len(replica.snapshot()) == 2)  # type: ignore[misc] # a lambda with a default
            assert values(replica.snapshot()) == {"first": "value of first", "third": "value of third"}
            assert [bad.offset for bad in replica.bad_records] == [1]
    letter = json.loads((tmp_path / "letters").read_text(encoding="utf-8"))
    assert (letter["topic"], letter["offset"], letter["key"]) == (damaged, 1, None)
    assert "checksum" in letter["reason"]


@pytest.mark.long
@pytest.mark.parametrize("policy", ["stop", "skip"])
def test_librdkafka_misreads_the_log_after_a_damaged_batch(own_kafka: LocalKafka, damaged: str, policy: Any) -> None:
    """After a damaged batch librdkafka (2.16.1) misreads the log: with quiescence the replica ends in any case."""
    with (
        Replica(config(own_kafka, check__crcs=True), damaged, boundaries="quiescence", on_bad_record=policy) as replica,
        pytest.raises(BrokerError, match=r'(?s)offset 1 .*CRC32C.*boundaries="markers"'),
    ):
        replica.wait_ready(timeout_s=60)


def test_a_consumer_without_checks_returns_the_damaged_batch(own_kafka: LocalKafka, damaged: str) -> None:
    """A consumer that does not check returns the damaged batch: the test above can fail."""
    with Replica(config(own_kafka), damaged, boundaries="markers") as replica:
        found = values(replica.wait_ready(timeout_s=60))
    assert (found["second"], found["beside 19"]) == ("value of sEcond", "value of beside 19")
