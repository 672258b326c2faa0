"""The views of several brokers show whether the broker that was asked still leads a partition."""

from __future__ import annotations

from uuid import UUID

import pytest

from kafka_replica.broker.reading.fetch_positions import newer_leader
from kafka_replica.broker.wire.messages import TopicAnswer


def view(leader: int, epoch: int) -> TopicAnswer:
    """Return a broker's view of partition 0."""
    return TopicAnswer("t", UUID(int=1), 0, {0: leader}, {0: epoch}, frozenset({1, 2, 3}))


@pytest.mark.parametrize(
    ("views", "newer"),
    [
        ([view(1, 4)], None),
        ([view(1, 4), view(1, 4), view(1, 4)], None),
        ([view(1, 4), view(2, 5)], 2),
        ([view(2, 5), view(1, 4)], 2),
        ([view(1, 4), view(2, 3)], None),  # the other broker is behind
        ([view(1, 4), view(-1, 5)], -1),  # there is no leader now, and there may have been another since
        ([view(1, 4), view(-1, 3)], None),
        ([view(1, 4), view(-1, 5), view(3, 6)], 3),
        ([view(1, 6), view(2, 5)], None),  # it leads again
        ([view(2, 5), view(2, 5)], 2),  # it knows so itself
    ],
)
def test_the_newest_view_decides(views: list[TopicAnswer], newer: int | None) -> None:
    """A view counts if its epoch is newer than the one in which the asked broker, 1, was the leader."""
    assert newer_leader(views, 0, 1) == newer


def test_a_partition_that_no_broker_lists_has_no_newer_leader() -> None:
    """While a topic is deleted no view has the partition, which other checks report."""
    gone = TopicAnswer("t", UUID(int=1), 3, {}, {}, frozenset())
    assert newer_leader([gone, gone], 0, 1) is None
