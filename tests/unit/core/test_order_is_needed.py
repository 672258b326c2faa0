"""Each rule is necessary, continued: which record of a key counts, and from when on versions are published."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kafka_replica import Position
from support.core.log_model import P0, Cluster
from support.core.model_follower import ModelFollower, Parts
from support.core.model_oracle import BrokenError
from support.core.stories import MARKERS, Story, check_needed
from support.core.switched_off import Forgets, LateOnesWin, NoBarrier, NoHoles

# --- the record of a key that counts ---


def _two_of_one_key(value: str | None) -> Story:
    """Write a key by A, write or delete it by B at a higher offset, and commit B first (fact 15)."""

    def story(parts: Parts) -> None:
        cluster = Cluster()
        follower = ModelFollower(cluster, parts)
        follower.step()
        cluster.write(1, P0, ("k", "A"))
        cluster.write(2, P0, ("k", value))
        cluster.end(2)
        follower.step()
        cluster.end(1)
        follower.finish()

    return story


def test_letting_late_records_overwrite() -> None:
    """A violation is found where late records overwrite: the higher offset counts, whoever commits last."""
    check_needed(_two_of_one_key("B"), MARKERS, replace(MARKERS, delta_builder=LateOnesWin), "torn")


def test_forgetting_deleted_keys() -> None:
    """A violation is found where deleted keys are forgotten: a deletion has an offset, too."""
    check_needed(_two_of_one_key(None), MARKERS, replace(MARKERS, delta_builder=Forgets), "torn")


# --- the beginning of publishing ---


def test_ignoring_gaps_shows_a_torn_version() -> None:
    """A violation is found where gaps are ignored: compaction took half a transaction whose key a later one wrote."""

    def story(parts: Parts) -> None:
        cluster = Cluster()
        follower = ModelFollower(cluster, parts)
        follower.step()
        cluster.write(1, P0, ("a", "old"))
        cluster.write(1, P0, ("b", "old"))
        cluster.end(1)
        cluster.write(2, P0, ("a", "new"))
        cluster.end(2)
        cluster.compact(P0)
        follower.step((P0, 2))
        follower.finish()

    check_needed(story, MARKERS, replace(MARKERS, barrier=NoHoles), "torn")


def test_ready_at_the_first_point() -> None:
    """A violation is found where a replica is ready at the first point: of two earlier transactions one is missing."""

    def story(parts: Parts) -> None:
        cluster = Cluster()
        for key in "ab":
            cluster.write(1, P0, (key, "1"))
            cluster.end(1)
        follower = ModelFollower(cluster, parts)
        follower.step((P0, 2))
        follower.finish()

    check_needed(story, MARKERS, replace(MARKERS, barrier=NoBarrier), "before the barrier")


def test_going_on_at_the_offset_read_up_to() -> None:
    """A violation is found where reading resumes at the position: an open transaction's records lie below it."""

    def story(*, forgets: bool) -> None:
        cluster = Cluster()
        follower = ModelFollower(cluster)
        follower.publisher.keeps_versions = True
        follower.step()
        cluster.write(1, P0, ("a", "1"))
        cluster.plain(P0, ("b", "1"))
        follower.step()
        cluster.end(1)
        version = follower.publisher.versions[-1]
        assert version.position.resume() == Position({P0: 0})
        resumed = replace(version, position=Position(dict(version.position))) if forgets else version
        ModelFollower(cluster, resumed=resumed).finish()

    story(forgets=False)
    with pytest.raises(BrokenError):
        story(forgets=True)
