"""What a generation says of itself: written with every version, in the same write."""

from __future__ import annotations

import json
from typing import NamedTuple

from kafka_replica.bookmark import Bookmark
from kafka_replica.errors import StoreDamagedError, StoreError
from kafka_replica.records import Partition

HEAD = b"h"
"""The key of it; behind all others."""


class Head(NamedTuple):
    """Of one version."""

    version: int
    keys: int | None
    """How many; None where nobody has counted them."""
    partitions: list[Partition]
    """By the numbers that records have for them."""
    bookmark: Bookmark

    def encode(self) -> bytes:
        """JSON in two lines, the second is the bookmark."""
        plain = {"version": self.version, "keys": self.keys, "partitions": self.partitions}
        return json.dumps(plain).encode() + b"\n" + self.bookmark.encode()

    @staticmethod
    def decode(data: bytes) -> Head:
        """The head that was encoded so.

        Raises:
            StoreDamagedError: this is none.
        """
        try:
            first, bookmark = data.split(b"\n", 1)
            plain = json.loads(first)
            partitions = [Partition(*place) for place in plain["partitions"]]
            return Head(plain["version"], plain["keys"], partitions, Bookmark.decode(bookmark))
        except (ValueError, KeyError, TypeError, StoreError) as error:
            raise StoreDamagedError(
                f"reading what a store says of itself: {error}; check the disk, and start its replica, which builds it "
                "anew"
            ) from error
