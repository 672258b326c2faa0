"""The metadata of a version in a generation, written in the same write as the version."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import NamedTuple

from kafka_replica.errors import StoreDamagedError, StoreError
from kafka_replica.records import Partition
from kafka_replica.transactions.resume_point import ResumePoint, decode_bad_records

HEAD = b"h"
"""The key of the version record, behind all other keys."""
BAD_RECORDS = b"g"
"""The key of the list of bad records, which is written only when it changes: it may be large."""


class VersionRecord(NamedTuple):
    """The metadata of a version."""

    version: int
    keys: int | None
    """The number of keys; None if they were not counted."""
    partitions: list[Partition]
    """The partitions, by their index in records."""
    resume_point: ResumePoint

    def encode(self) -> bytes:
        """Encode as two lines of JSON; the second is the resume point, without the list of bad records."""
        plain = {"version": self.version, "keys": self.keys, "partitions": self.partitions}
        return json.dumps(plain).encode() + b"\n" + replace(self.resume_point, bad_records=()).encode()

    @staticmethod
    def decode(data: bytes, bad_records: bytes | None) -> VersionRecord:
        """Decode a version record, with the list of bad records; None if it is part of the resume point.

        Raises:
            StoreDamagedError: the data is not a version record.
        """
        try:
            first, second = data.split(b"\n", 1)
            plain, resume_point = json.loads(first), ResumePoint.decode(second)
            if bad_records is not None:
                resume_point = replace(resume_point, bad_records=decode_bad_records(bad_records))
            partitions = [Partition(*place) for place in plain["partitions"]]
            return VersionRecord(plain["version"], plain["keys"], partitions, resume_point)
        except (ValueError, KeyError, TypeError, StoreError) as error:
            raise StoreDamagedError(
                f"reading the version record of a store: {error}; check the disk; a replica that uses it rebuilds it"
            ) from error
