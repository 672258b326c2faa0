"""Small histories that once broke a rule: the minimum that shows each fault."""

from __future__ import annotations

from support.core.log_model import P0, P1, Cluster
from support.core.model_follower import ModelFollower


def test_a_marker_without_data_does_not_end_the_next_transaction() -> None:
    """A marker without data is not taken for the end of the producer's next transaction, which has the same epoch.

    KIP-890: the marker and the next transaction have epoch 1. A transaction has a partition without a record when
    sending failed.
    """
    cluster = Cluster(2)
    cluster.write(1, P0, ("a", "1"))
    cluster.write(1, P1)
    cluster.end(1)
    follower = ModelFollower(cluster)
    cluster.plain(P0, ("cause", "1"))
    cluster.write(1, P0, ("effect", "1"))
    cluster.end(1)
    follower.step()
    follower.finish()


def test_a_marker_of_compacted_data_does_not_end_the_next_transaction() -> None:
    """A marker whose data was compacted says nothing about the next transaction.

    The assigner waits for another transaction's marker, and the gap is respected.
    """
    cluster = Cluster(2)
    cluster.write(1, P0, ("a", "1"))
    cluster.end(1)
    cluster.plain(P0, ("a", "2"))
    cluster.write(2, P0, ("b", "1"))
    cluster.write(2, P1, ("c", "1"))
    cluster.decide(2)
    cluster.mark(2, P0)
    cluster.compact(P0)
    follower = ModelFollower(cluster)
    follower.step()
    cluster.mark(2, P1)
    cluster.plain(P1, ("cause", "1"))
    cluster.write(1, P0, ("effect", "1"))
    cluster.end(1)
    follower.step((P0, 9))
    follower.step((P1, 1))
    follower.finish()


def test_a_marker_without_data_does_not_wait_for_the_next_transaction() -> None:
    """A marker without data does not wait for the next transaction, which hangs: earlier commits are shown."""
    cluster = Cluster(2)
    follower = ModelFollower(cluster)
    cluster.write(1, P0, ("a", "1"))
    cluster.write(1, P1)
    cluster.end(1)
    cluster.write(1, P0, ("hangs", "1"))
    follower.drain()
    follower.oracle.finish(follower.state)


def test_points_from_before_a_partition_was_added_are_not_shown() -> None:
    """Points from before a partition was added are not shown, although it is already known at the second one.

    One reading has two points; looking for partitions at the first finds the new one.
    """
    cluster = Cluster(1)
    follower = ModelFollower(cluster)
    follower.step()
    added = cluster.grow()
    cluster.write(1, added, ("a", "1"))
    cluster.write(1, P0, ("b", "1"))
    cluster.end(1)
    cluster.plain(P0, ("c", "1"))
    follower.step((P0, 9))
    follower.finish()


def test_an_added_partition_is_read_before_dependent_records() -> None:
    """An added partition is read before records that may depend on it.

    These are records outside transactions: the first in the added partition, the second in the old one.
    """
    cluster = Cluster(1)
    follower = ModelFollower(cluster)
    follower.step()
    added = cluster.grow()
    cluster.plain(added, ("cause", "1"))
    cluster.plain(P0, ("effect", "1"))
    follower.step((P0, 9))
    follower.step((P0, 9))
    follower.finish()


def test_a_deletion_beyond_the_cut_is_remembered() -> None:
    """A deletion beyond the position is remembered: without the epoch bump a producer's next records appear early."""
    cluster = Cluster(2, old_producers=[1])
    cluster.write(1, P1, ("x", "1"))
    cluster.end(1)
    follower = ModelFollower(cluster)
    cluster.write(2, P0, ("k", "2"))
    cluster.write(1, P0, ("k", None))
    cluster.end(1)
    cluster.end(2)
    follower.step()
    follower.finish()


def test_the_next_transaction_of_an_old_producer_is_not_shown_without_its_cause() -> None:
    """Without the epoch bump the next transaction looks like a part of the previous one, but waits for its cause."""
    cluster = Cluster(2, old_producers=[1])
    cluster.write(1, P0, ("a", "1"))
    cluster.end(1)
    follower = ModelFollower(cluster)
    cluster.plain(P1, ("cause", "1"))
    cluster.write(1, P1, ("effect", "1"))
    cluster.end(1)
    follower.step()
    follower.finish()
