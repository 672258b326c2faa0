"""Clean-up in a separate thread, independent of the relay."""

from __future__ import annotations

import logging
import threading
import time

from kafka_replica.errors import KafkaReplicaError
from kafka_replica.producer.outbox.cleanup import Cleanup
from kafka_replica.producer.outbox.lease import Lease

_log = logging.getLogger("kafka_replica.producer")

_EVERY_S = 5.0
_SHORTEST_S = 0.01


class Cleaner:
    """A thread that cleans up while this instance has the lease, until it is closed.

    Args:
        cleanup: the clean-up, which is performed in steps.
        lease: this instance's lease; only the publishing instance cleans up.
        every_s: the interval between clean-ups, in seconds.
    """

    def __init__(self, cleanup: Cleanup, lease: Lease, every_s: float = _EVERY_S) -> None:
        self._cleanup = cleanup
        self._lease = lease
        self._every_s = every_s
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="kafka_replica clean-up", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def close(self) -> None:
        """End the thread after its current step."""
        self._closing.set()
        if self._thread.is_alive():
            self._thread.join(self._lease.lease_s)

    def _run(self) -> None:
        wait_s = self._every_s
        while not self._closing.wait(wait_s):
            wait_s = self._every_s
            if self._lease.term is None:
                continue
            begun_s = time.monotonic()
            try:
                if self._cleanup.step():  # then pause for as long as the step took, for other users of the database
                    wait_s = max(_SHORTEST_S, time.monotonic() - begun_s)
            except KafkaReplicaError as error:  # the failure of the database may be temporary
                _log.warning("%s", error)
