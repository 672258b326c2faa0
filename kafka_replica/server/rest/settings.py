"""The settings of answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime
from typing import Literal, NamedTuple

from kafka_replica.sdmx import Header, Structures, write_message
from kafka_replica.sdmx.model import Artefact
from kafka_replica.sdmx.writing.messages import DEFAULT_HEADER


def utc_today() -> date:
    """Return the date in UTC."""
    return datetime.now(UTC).date()


class RestSettings(NamedTuple):
    """The settings of a service for its answers.

    Attributes:
        base_url: the URL of the base path, for the URLs in stubs; None for stubs without a URL.
        empty_status: the status of an answer without structures: 404 with an error message, as clients expect, or 204
            without a body, as SDMX REST 2.x prefers.
        unwritable: the treatment of an artefact that the requested format cannot represent, or whose record cannot be
            read, if the answer has others. ``omit``: the answer omits the artefact, and reports this in the header
            Kafka-Replica-Omitted and, in SDMX-JSON and in SDMX-ML 2.1 or newer, in the message itself. ``reject``: the
            answer is an error.
        version_at: returns the version of an instant or number (``asOf``); raises a KafkaReplicaError if it is not
            kept. None if the service keeps no history.
        header: the header of messages.
        write: writes a message of artefacts in a format; raises UnwritableError.
        max_bytes: the maximum size of an answer, above which it is rejected; None for no limit.
        today: returns the date on which constraints must be valid to reduce codelists (``referencepartial``, schema
            queries); by default the date in UTC. Only these answers depend on it, and their ETags contain it. If
            ``asOf`` names an instant, its date is used instead.
    """

    base_url: str | None = None
    empty_status: Literal[204, 404] = 404
    unwritable: Literal["omit", "reject"] = "omit"
    version_at: Callable[[str], Structures] | None = None
    header: Header = DEFAULT_HEADER
    max_bytes: int | None = None
    write: Callable[[Iterable[Artefact], str, Header], bytes] = write_message
    today: Callable[[], date] = utc_today
