"""The partitions that are read, compared with those that Kafka lists."""

from __future__ import annotations

from kafka_replica import Partition
from kafka_replica.replication.partition_growth import ReadPartitions

P0, P1, P2 = (Partition("t", number) for number in range(3))


def test_partitions_that_were_added_are_unread_until_reading_begins() -> None:
    """New partitions are found in the order of the list, once; a shorter list takes none away."""
    partitions = ReadPartitions()
    partitions.begin({P0: 5})
    assert partitions.unread([P0]) == []
    assert partitions.unread({P2: 0, P0: 0, P1: 0}) == [P2, P1]
    partitions.begin([P1, P2])
    assert partitions.unread([P0, P1, P2]) == partitions.unread([P1]) == []
    assert len(partitions) == 3
