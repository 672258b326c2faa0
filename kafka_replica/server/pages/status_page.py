"""The status page: the state of the replica, and the rejected records."""

from __future__ import annotations

import time
from typing import Any, Final

from kafka_replica.errors import BadRecordError
from kafka_replica.publication.status import Status
from kafka_replica.replica import Replica
from kafka_replica.server.operation.health import readiness
from kafka_replica.server.pages.links import Address, Links
from kafka_replica.server.pages.paging import page_of
from kafka_replica.server.pages.redaction import redacted
from kafka_replica.server.pages.throughput import Throughput
from kafka_replica.server.settings import ServerSettings

_REJECTED: Final = 50


class StatusPage:
    """Computes the values for the template of the status page.

    Args:
        replica: the replica.
        settings: the settings of the app.
    """

    def __init__(self, replica: Replica, settings: ServerSettings) -> None:
        self._replica = replica
        self._settings = settings
        self._throughput = Throughput()

    def context(self, links: Links, start: int) -> dict[str, Any]:
        """Return the values for the template.

        Args:
            links: the links of the page.
            start: the number of rejected records to skip, starting at the newest.
        """
        status = self._replica.status()
        rejected = self._replica.bad_records[::-1]
        return {
            "section": "status",
            "here": Address(),
            "status": status,
            "topics": self._replica.topics,
            "readiness": readiness(status, self._settings),
            "rates": self._throughput.rates(time.monotonic(), status.counts),
            "last_error": None if status.last_error is None else redacted(status.last_error),
            "positions": _positions(status),
            "rejected": [_rejected(one) for one in rejected[start : start + _REJECTED]],
            "page": page_of(Address(), links, start, _REJECTED, len(rejected)),
        }


def _positions(status: Status) -> list[dict[str, Any]]:
    """Return a row for each partition."""
    partitions = sorted({*status.position, *status.high_watermark})
    return [
        {
            "partition": str(partition),
            "position": status.position.get(partition),
            "stable": status.last_stable_offset.get(partition),
            "high": status.high_watermark.get(partition),
        }
        for partition in partitions
    ]


def _rejected(error: BadRecordError) -> dict[str, Any]:
    return {
        "place": f"{error.topic}-{error.partition}",
        "offset": error.offset,
        "key": None if error.key is None else error.key.decode(errors="backslashreplace"),
        "reason": redacted(error.reason),
    }
