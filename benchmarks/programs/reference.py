"""The reference: confluent-kafka at its best measured settings, into a dict of key and value, without any guarantee.

    reference BOOTSTRAP TOPIC

It polls once and then takes the queued records, 500 at a time; the garbage collector is off.
"""

from __future__ import annotations

import gc
import sys
import time
from typing import Any

from confluent_kafka import Consumer, TopicPartition

from benchmarks.programs.common import resident_bytes, tell


def consumer_of(bootstrap: str, topic: str) -> Consumer:
    """Return the consumer at its best settings, at the beginning of all partitions of a topic."""
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap, "group.id": "reference", "enable.auto.commit": False,
            "isolation.level": "read_committed", "enable.partition.eof": True,
            "fetch.queue.backoff.ms": 1, "fetch.wait.max.ms": 10,
        }
    )  # fmt: skip
    partitions = consumer.list_topics(topic, 30).topics[topic].partitions
    consumer.assign([TopicPartition(topic, number, 0) for number in partitions])
    return consumer


def read(bootstrap: str, topic: str) -> dict[bytes, bytes]:
    """Read the whole topic, from its beginning to its end."""
    consumer = consumer_of(bootstrap, topic)
    unread = len(consumer.assignment())
    state: dict[bytes, bytes] = {}
    while True:
        messages: list[Any] = [consumer.poll(60), *consumer.consume(500, 0)]
        for message in messages:
            if message.error() is not None:
                unread -= 1
                if not unread:
                    return state
                continue
            message.offset()
            state[message.key()] = message.value()


def main() -> None:
    """Read the topic, and print how long it took."""
    before_bytes = resident_bytes()
    gc.disable()
    began_s = time.perf_counter()
    state = read(*sys.argv[1:3])
    took_s = time.perf_counter() - began_s
    tell(what="reference", keys=len(state), s=took_s, cpu_s=time.process_time(), rss=resident_bytes() - before_bytes)


if __name__ == "__main__":
    main()
