"""A Kafka that is already running, used instead of an embedded one."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Self

from kafka_replica.embedded import wire
from kafka_replica.embedded.errors import EmbeddedKafkaError
from kafka_replica.embedded.local import LocalKafka

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType

BOOTSTRAP_VARIABLE = "KAFKA_REPLICA_BOOTSTRAP_SERVERS"


class ExistingKafka:
    """A Kafka that is run by others: the ``with`` block checks that it answers, and never stops it.

    Args:
        bootstrap_servers: addresses as ``"host:port"``, separated by commas, without encryption and authentication.
        timeout_s: the time to wait for a response from each address, in seconds.
    """

    def __init__(self, bootstrap_servers: str, timeout_s: float = 5.0) -> None:
        self.bootstrap_servers = bootstrap_servers
        self._timeout_s = timeout_s
        self._address: tuple[str, int] | None = None

    def start(self) -> Self:
        """Check that Kafka answers.

        Raises:
            EmbeddedKafkaError: no address answers, or the addresses are invalid.
        """
        failures: list[str] = []
        for address in _addresses(self.bootstrap_servers):
            try:
                wire.query_cluster(*address, timeout_s=self._timeout_s)
            except (OSError, ValueError) as error:
                failures.append(f"{address[0]}:{address[1]}: {error}")
            else:
                self._address = address
                return self
        raise EmbeddedKafkaError(
            f"while looking for the Kafka named by {BOOTSTRAP_VARIABLE} or the caller: {'; '.join(failures)}; "
            "start it, correct the address, or remove the setting to start an embedded one"
        )

    def stop(self) -> None:
        """Do nothing, because others run this Kafka."""

    def create_topic(
        self, name: str, partitions: int = 1, config: Mapping[str, object] | None = None, timeout_s: float = 20.0
    ) -> str:
        """Create a topic; see `LocalKafka.create_topic`."""
        wire.create_topic(*self._reached(), name, partitions, config or {}, timeout_s)
        return name

    def delete_topic(self, name: str, timeout_s: float = 20.0) -> None:
        """Delete a topic; see `LocalKafka.delete_topic`."""
        wire.delete_topic(*self._reached(), name, timeout_s)

    def __enter__(self) -> Self:
        """Check that Kafka answers."""
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave Kafka running."""

    def __repr__(self) -> str:
        return f"<ExistingKafka {self.bootstrap_servers}>"

    def _reached(self) -> tuple[str, int]:
        if self._address is None:
            self.start()
        assert self._address is not None  # noqa: S101 - start() sets it or raises
        return self._address


def kafka_for(bootstrap_servers: str | None = None, **local: Any) -> LocalKafka | ExistingKafka:
    """Return the Kafka at the given addresses, or that in KAFKA_REPLICA_BOOTSTRAP_SERVERS, or else a new `LocalKafka`.

    Use the result in a ``with`` block, or call ``start()`` and ``stop()``; it has ``bootstrap_servers`` and
    ``create_topic``.

    Args:
        bootstrap_servers: addresses of a running Kafka; if None or empty, the environment variable is used.
        local: the arguments of `LocalKafka`, which are ignored if there is a running Kafka.
    """
    named = (bootstrap_servers or os.environ.get(BOOTSTRAP_VARIABLE) or "").strip()
    return ExistingKafka(named) if named else LocalKafka(**local)


def _addresses(servers: str) -> list[tuple[str, int]]:
    addresses: list[tuple[str, int]] = []
    for server in filter(None, (part.strip() for part in servers.split(","))):
        host, _, port = server.rpartition(":")
        if not host or not port.isdecimal() or int(port) > 65535:
            raise EmbeddedKafkaError(f"{server!r} is not an address of a Kafka; write host:port, as in localhost:9092")
        addresses.append((host.strip("[]"), int(port)))
    if not addresses:
        raise EmbeddedKafkaError("no address of a Kafka was given; write host:port, as in localhost:9092")
    return addresses
