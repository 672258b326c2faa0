"""How fast a replica is ready, as a ratio to the tuned reference loop in the same run.

The reference reads the same topic with confluent-kafka at its best measured settings (poll once, then what is
queued, 500 at a time) into a dict of key and value, and keeps no promise. Each measurement is a process of its
own; rounds interleave. One JSON line a measurement, and one of medians. Run alone: ``make bench``.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from itertools import islice

from kafka_replica.embedded import LocalKafka
from kafka_replica.producer import TransactionalProducer

TOPIC = "bench"

REFERENCE = """
import gc, json, sys, time
from confluent_kafka import Consumer, TopicPartition
gc.disable()
began = time.perf_counter()
consumer = Consumer({
    "bootstrap.servers": sys.argv[1], "group.id": "reference", "enable.auto.commit": False,
    "isolation.level": "read_committed", "enable.partition.eof": True,
    "fetch.queue.backoff.ms": 1, "fetch.wait.max.ms": 10,
})
consumer.assign([TopicPartition(sys.argv[2], 0, 0)])
state, done = {}, False
while not done:
    for message in [consumer.poll(5), *consumer.consume(500, 0)]:
        if message.error() is not None:
            done = True
            break
        message.offset()
        state[message.key()] = message.value()
print(json.dumps({"what": "reference", "keys": len(state), "s": time.perf_counter() - began}))
"""

REPLICA = """
import json, os, sys, time
from kafka_replica import Replica
began = time.perf_counter()
replica = Replica({"bootstrap.servers": sys.argv[1]}, sys.argv[2]).start()
snapshot = replica.wait_ready(120)
print(json.dumps({"what": "replica", "keys": len(snapshot), "s": time.perf_counter() - began}), flush=True)
os._exit(0)
"""


def fill(bootstrap: str, records: int, value_bytes: int) -> None:
    """Writes the topic: 66-byte keys, incompressible values, 100 records a transaction."""
    producer = TransactionalProducer({"bootstrap.servers": bootstrap, "compression.type": "none"}, TOPIC, "bench")
    numbers = iter(range(records))
    while batch := list(islice(numbers, 100)):
        with producer.transaction() as transaction:
            for number in batch:
                transaction.put(b"%066d" % number, os.urandom(value_bytes))
    producer.wait_visible(transaction.committed)


def measure(code: str, bootstrap: str) -> dict[str, float]:
    """One process, its JSON line."""
    done = subprocess.run([sys.executable, "-c", code, bootstrap, TOPIC], capture_output=True, text=True, check=True)
    line: dict[str, float] = json.loads(done.stdout)
    sys.stdout.write(done.stdout)
    sys.stdout.flush()
    return line


def main() -> None:
    """Fills a topic on a broker of its own, measures, prints ratios (higher is faster)."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=500_000)
    parser.add_argument("--value-bytes", type=int, default=1024)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with LocalKafka(heap_mb=512) as kafka:
        kafka.create_topic(TOPIC, config={"cleanup.policy": "compact"})
        fill(kafka.bootstrap_servers, options.records, options.value_bytes)
        ratios = []
        for _ in range(options.rounds):
            reference, replica = (measure(code, kafka.bootstrap_servers) for code in (REFERENCE, REPLICA))
            if reference["keys"] != replica["keys"]:
                sys.exit(f"the two disagree: {reference} and {replica}")
            ratios.append(reference["s"] / replica["s"])
    summary = {"figure": "bootstrap against the reference", "median": round(statistics.median(ratios), 2)}
    sys.stdout.write(json.dumps({**summary, "ratios": [round(ratio, 2) for ratio in ratios]}) + "\n")


if __name__ == "__main__":
    main()
