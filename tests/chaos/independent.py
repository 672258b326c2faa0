"""A reader without code of kafka_replica, for the content of the topic at the end."""

from __future__ import annotations

import logging
import time
from math import inf
from typing import Any

from confluent_kafka import OFFSET_BEGINNING, Consumer, IsolationLevel, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

from chaos.hanging import abort_open
from kafka_replica.errors import BrokerUnavailableError, WaitTimeoutError

_log = logging.getLogger(__name__)
_LATEST: OffsetSpec = OffsetSpec.latest()


def wait_decided(
    bootstrap: str, topic: str, partitions: int, timeout_s: float, *, abort_after_s: float | None = None
) -> dict[int, int]:
    """Wait until no transaction is open; return each partition's end.

    Args:
        bootstrap: the brokers.
        topic: the topic.
        partitions: how many it has.
        timeout_s: how long to wait at most, in seconds.
        abort_after_s: abort what is still open after this time, above the timeout of transactions, in seconds.

    Raises:
        WaitTimeoutError: a transaction is still open.
    """
    # librdkafka would use a former leader for a quarter of an hour.
    admin = AdminClient({"bootstrap.servers": bootstrap, "metadata.max.age.ms": 1000, "log_level": 0})
    began_s = time.monotonic()
    abort_s = inf if abort_after_s is None else began_s + abort_after_s
    stable: dict[int, int] = {}
    high: dict[int, int] = {}
    while time.monotonic() < began_s + timeout_s:
        try:
            if time.monotonic() > abort_s:
                abort_s += 10
                _log.warning("Kafka left transactions hanging, aborted: %s", abort_open(admin, topic, partitions))
            stable = _ends(admin, topic, partitions, IsolationLevel.READ_COMMITTED)
            high = _ends(admin, topic, partitions, IsolationLevel.READ_UNCOMMITTED)
        except (KafkaException, OSError):  # a leader that has just restarted
            stable = {}
        if stable and stable == high and min(high.values()) >= 0:
            return high
        time.sleep(0.1)
    raise WaitTimeoutError(
        f"{topic} is not decided after {timeout_s} s, though its writers have ended: stable {stable}, end {high}"
    )


def _ends(admin: AdminClient, topic: str, partitions: int, level: IsolationLevel) -> dict[int, int]:
    places = {number: TopicPartition(topic, number) for number in range(partitions)}
    offsets = admin.list_offsets(dict.fromkeys(places.values(), _LATEST), isolation_level=level, request_timeout=10)
    return {number: offsets[place].result(15).offset for number, place in places.items()}


def read(bootstrap: str, topic: str, partitions: int) -> dict[str, Any]:
    """Return the topic from beginning to end, in the form of ``replicas.end_of``, and the number of its records.

    Raises:
        BrokerUnavailableError: no response for a long time.
    """
    reader = Consumer({
        "bootstrap.servers": bootstrap, "group.id": "independent", "isolation.level": "read_committed",
        "enable.auto.commit": False, "enable.partition.eof": True, "log_level": 0,
    })  # fmt: skip
    reader.assign([TopicPartition(topic, number, OFFSET_BEGINNING) for number in range(partitions)])
    state: dict[str, list[Any]] = {}
    records = 0
    at_end: set[int | None] = set()
    try:
        while len(at_end) < partitions:
            message = reader.poll(30)
            if message is None:
                raise BrokerUnavailableError(f"reading {topic} independently: nothing was heard in 30 s")
            error, key, value = message.error(), message.key() or b"", message.value()
            if error is None:
                records += 1
                state.pop(key.hex(), None)
                if value is not None:
                    state[key.hex()] = [value.hex(), message.partition(), message.offset()]
            elif error.code() == KafkaError._PARTITION_EOF:
                at_end.add(message.partition())
    finally:
        reader.close()
    return {"state": state, "records": records}
