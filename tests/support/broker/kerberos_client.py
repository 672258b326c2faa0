"""A client of confluent-kafka alone, any version: ``kerberos_client.py PROPERTIES_AS_JSON TOPIC VALUE``.

This is not a test but a program that tests start, with a librdkafka that has GSSAPI. It writes one transaction, reads
the topic to its end, and prints the result, or the error.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, KafkaException, Producer, TopicPartition, libversion

_PATIENCE_S = 60.0


def main() -> None:
    """Write, read, and print the result."""
    properties, topic, value = json.loads(sys.argv[1]), sys.argv[2], sys.argv[3]
    error_names: list[str] = []
    properties = {**properties, "log_level": 0, "error_cb": lambda error: error_names.append(error.name())}
    report: dict[str, Any] = {"librdkafka": libversion()[0]}
    try:
        _write(properties, topic, value, error_names)
        report["read"] = _read(properties, topic)
    except KafkaException as error:
        report["error"] = error.args[0].name()
    print(json.dumps({**report, "errors": sorted(set(error_names))}))


def _write(properties: dict[str, Any], topic: str, value: str, error_names: list[str]) -> None:
    producer = Producer({**properties, "transactional.id": topic})
    give_up_s = time.monotonic() + _PATIENCE_S
    while True:
        try:
            producer.init_transactions(1)
            break
        except KafkaException:
            producer.poll(0)
            if "_AUTHENTICATION" in error_names or time.monotonic() > give_up_s:
                raise
    producer.begin_transaction()
    producer.produce(topic, value.encode(), b"key")
    producer.commit_transaction(30)


def _read(properties: dict[str, Any], topic: str) -> list[str]:
    own = {"group.id": topic, "enable.auto.commit": False, "isolation.level": "read_committed"}
    consumer = Consumer({**properties, **own, "enable.partition.eof": True})
    consumer.assign([TopicPartition(topic, 0, OFFSET_BEGINNING)])
    found: list[str] = []
    give_up_s = time.monotonic() + _PATIENCE_S
    while time.monotonic() < give_up_s:
        message = consumer.poll(0.2)
        if message is None:
            continue
        error = message.error()
        if error is None:
            found.append((message.value() or b"").decode())
        elif error.code() == KafkaError._PARTITION_EOF and found:  # the marker may be written after the response
            break
    consumer.close()
    return found


if __name__ == "__main__":
    main()
