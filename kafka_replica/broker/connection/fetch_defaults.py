"""The default limits of fetches, by librdkafka's names; the two readers fetch differently, and need different values.

The user's properties take precedence over both.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

OF_CONSUMER: Final[Mapping[str, int]] = {
    # librdkafka's default makes the fetcher sleep a second whenever the local queue is full.
    "fetch.queue.backoff.ms": 1,
    # How long the broker holds an empty fetch. This delays the end of a log whose last records were
    # compacted away. An idle replica fetches at this interval.
    "fetch.wait.max.ms": 100,
    "fetch.message.max.bytes": 16 << 20,
    "queued.max.messages.kbytes": 65536,
    "receive.message.max.bytes": 1 << 30,  # the topic limits the size of records
}
"""The defaults of the confluent-kafka consumer, which reads by quiescence."""

OF_MARKER_READER: Final[Mapping[str, int]] = {
    "fetch.wait.max.ms": 500,  # for an idle topic; new data is returned at once
    "fetch.min.bytes": 1,
    # Measured: with 1 MB per partition, a third of the time is spent waiting; more than 8 MB gains nothing.
    "fetch.max.bytes": 16 << 20,
    "fetch.message.max.bytes": 8 << 20,
}
"""The defaults of the reader of raw batches, which reads by markers."""
