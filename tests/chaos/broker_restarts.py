"""Measure what Kafka itself does to transactions while its brokers are restarted or killed.

    python -m chaos.broker_restarts --brokers 3 --fault restart --times 30

Four plain confluent-kafka producers commit small transactions to every partition of one topic, without a pause. One
broker at a time is restarted in an orderly way (SIGTERM), or killed and started again. Afterwards the log itself is
examined, batch by batch and marker by marker; neither a replica nor the reference producer takes part.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from confluent_kafka import KafkaException, Producer

from chaos.cluster import Cluster
from chaos.history import History, Journal, Outcome
from chaos.log_witness import LogWitness, cut_by_kafka
from chaos.plan import name
from chaos.writers import BY
from kafka_replica.broker.admin.topics import Topics
from kafka_replica.records import Partition

TOPIC = "measured"
_ANSWER_S = 30.0
_DECIDED_S = 30.0
_KEPT = {"cleanup.policy": "delete", "retention.ms": "-1"}


@dataclass
class Measured:
    """The result of one measurement.

    Attributes:
        outcomes: transactions by what their producers were told.
        torn: transactions that Kafka ended differently in different partitions, or not at all in some, with the reason.
        acknowledged_torn: how many of these had been acknowledged as committed.
        hanging: partitions in which a transaction was still open when all producers had ended.
    """

    outcomes: Counter[Outcome]
    torn: dict[str, str]
    acknowledged_torn: int
    hanging: list[Partition] = field(default_factory=list)


class _Committer(threading.Thread):
    """Commit one transaction after the other until stopped; a new producer follows each failure."""

    def __init__(self, bootstrap: str, number: int, partitions: int, folder: Path) -> None:
        super().__init__(name=f"committer {number}", daemon=True)
        self.path = folder / f"writer-{number}.jsonl"
        self._journal = Journal(self.path)
        self._number, self._partitions = number, partitions
        self._settings: dict[str, Any] = {
            "bootstrap.servers": bootstrap, "transactional.id": f"measured-{number}", "linger.ms": 0, "log_level": 0,
            "reconnect.backoff.max.ms": 500,
        }  # fmt: skip
        self.ending = threading.Event()

    def run(self) -> None:
        """Commit transactions."""
        transaction = 0
        while not self.ending.is_set():
            try:
                producer = Producer(self._settings)
                producer.init_transactions(_ANSWER_S)
                while not self.ending.is_set():
                    transaction += 1
                    self._commit(producer, transaction)
            except KafkaException as error:
                self._journal.write("trouble", error=str(error))
                self.ending.wait(0.1)

    def _commit(self, producer: Producer, number: int) -> None:
        self._journal.write("begin", number=number, puts=[], deletes=[])
        producer.begin_transaction()
        for partition in range(self._partitions):
            producer.produce(TOPIC, b"v", b"k", partition, headers={BY: name(self._number, number)})
        if producer.flush(_ANSWER_S):
            self._journal.write("abort", number=number)
            producer.abort_transaction(_ANSWER_S)
            return
        self._journal.write("commit", number=number, offsets={})
        producer.commit_transaction(_ANSWER_S)
        self._journal.write("committed", number=number)


def measure(brokers: int, fault: str, times: int, partitions: int, rest_s: float) -> Measured:
    """Run one measurement.

    Args:
        brokers: 1, or 3 with replication 3 and ``min.insync.replicas`` 2.
        fault: ``restart`` (SIGTERM) or ``kill`` (SIGKILL); the broker is started again immediately.
        times: the number of faults.
        partitions: the number of partitions of the topic.
        rest_s: seconds between a broker's return and the next fault.

    Raises:
        KafkaReplicaError: a broker did not come up again.
    """
    with tempfile.TemporaryDirectory() as made, Cluster(brokers) as cluster:
        folder = Path(made)
        cluster.create_topic(TOPIC, partitions, _KEPT)
        witness = LogWitness(cluster.bootstrap, TOPIC, folder / "log.jsonl")
        with _committing(cluster.bootstrap, partitions, folder) as committers:
            for number in range(times):
                time.sleep(rest_s)
                broker = cluster.brokers[number % brokers]
                if fault == "restart":
                    broker.restart()
                else:
                    broker.kill()
                    broker.start()
                sys.stdout.write(f"{fault} {number + 1} of {times}\n")
                sys.stdout.flush()
            time.sleep(rest_s)
        hanging = _hanging(cluster.bootstrap, partitions)
        time.sleep(1)  # the witness reads on
        witness.close()
        history = History.read([each.path for each in committers])
        torn = cut_by_kafka(folder / "log.jsonl", history)
        ended = {each: history.find(each) for each in torn}
        acknowledged = sum(each is not None and each.outcome is Outcome.COMMITTED for each in ended.values())
        return Measured(history.counts(), torn, acknowledged, hanging)


@contextmanager
def _committing(bootstrap: str, partitions: int, folder: Path) -> Iterator[list[_Committer]]:
    committers = [_Committer(bootstrap, number, partitions, folder) for number in range(4)]
    for each in committers:
        each.start()
    try:
        yield committers
    finally:
        for each in committers:
            each.ending.set()
        for each in committers:
            each.join()


def _hanging(bootstrap: str, partitions: int) -> list[Partition]:
    """Return the partitions whose last stable offset does not reach their end."""
    topics, places = (
        Topics({"bootstrap.servers": bootstrap}),
        [Partition(TOPIC, number) for number in range(partitions)],
    )
    give_up_s = time.monotonic() + _DECIDED_S
    while True:
        ends = topics.ends(places, _ANSWER_S)
        hanging = [place for place in places if ends.last_stable[place] < ends.high_watermarks[place]]
        if not hanging or time.monotonic() > give_up_s:
            return hanging
        time.sleep(0.5)


def main() -> int:
    """Measure, and print the findings."""
    parser = argparse.ArgumentParser(prog="python -m chaos.broker_restarts", description=__doc__)
    parser.add_argument("--brokers", type=int, choices=(1, 3), default=1)
    parser.add_argument("--fault", choices=("restart", "kill"), default="restart")
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--partitions", type=int, default=3)
    parser.add_argument("--rest-s", type=float, default=2.0)
    chosen = parser.parse_args()
    found = measure(chosen.brokers, chosen.fault, chosen.times, chosen.partitions, chosen.rest_s)
    counts = ", ".join(f"{found.outcomes[each]} {each}" for each in Outcome)
    sys.stdout.write(f"transactions: {counts}\n")
    sys.stdout.write(
        f"torn by Kafka: {len(found.torn)}, of them acknowledged as committed: {found.acknowledged_torn}\n"
    )
    sys.stdout.write(f"partitions with a transaction left open: {', '.join(map(str, found.hanging)) or 'none'}\n")
    for each, reason in found.torn.items():
        sys.stdout.write(f"  {each}: {reason}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
