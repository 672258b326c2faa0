"""A newer leader is found in the views of several brokers; so many are needed that one would show it."""

from __future__ import annotations

from uuid import UUID

import pytest

from kafka_replica.broker.reading.leader_views import are_enough, newer_leader
from kafka_replica.broker.wire.messages import TopicMetadata


def view(leader: int, epoch: int) -> TopicMetadata:
    """Return a broker's view of partition 0."""
    return TopicMetadata("t", UUID(int=1), 0, {0: leader}, {0: epoch}, {0: frozenset({1, 2, 3})})


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
def test_the_newest_view_decides(views: list[TopicMetadata], newer: int | None) -> None:
    """A view counts if its epoch is newer than the one in which the asked broker, 1, was the leader."""
    assert newer_leader(views, 0, 1) == newer


def test_a_partition_that_no_broker_lists_has_no_newer_leader() -> None:
    """While a topic is deleted no view has the partition, which other checks report."""
    gone = TopicMetadata("t", UUID(int=1), 3, {}, {}, {})
    assert newer_leader([gone, gone], 0, 1) is None


@pytest.mark.parametrize(
    ("answered", "min_insync_replicas", "enough"),
    [
        ({1, 2, 3}, 1, True),
        ({1, 2}, 1, False),  # the third may be a leader that alone confirms records
        ({1, 2}, 2, True),  # a new leader needs two of three brokers, so one of these two
        ({1}, 2, False),
        ({1}, 3, True),  # any new leader needs broker 1, too
        ({1, 2}, 0, False),  # as 1
        ({1, 9}, 2, False),  # a broker without a copy proves nothing
    ],
)
def test_views_are_enough_if_one_would_show_a_newer_leader(
    answered: set[int], min_insync_replicas: int, *, enough: bool
) -> None:
    """Any min.insync.replicas brokers of the three with a copy have one in common with those that answered."""
    assert are_enough({node: view(1, 4) for node in answered}, 0, min_insync_replicas) == enough


def test_copies_that_one_view_alone_lists_count() -> None:
    """While copies are moved, brokers may list different ones: the larger set counts."""
    moving = view(1, 4)._replace(replicas={0: frozenset({1, 2, 3, 4})})
    assert not are_enough({1: moving, 2: view(1, 4)}, 0, 2)
    assert are_enough({1: moving, 2: view(1, 4), 3: view(1, 4)}, 0, 2)
