"""Each rule is necessary: a story that succeeds with it, and breaks with that one rule switched off."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kafka_replica.replication.follower import Follower
from kafka_replica.transactions.partitions import OpenBatches
from support.core.log_model import P0, P1, Cluster
from support.core.model_follower import ModelFollower, Parts
from support.core.model_oracle import BrokenError
from support.core.stories import MARKERS, QUIET, check_needed
from support.core.switched_off import (
    AbortsCount,
    EveryRead,
    FirstMarker,
    NeverAsks,
    NeverConfirmed,
    NoTarget,
    NoWaiting,
    Uncommitted,
)


def test_a_version_after_each_read() -> None:
    """A version after each read is torn: the last stable offset lies inside a committed transaction (fact 2)."""

    def story(parts: Parts) -> None:
        cluster = Cluster()
        follower = ModelFollower(cluster, parts)
        follower.step()
        cluster.write(1, P0, ("a", "1"))
        cluster.write(2, P0, ("b", "1"))
        cluster.write(1, P0, ("c", "1"))
        cluster.end(1)
        follower.step()
        cluster.end(2)
        follower.finish()

    check_needed(story, QUIET, replace(QUIET, rule=EveryRead), "torn")


def test_quiet_at_different_times() -> None:
    """A partition read before a transaction and one read after it both looked quiet: the version is torn (fact 5)."""

    def story(parts: Parts) -> None:
        cluster = Cluster(2)
        follower = ModelFollower(cluster, parts)
        follower.step()
        cluster.write(1, P0, ("a", "1"))
        cluster.write(1, P1, ("b", "1"))
        cluster.end(1)
        follower.step((P0, 9))
        follower.finish()

    check_needed(story, QUIET, replace(QUIET, rule=NeverAsks), "torn")


# --- markers, one partition ---


def test_showing_records_before_their_marker() -> None:
    """Publishing records before their marker shows half a transaction."""

    def story(parts: Parts) -> None:
        cluster = Cluster()
        follower = ModelFollower(cluster, parts)
        follower.step()
        cluster.write(1, P0, ("a", "1"))
        follower.step()
        cluster.end(1)
        follower.finish()

    check_needed(story, MARKERS, replace(MARKERS, rule=Uncommitted), "was not committed")


def test_taking_every_marker_for_a_commit() -> None:
    """Taking every marker for a commit shows an aborted transaction."""

    def story(parts: Parts) -> None:
        cluster = Cluster()
        follower = ModelFollower(cluster, parts)
        cluster.write(1, P0, ("a", "1"))
        cluster.end(1, commits=False)
        follower.finish()

    check_needed(story, MARKERS, replace(MARKERS, rule=AbortsCount), "was not committed")


def test_records_are_lost_without_keeping_open_transactions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Records whose marker comes with a later reading are lost if open transactions are not kept."""

    def story() -> None:
        cluster = Cluster()
        follower = ModelFollower(cluster)
        cluster.write(1, P0, ("a", "1"))
        cluster.end(1)
        follower.step((P0, 1))
        follower.finish()

    story()
    monkeypatch.setattr(OpenBatches, "hold", lambda part: None)
    with pytest.raises(AssertionError, match="nobody has held"):
        story()


# --- markers, several partitions ---


def _decided_in_one(parts: Parts) -> None:
    """Write a transaction of two partitions that has its marker in one of them."""
    cluster = Cluster(2)
    follower = ModelFollower(cluster, parts)
    follower.step()
    cluster.write(1, P0, ("a", "1"))
    cluster.write(1, P1, ("b", "1"))
    cluster.decide(1)
    cluster.mark(1, P0)
    follower.step()
    cluster.mark(1, P1)
    follower.finish()


def test_showing_at_the_first_marker() -> None:
    """A version at the first marker, without requesting the ends, is torn."""
    check_needed(_decided_in_one, MARKERS, replace(MARKERS, rule=FirstMarker), "torn")


def test_a_version_is_torn_without_waiting_for_the_other_marker() -> None:
    """A version that does not wait for the other marker is torn, though the ends were requested."""
    check_needed(_decided_in_one, MARKERS, replace(MARKERS, rule=NoWaiting), "torn")


def test_a_target_that_is_not_confirmed() -> None:
    """An unconfirmed target tears a transaction that comes between two partitions' answers.

    Its marker lies below the end of one of them.
    """

    def story(parts: Parts) -> None:
        cluster = Cluster(2)
        follower = ModelFollower(cluster, parts, causal=False)
        follower.step()
        cluster.plain(P0, ("z", "1"))
        calls = iter(range(99))

        def go_on() -> None:
            if next(calls) == 3:  # P0 has reported its end, P1 not yet
                cluster.write(1, P0, ("a", "1"))
                cluster.write(1, P1, ("b", "1"))
                cluster.end(1)

        follower.source.is_staggered, follower.source.meanwhile = True, go_on
        follower.step((P0, 9))
        follower.step((P1, 9))
        follower.finish()

    check_needed(story, MARKERS, replace(MARKERS, rule=NeverConfirmed), "torn")


def test_a_round_without_a_target() -> None:
    """Without a target, a record read while a marker is awaited appears before what it may depend on."""

    def story(parts: Parts) -> None:
        cluster = Cluster(2)
        follower = ModelFollower(cluster, parts)
        follower.step()
        cluster.write(1, P0, ("a", "1"))
        cluster.write(1, P1, ("b", "1"))
        cluster.decide(1)
        cluster.mark(1, P0)
        follower.step()
        cluster.mark(1, P1)
        cluster.plain(P1, ("cause", "1"))
        cluster.plain(P0, ("effect", "1"))
        follower.step((P0, 9))
        follower.step((P1, 1))
        follower.finish()

    check_needed(story, MARKERS, replace(MARKERS, rule=NoTarget), "on which it may depend")


def test_a_transaction_is_torn_without_looking_for_added_partitions(monkeypatch: pytest.MonkeyPatch) -> None:
    """A transaction over the known partition and one just added is torn if added partitions are not looked for."""

    def story(parts: Parts) -> None:
        cluster = Cluster(1)
        follower = ModelFollower(cluster, parts)
        follower.step()
        added = cluster.grow()
        cluster.write(1, added, ("a", "1"))
        cluster.write(1, P0, ("b", "1"))
        cluster.end(1)
        follower.step((P0, 9))
        follower.finish()

    story(MARKERS)
    monkeypatch.setattr(Follower, "_are_partitions_unchanged", lambda follower: True)
    with pytest.raises(BrokenError, match="torn"):
        story(MARKERS)
