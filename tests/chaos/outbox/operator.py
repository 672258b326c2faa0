"""An operator who resumes a producer that has suspended itself, and reports when that would be wrong."""

from __future__ import annotations

import threading
import time

from kafka_replica.errors import KafkaReplicaError
from kafka_replica.producer import StructureProducer
from kafka_replica.producer.outbox import Mode

_EVIDENCE = ("progress topic", "is not in the database")
_LOOK_S = 0.5


class Operator:
    """An observer of the producer's status until closed.

    Attributes:
        resumed: how often the producer was resumed.
        contradictions: reasons for suspensions because database and Kafka contradict each other; the producer is not
            resumed then.
    """

    def __init__(self, producer: StructureProducer) -> None:
        self.resumed = 0
        self.contradictions: list[str] = []
        self._producer = producer
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="operator", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End observing."""
        self._closing.set()
        self._thread.join()

    def wait_until_sent(self, timeout_s: float) -> bool:
        """Wait until everything is marked as sent; return True if it is."""
        give_up_s = time.monotonic() + timeout_s
        while time.monotonic() < give_up_s and not self.contradictions:
            try:
                if self._producer.status().pending == 0:
                    return True
            except KafkaReplicaError:
                pass  # the database is not available yet
            time.sleep(_LOOK_S)
        return False

    def _run(self) -> None:
        while not self._closing.wait(_LOOK_S):
            try:
                self._look()
            except KafkaReplicaError:
                continue  # the database was killed

    def _look(self) -> None:
        status = self._producer.status()
        if status.mode is not Mode.FAILED:
            return
        reason = status.reason or ""
        if any(text in reason for text in _EVIDENCE):
            if reason not in self.contradictions:
                self.contradictions.append(reason)
            return
        self._producer.resume()
        self.resumed += 1
