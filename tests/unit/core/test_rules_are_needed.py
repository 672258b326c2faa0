"""Each rule is needed: a story that goes well with it, and is found broken with that one rule switched off."""

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
    """The last stable offset lies in the middle of a committed transaction (fact 2)."""

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
    """One partition was read before the transaction came, the other afterwards: both looked quiet (fact 5)."""

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
    """Half a transaction is read."""

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
    """A transaction was aborted."""

    def story(parts: Parts) -> None:
        cluster = Cluster()
        follower = ModelFollower(cluster, parts)
        cluster.write(1, P0, ("a", "1"))
        cluster.end(1, commits=False)
        follower.finish()

    check_needed(story, MARKERS, replace(MARKERS, rule=AbortsCount), "was not committed")


def test_not_holding_what_is_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """The marker comes with a later reading: the records of the earlier one are gone if nobody held them."""

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
    """A transaction of two partitions has its marker in one of them."""
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
    """Without asking for the ends."""
    check_needed(_decided_in_one, MARKERS, replace(MARKERS, rule=FirstMarker), "torn")


def test_not_waiting_for_the_other_marker() -> None:
    """Though the ends were asked for."""
    check_needed(_decided_in_one, MARKERS, replace(MARKERS, rule=NoWaiting), "torn")


def test_a_target_that_is_not_confirmed() -> None:
    """Partitions say their ends one after the other; the transaction comes in between, and its marker is below one."""

    def story(parts: Parts) -> None:
        cluster = Cluster(2)
        follower = ModelFollower(cluster, parts, causal=False)
        follower.step()
        cluster.plain(P0, ("z", "1"))
        calls = iter(range(99))

        def go_on() -> None:
            if next(calls) == 3:  # P0 has told its end, P1 not yet
                cluster.write(1, P0, ("a", "1"))
                cluster.write(1, P1, ("b", "1"))
                cluster.end(1)

        follower.source.is_staggered, follower.source.meanwhile = True, go_on
        follower.step((P0, 9))
        follower.step((P1, 9))
        follower.finish()

    check_needed(story, MARKERS, replace(MARKERS, rule=NeverConfirmed), "torn")


def test_a_round_without_a_target() -> None:
    """While a marker is waited for something else is read, but not what it may depend on."""

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


def test_not_looking_for_partitions_that_were_added(monkeypatch: pytest.MonkeyPatch) -> None:
    """A transaction spans the one that is read and one that was added a moment ago."""

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
    monkeypatch.setattr(Follower, "_is_all_there", lambda follower: True)
    with pytest.raises(BrokenError, match="torn"):
        story(MARKERS)
