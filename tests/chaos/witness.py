"""A plain ``read_committed`` consumer next to the replicas, through the same bad network.

If Kafka shows this consumer a record that it should not show, it may have shown the record to a replica too: when a run
finds a violation, this shows the possible cause. It decides nothing.
"""

from __future__ import annotations

import threading
from pathlib import Path

from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition

from chaos.history import History, Journal, Outcome, lines
from chaos.plan import named


class Witness:
    """Read from the beginning until closed, and record every record."""

    def __init__(self, bootstrap: str, topic: str, partitions: int, path: Path) -> None:
        self._consumer = Consumer({
            "bootstrap.servers": bootstrap, "group.id": "witness", "isolation.level": "read_committed",
            "enable.auto.commit": False, "reconnect.backoff.max.ms": 500, "log_level": 0,
        })  # fmt: skip
        self._consumer.assign([TopicPartition(topic, number, OFFSET_BEGINNING) for number in range(partitions)])
        self._journal = Journal(path)
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._read, name="witness", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End reading."""
        self._closing.set()
        self._thread.join()
        self._consumer.close()
        self._journal.close()

    def _read(self) -> None:
        while not self._closing.is_set():
            for message in self._consumer.consume(500, 0.1):
                key, value = message.key(), message.value()
                if message.error() is None and key is not None:
                    by = None if value is None else named(value)
                    place = [message.partition(), message.offset()]
                    self._journal.write("read", key=key.decode(), by=by, place=place)


def shown_though_aborted(path: Path, history: History) -> list[str]:
    """Return records that a plain consumer received although their commit was never requested."""
    found = []
    for line in lines(path):
        transaction = history.find(line["by"])
        if line["by"] is not None and (transaction is None or transaction.outcome is Outcome.ABORTED):
            found.append(f"{line['key']} by {line['by']} at {line['place']}")
    return found
