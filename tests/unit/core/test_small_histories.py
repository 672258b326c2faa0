"""Small histories that broke a rule once: the least that shows each fault."""

from __future__ import annotations

from support.core.log_model import P0, P1, Cluster
from support.core.model_follower import ModelFollower


def test_a_marker_without_data_says_nothing_of_the_next_transaction() -> None:
    """A producer's transaction left a bare marker (KIP-890: epoch 1); its next one, of epoch 1, is not the same one.

    A transaction takes part in a partition without a record there when sending failed.
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


def test_a_compacted_transaction_says_nothing_of_the_next_one() -> None:
    """The same where compaction took the data; the round waits for another one's marker, the hole was minded."""
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
    """The next one hangs: what was committed before it is shown all the same."""
    cluster = Cluster(2)
    follower = ModelFollower(cluster)
    cluster.write(1, P0, ("a", "1"))
    cluster.write(1, P1)
    cluster.end(1)
    cluster.write(1, P0, ("hangs", "1"))
    follower.drain()
    follower.oracle.finish(follower.state)


def test_points_from_before_a_partition_was_added_are_not_shown() -> None:
    """One reading with two points: looking for partitions at the first finds one, at the second it is known already."""
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


def test_a_partition_that_was_added_is_read_before_anything_that_may_depend_on_it() -> None:
    """Records outside of transactions: the first is in the partition that was added, the second in the old one."""
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
    """Without the bump, what a producer wrote next is shown early, beyond the cut; so its deletions lie there, too."""
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
    """Without the bump the next one looks like a part of the one before: it is not taken in for that."""
    cluster = Cluster(2, old_producers=[1])
    cluster.write(1, P0, ("a", "1"))
    cluster.end(1)
    follower = ModelFollower(cluster)
    cluster.plain(P1, ("cause", "1"))
    cluster.write(1, P1, ("effect", "1"))
    cluster.end(1)
    follower.step()
    follower.finish()
