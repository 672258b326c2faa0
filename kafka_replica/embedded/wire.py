"""The few requests of Kafka's protocol that starting a broker needs, over plain connections.

With them, the embedded broker needs no client library: they identify the broker (so that another server on the same
port is not mistaken for it), create topics and delete them.
"""

from __future__ import annotations

import socket
import struct
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kafka_replica.embedded.config import setting_text
from kafka_replica.embedded.errors import EmbeddedKafkaError

if TYPE_CHECKING:
    from collections.abc import Mapping

_METADATA, _CREATE_TOPICS, _DELETE_TOPICS = 3, 19, 20
_NO_TOPIC = 3
_NOT_READY = {5, 7, 41}  # leader not available, timed out, not the controller
_NAMES = {
    17: "the topic's name is not valid",
    29: "the broker does not allow it",
    36: "the topic exists already",
    37: "the number of partitions is not valid",
    38: "the replication factor is larger than the number of brokers",
    40: "a setting of the topic is not valid",
    44: "a policy of the broker forbids it",
}


@dataclass(frozen=True, slots=True)
class ClusterMetadata:
    """A broker's metadata of its cluster.

    Attributes:
        cluster_id: the cluster's id.
        brokers: the ids of the brokers in the cluster.
        leaders: the leader of each partition by topic, where -1 means no leader; a missing topic has no entry.
    """

    cluster_id: str | None
    brokers: tuple[int, ...]
    leaders: Mapping[str, tuple[int, ...]]


def query_cluster(host: str, port: int, *, topics: tuple[str, ...] = (), timeout_s: float = 2.0) -> ClusterMetadata:
    """Query the metadata of the cluster at an address (request Metadata, version 4).

    Args:
        host: the host.
        port: the port.
        topics: the topics whose leaders are requested.
        timeout_s: the time to wait for the response, in seconds.

    Raises:
        OSError: no server answers at the address in time.
        ValueError: the server that answers is not Kafka, or requires encryption or authentication.
    """
    body = struct.pack(">i", len(topics)) + b"".join(_text(name) for name in topics) + b"\x00"
    reply = _Reader(_call(host, port, _METADATA, 4, body, timeout_s))
    reply.take(4)
    brokers: list[int] = []
    for _ in range(reply.number(4)):
        brokers.append(reply.number(4))
        reply.text()
        reply.number(4)
        reply.text()
    cluster_id = reply.text()
    reply.number(4)
    leaders: dict[str, tuple[int, ...]] = {}
    for _ in range(reply.number(4)):
        error, name = reply.number(2), reply.text() or ""
        reply.number(1)
        found: dict[int, int] = {}
        for _ in range(reply.number(4)):
            reply.number(2)
            partition, leader = reply.number(4), reply.number(4)
            reply.take(4 * reply.number(4))
            reply.take(4 * reply.number(4))
            found[partition] = leader
        if error == 0 or found:
            leaders[name] = tuple(found[partition] for partition in sorted(found))
    return ClusterMetadata(cluster_id, tuple(brokers), leaders)


def create_topic(
    host: str, port: int, name: str, partitions: int, config: Mapping[str, object], timeout_s: float = 20.0
) -> None:
    """Create a topic with replication factor 1, and wait until each partition has a leader.

    Raises:
        EmbeddedKafkaError: the broker refused, does not answer, or did not finish within ``timeout_s`` seconds.
    """
    settings = b"".join(_text(key) + _text(setting_text(value)) for key, value in config.items())
    body = struct.pack(">i", 1) + _text(name) + struct.pack(">ihi", partitions, 1, 0)
    body += struct.pack(">i", len(config)) + settings + struct.pack(">i?", int(timeout_s * 1000), False)
    deadline = time.monotonic() + timeout_s
    _until_done(host, port, _CREATE_TOPICS, body, f"creating topic {name!r}", deadline)
    while time.monotonic() < deadline:
        leaders = _query(host, port, name, deadline).leaders.get(name, ())
        if len(leaders) == partitions and min(leaders) >= 0:
            return
        time.sleep(0.01)
    raise EmbeddedKafkaError(
        f"while creating topic {name!r}: its partitions had no leader after {timeout_s:.0f} s; see the broker's log"
    )


