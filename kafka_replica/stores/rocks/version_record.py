"""The metadata of a version in a generation, written in the same write as the version."""

from __future__ import annotations

import json
from typing import NamedTuple

from kafka_replica.errors import StoreDamagedError, StoreError
from kafka_replica.records import Partition
from kafka_replica.transactions.resume_point import ResumePoint

HEAD = b"h"
"""The key of the version record, behind all other keys."""


class VersionRecord(NamedTuple):
    """The metadata of a version."""

    version: int
    keys: int | None
    """The number of keys; None if they were not counted."""
    partitions: list[Partition]
    """The partitions, by their index in records."""
    resume_point: ResumePoint

    def encode(self) -> bytes:
        """Encode as two lines of JSON; the second is the resume point."""
        plain = {"version": self.version, "keys": self.keys, "partitions": self.partitions}
        return json.dumps(plain).encode() + b"\n" + self.resume_point.encode()

    @staticmethod
    def decode(data: bytes) -> VersionRecord:
        """Decode a version record.

        Raises:
            StoreDamagedError: the data is not a version record.
        """
        try:
            first, resume_point = data.split(b"\n", 1)
            plain = json.loads(first)
            partitions = [Partition(*place) for place in plain["partitions"]]
            return VersionRecord(plain["version"], plain["keys"], partitions, ResumePoint.decode(resume_point))
        except (ValueError, KeyError, TypeError, StoreError) as error:
            raise StoreDamagedError(
                f"reading the version record of a store: {error}; check the disk, and start its replica, which "
                "rebuilds it"
            ) from error
