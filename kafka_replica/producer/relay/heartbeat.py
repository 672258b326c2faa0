"""The renewal of the lease in a separate thread, because sending a transaction may take longer than the lease time."""

from __future__ import annotations

import logging
import threading

from kafka_replica.errors import KafkaReplicaError
from kafka_replica.producer.outbox.lease import Lease

_log = logging.getLogger("kafka_replica.producer")


class Heartbeat:
    """A thread that renews a lease four times per lease time, until it is closed."""

    def __init__(self, lease: Lease) -> None:
        self._lease = lease
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="kafka_replica lease", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def close(self) -> None:
        """End the thread, and release the lease."""
        self._closing.set()
        if self._thread.is_alive():
            self._thread.join(self._lease.lease_s)
        self._lease.release()

    def _run(self) -> None:
        while not self._closing.wait(self._lease.lease_s / 4):
            try:
                if self._lease.term is not None and not self._lease.renew():
                    _log.warning("another instance publishes now; this one stands by")
            except KafkaReplicaError as error:  # the failure of the database may be temporary
                _log.warning("cannot renew the lease: %s", error)
