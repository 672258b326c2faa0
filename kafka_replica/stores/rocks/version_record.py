"""What a generation says of itself: written with every version, in the same write."""

from __future__ import annotations

import json
from typing import NamedTuple

from kafka_replica.errors import StoreDamagedError, StoreError
from kafka_replica.records import Partition
from kafka_replica.transactions.resume_point import ResumePoint

HEAD = b"h"
"""The key of it; behind all others."""


class VersionRecord(NamedTuple):
    """Of one version."""

    version: int
    keys: int | None
    """How many; None where nobody has counted them."""
    partitions: list[Partition]
    """By the numbers that records have for them."""
    resume_point: ResumePoint

    def encode(self) -> bytes:
        """JSON in two lines, the second is the bookmark."""
        plain = {"version": self.version, "keys": self.keys, "partitions": self.partitions}
        return json.dumps(plain).encode() + b"\n" + self.resume_point.encode()

    @staticmethod
    def decode(data: bytes) -> VersionRecord:
        """The head that was encoded so.

        Raises:
            StoreDamagedError: this is none.
        """
        try:
            first, resume_point = data.split(b"\n", 1)
            plain = json.loads(first)
            partitions = [Partition(*place) for place in plain["partitions"]]
            return VersionRecord(plain["version"], plain["keys"], partitions, ResumePoint.decode(resume_point))
        except (ValueError, KeyError, TypeError, StoreError) as error:
            raise StoreDamagedError(
                f"reading what a store says of itself: {error}; check the disk, and start its replica, which builds it "
                "anew"
            ) from error
