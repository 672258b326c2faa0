"""The piece that records the programs, clusters and topics that a record has passed through."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import NamedTuple

from kafka_replica.common.clock import now_ms
from kafka_replica.errors import ConfigurationError
from kafka_replica.headers.pieces.usage import Usage
from kafka_replica.headers.stacks.header_keys import assigned_key
from kafka_replica.headers.stacks.piece import Piece, PieceInput, PieceOutput
from kafka_replica.records import Headers

_KEY = assigned_key("routing-hop")
_MAX_HOP_BYTES = 4096


class Hop(NamedTuple):
    """A write of a record: the producer, the origin and the destination."""

    producer: str
    """The program that wrote the record."""
    source: str
    """The origin of the data, such as a database or another topic."""
    cluster: str
    """The Kafka cluster to which the record was written."""
    topic: str
    time_ms: int
    """The time of the write, in ms since 1970-01-01 UTC."""
    is_mirror: bool = False
    """True if the program copied the record from another topic or cluster."""

    def content(self) -> bytes:
        """Return the hop as the value of a header: a JSON object (RFC 8259)."""
        return json.dumps(self._asdict(), ensure_ascii=False, separators=(",", ":")).encode()


def hops_of(headers: Headers) -> tuple[Hop, ...]:
    """Return the hops of a record in the order of the writes.

    Raises:
        ValueError: a hop cannot be decoded.
    """
    return tuple([_read(content) for name, content in headers if name in _KEY.forms])


class RoutingTrail(Piece):
    """A trail of hops: each write appends a header ``routing-hop``, and leaves earlier ones unchanged.

    Readers find the trail in the record's headers (``hops_of``). A mirror passes on the headers of a record, and its
    own stack appends its hop. Signatures do not cover the trail, so that mirrors can extend it: the trail is
    information, not proof. A record whose trail cannot be decoded is bad.

    Args:
        producer: the name of this program.
        source: the origin of the data that the program writes.
        cluster: the name of the cluster to which the program writes.
        is_mirror: whether the program copies records from another topic or cluster.
        max_hops: the number of hops at which a record can no longer be written, because it probably circulates.
        usage: counts the records that are read, by the first hop of their trails.

    Raises:
        ConfigurationError: ``max_hops`` is not a positive integer, or another argument has a wrong type or cannot be
            encoded.
    """

    name = "routing trail"
    keys = (_KEY,)
    decides_value = False

    @property
    def identity(self) -> str:
        """An empty text: the piece changes no value."""
        return ""

    def __init__(
        self,
        producer: str = "",
        source: str = "",
        cluster: str = "",
        *,
        is_mirror: bool = False,
        max_hops: int = 16,
        usage: Usage | None = None,
    ) -> None:
        if type(max_hops) is not int or max_hops < 1:
            raise ConfigurationError(f"max_hops={max_hops!r} is not possible; it is a number, 1 or more")
        self._hop = Hop(producer, source, cluster, "", 0, is_mirror)
        try:
            _check_fields(self._hop)
        except (TypeError, ValueError) as error:
            raise ConfigurationError(
                f"{self._hop} is not possible: producer, source and cluster are text, and is_mirror is true or false"
            ) from error
        self._max_hops = max_hops
        self._usage = usage

    def outgoing(self, record: PieceInput) -> PieceOutput:
        """Append a hop."""
        if record.topic is None or not self._hop.producer:
            raise ConfigurationError(
                "a routing trail needs the names of the producer and of the topic to be written to"
            )
        if len(record.own_headers) >= self._max_hops:
            raise ValueError(f"it has {len(record.own_headers)} hops already (max_hops): it may go round in a loop")
        content = self._hop._replace(topic=record.topic, time_ms=now_ms()).content()
        if len(content) > _MAX_HOP_BYTES:
            raise ConfigurationError(
                f"a hop of {len(content):,} bytes is not possible; shorten producer=, source= or cluster=, so that it "
                f"has at most {_MAX_HOP_BYTES:,}"
            )
        return PieceOutput(record.value, (*record.own_headers, (_KEY.name, content)))

    def incoming(self, record: PieceInput) -> PieceOutput:
        """Check the trail, and count the record."""
        hops = hops_of(record.own_headers)
        if self._usage is not None:
            self._usage.count(_origin(hops), any(hop.is_mirror for hop in hops), record.value)
        return PieceOutput(record.value)


def _origin(hops: Iterable[Hop]) -> tuple[str, str, str, str]:
    first = next(iter(hops), None)
    return ("", "", "", "") if first is None else first[:4]


def _read(content: bytes | None) -> Hop:
    if content is None or len(content) > _MAX_HOP_BYTES:
        raise ValueError(f"a header {_KEY.name} has no value, or more than {_MAX_HOP_BYTES} bytes")
    try:
        fields = json.loads(content)
        hop = Hop(**fields)
        _check_fields(hop)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"a header {_KEY.name} is not a JSON object of a hop: {error}") from error
    return hop


def _check_fields(hop: Hop) -> None:
    if (
        not all(type(text) is str for text in hop[:4])
        or type(hop.time_ms) is not int
        or type(hop.is_mirror) is not bool
    ):
        raise TypeError("a field has a type that is not that of a hop")
    "".join(hop[:4]).encode()  # JSON may contain half of a surrogate pair, which no exporter can write
