"""Checks that the logs were not replaced since they were read, and still have everything after a resume point."""

from __future__ import annotations

from collections.abc import Mapping

from kafka_replica.errors import LogReplacedError
from kafka_replica.records import Partition


def check_beginnings(beginnings: Mapping[Partition, int], wanted: Mapping[Partition, int]) -> None:
    """Check that nothing after a resume point was deleted.

    Raises:
        LogReplacedError: a partition is gone, or its log begins after the resume point.
    """
    for partition, offset in wanted.items():
        begins = beginnings.get(partition)
        if begins is None:
            raise LogReplacedError(f"{partition} no longer exists: its topic has fewer partitions than before")
        if begins > offset:
            raise LogReplacedError(
                f"the log of {partition} begins at offset {begins}; the next offset, {offset}, was deleted"
            )


def check_ends(ends: Mapping[Partition, int], known: Mapping[Partition, int]) -> None:
    """Check that the logs extend to the offsets up to which they were read.

    Raises:
        LogReplacedError: a log was truncated.
    """
    for partition, offset in known.items():
        if ends[partition] < offset:
            raise truncated(partition, offset)


def truncated(partition: Partition, offset: int) -> LogReplacedError:
    """Return the error for a log that was truncated."""
    return LogReplacedError(
        f"the log of {partition} was truncated below offset {offset}, up to which it was read: shown records may no "
        "longer exist"
    )


def recreated(topic: str, known_id: str, topic_id: str) -> str:
    """Return the error message for a topic that was recreated since it was read."""
    return (
        f"topic {topic} was recreated (its id was {known_id}, now it is {topic_id}): shown records may no longer exist"
    )