def delete_topic(host: str, port: int, name: str, timeout_s: float = 20.0) -> None:
    """Delete a topic, if it exists.

    Raises:
        EmbeddedKafkaError: the broker refused, does not answer, or did not finish within ``timeout_s`` seconds.
    """
    body = struct.pack(">i", 1) + _text(name) + struct.pack(">i", int(timeout_s * 1000))
    _until_done(host, port, _DELETE_TOPICS, body, f"deleting topic {name!r}", time.monotonic() + timeout_s)


def _query(host: str, port: int, name: str, deadline: float) -> ClusterMetadata:
    try:
        return query_cluster(host, port, topics=(name,), timeout_s=max(0.1, deadline - time.monotonic()))
    except (OSError, ValueError) as error:
        raise EmbeddedKafkaError(
            f"while creating topic {name!r}: {host}:{port} stopped answering ({error}); see the broker's log"
        ) from error


def _until_done(host: str, port: int, api: int, body: bytes, doing: str, deadline: float) -> None:
    """Send a request for one topic (version 3), and repeat it until the deadline while the broker is not ready."""
    while True:
        try:
            reply = _Reader(_call(host, port, api, 3, body, max(0.1, deadline - time.monotonic())))
            reply.take(8)
            reply.text()
            code = reply.number(2)
            message = reply.text() if code and api == _CREATE_TOPICS else None
        except (OSError, ValueError) as error:
            raise EmbeddedKafkaError(
                f"while {doing}: {host}:{port} does not answer ({error}); is the broker running, and open to all "
                "clients?"
            ) from error
        if code == 0 or (code == _NO_TOPIC and api == _DELETE_TOPICS):
            return
        if code not in _NOT_READY or time.monotonic() > deadline:
            reason = (message or "").rstrip(".") or _NAMES.get(code, f"Kafka's error code {code}")
            raise EmbeddedKafkaError(f"while {doing} on {host}:{port}: {reason}; change that and try again")
        time.sleep(0.05)


def _text(value: str) -> bytes:
    encoded = value.encode()
    return struct.pack(">h", len(encoded)) + encoded


def _call(host: str, port: int, api: int, version: int, body: bytes, timeout_s: float) -> bytes:
    """Send one request and return the body of the response."""
    request = struct.pack(">hhi", api, version, 1) + _text("kafka-replica-embedded") + body
    deadline = time.monotonic() + timeout_s
    with socket.create_connection((host, port), timeout=timeout_s) as connection:
        connection.sendall(struct.pack(">i", len(request)) + request)
        size = struct.unpack(">i", _receive(connection, 4, deadline))[0]
        if not 4 <= size <= 10_000_000:
            raise ValueError("the server is not Kafka, or requires encryption")
        answer = _receive(connection, size, deadline)
    if answer[:4] != b"\x00\x00\x00\x01":
        raise ValueError("the server is not Kafka")
    return answer[4:]


def _receive(connection: socket.socket, size: int, deadline: float) -> bytes:
    parts = b""
    while len(parts) < size:
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError("timed out")
        connection.settimeout(left)
        got = connection.recv(size - len(parts))
        if not got:
            raise ConnectionResetError("the connection was closed")
        parts += got
    return parts


class _Reader:
    """A reader of the protocol's primitive types; its methods raise ValueError if there are not enough bytes."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def take(self, size: int) -> bytes:
        part = self._data[self._at : self._at + size]
        if size < 0 or len(part) != size:
            raise ValueError("the server is not a supported Kafka")
        self._at += size
        return part

    def number(self, size: int) -> int:
        return int.from_bytes(self.take(size), "big", signed=True)

    def text(self) -> str | None:
        size = self.number(2)
        return None if size < 0 else self.take(size).decode()
