"""The reference producers that the service shows and controls through their databases.

The service writes nothing to Kafka: it records requests in the database of a producer, which executes them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from kafka_replica.errors import ConfigurationError, KafkaReplicaError, MissingExtraError, UsageError

if TYPE_CHECKING:
    from kafka_replica.producer import ProducerControl, ProducerSettings, ProducerStatus
    from kafka_replica.producer.outbox.listing import RecordedTransaction

ACTIONS: Final = ("suspend", "resume", "flush")
SELECTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "all": (),
    "pending": ("PENDING",),
    "failed": ("LOCAL_FAILURE", "REFUSED", "UNEXPECTED"),
    "sent": ("SENT",),
    "skipped": ("SKIPPED",),
}
"""The selections of transactions: the names of the statuses that each includes; empty for all."""
_MOST: Final = 100


class ProducerFacts(NamedTuple):
    """The state of a producer and some of its transactions, newest first."""

    name: str
    status: ProducerStatus
    transactions: Sequence[RecordedTransaction]

    def as_json(self) -> dict[str, Any]:
        """Return the facts as plain values for JSON, without unknown facts."""
        transactions = [transaction.as_json() for transaction in self.transactions]
        return {"name": self.name, **self.status.as_json(), "transactions": transactions}


class ControlledProducer:
    """A producer whose database is connected on first use, and may be unavailable before. Thread-safe.

    Args:
        name: the name in URLs.
        settings: the configuration of the producer.
    """

    def __init__(self, name: str, settings: ProducerSettings) -> None:
        self.name = name
        self._settings = settings
        self._lock = Lock()
        self._control: ProducerControl | None = None

    def facts(self, selection: str = "all", *, watch: bool = False, most: int = _MOST) -> ProducerFacts:
        """Return the state of the producer and its newest transactions.

        Args:
            selection: a key of ``SELECTIONS``.
            watch: whether to wait for a sign of life from the publishing instance, for up to twice its lease time.
            most: the maximum number of transactions.

        Raises:
            UsageError: there is no such selection.
            KafkaReplicaError: the database cannot be used.
        """
        from kafka_replica.producer.outbox import Status  # noqa: PLC0415 - needs an extra

        if selection not in SELECTIONS:
            raise UsageError(f"status={selection!r} is not possible; it is one of {', '.join(SELECTIONS)}")
        control = self._opened()
        statuses = [Status[name] for name in SELECTIONS[selection]]
        found = control.transactions(*statuses, limit=most) if most else []
        return ProducerFacts(self.name, control.status(watch_s=2 * self._settings.lease_s if watch else 0.0), found)

    def perform(self, action: str, reason: str) -> str:
        """Request an action; return a sentence that describes the request.

        Args:
            action: one of ``ACTIONS``.
            reason: the reason and the person who requests the action, shown in the status of the producer.

        Raises:
            UsageError: there is no such action.
            KafkaReplicaError: the database cannot be used, or the action is not possible now.
        """
        control = self._opened()
        if action == "suspend":
            control.suspend(reason)
            return "nothing more is sent until the producer is resumed"
        if action == "resume":
            control.resume()
            return "the producer goes on"
        if action == "flush":
            first, second = control.flush()
            return f"the full flush was recorded as transactions {first} and {second}"
        raise UsageError(f"unknown action {action!r}; actions are {', '.join(ACTIONS)}")

    def close(self) -> None:
        """Close the connections to the database. Idempotent."""
        with self._lock:
            if self._control is not None:
                self._control.close()
            self._control = None

    def _opened(self) -> ProducerControl:
        from kafka_replica.producer import ProducerControl  # noqa: PLC0415 - needs an extra

        with self._lock:
            if self._control is None:
                self._control = ProducerControl(self._settings)
            return self._control


def controlled_producers(files: Sequence[str]) -> dict[str, ControlledProducer]:
    """Return the producers that settings files configure, by the name of the file without its suffix.

    Raises:
        ConfigurationError: a file cannot be read, or two have the same name.
        MissingExtraError: the extra ``producer`` is not installed.
    """
    if not files:
        return {}
    try:
        from kafka_replica.producer.configuration_files.configuration import read_configuration  # noqa: PLC0415 - needs an extra
        from kafka_replica.producer.service.structure_producer import ProducerControl  # noqa: F401, PLC0415 - to fail at the start
    except ImportError as error:
        raise MissingExtraError("the pages of producers", "producer") from error
    found: dict[str, ControlledProducer] = {}
    for file in map(Path, files):
        if file.stem in found:
            raise ConfigurationError(f"producers: two files have the name {file.stem!r}; rename one")
        try:
            found[file.stem] = ControlledProducer(file.stem, read_configuration(file).producer)
        except KafkaReplicaError as error:
            raise ConfigurationError(f"producers: {error}") from error
    return found
