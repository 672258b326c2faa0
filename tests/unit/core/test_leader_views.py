"""A transaction is shown whole while leaders are replaced, or the replica reports that it could not exclude the rest.

The real follower and the real rules about leaders read a model with three brokers: replaced leaders that do not know it
report old ends, brokers learn of new leaders at different times, and some do not answer.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import Phase, given, settings

from support.core.leader_model import (
    LeaderHistoryPlayer,
    LeadersAlone,
    LeaderSource,
    OldEndsCount,
    OneIsInSync,
    VacancyPasses,
    unconfirmed_ends,
)
from support.core.log_model import P0, P1, Cluster
from support.core.model_follower import ModelFollower, Parts
from support.core.model_histories import History, histories
from support.core.model_oracle import BrokenError
from support.core.stories import check_needed
from support.effort import examples

LEADERS = ("elect", "elect", "learn", "silence")
PHASES = (Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink)
MANY = settings(max_examples=examples(120), deadline=None, phases=PHASES)
RIGHT = Parts(source=LeaderSource)


@pytest.mark.thorough
@MANY
@pytest.mark.scaled
@given(histories(3, more=LEADERS))
def test_no_transaction_is_torn_if_two_brokers_of_three_confirm_records(history: History) -> None:
    """With min.insync.replicas 2, versions are whole though one broker is silent, and nothing is reported."""
    follower = LeaderHistoryPlayer(history).run()
    follower.finish()
    assert not unconfirmed_ends(follower)


@pytest.mark.thorough
@MANY
@pytest.mark.scaled
@given(histories(2, more=LEADERS))
def test_a_torn_transaction_was_reported_if_one_broker_confirms_records(history: History) -> None:
    """With min.insync.replicas 1 and a silent broker, a version may be torn, but only after a report."""
    play = LeaderHistoryPlayer(history, Parts(source=OneIsInSync))
    try:
        play.run().finish()
    except BrokenError:
        assert play.follower is not None
        assert unconfirmed_ends(play.follower)


def _opened(parts: Parts) -> ModelFollower:
    """Return a follower of two partitions."""
    follower = ModelFollower(Cluster(2), parts)
    follower.step()
    return follower


def _replace_leader(follower: ModelFollower, *silent: int, after_none: bool = False) -> None:
    """Write a transaction of two partitions, while the old leader of one does not know that it was replaced."""
    source, cluster = follower.source, follower.source.cluster
    assert isinstance(source, LeaderSource)
    source.elect(P1, 2, {3} if source.min_insync_replicas > 1 else (), after_none=after_none)
    cluster.write(1, P0, ("a", "1"))
    cluster.write(1, P1, ("b", "1"))
    cluster.end(1)
    source.silent = frozenset(silent)
    follower.step()
    follower.finish()


@pytest.mark.parametrize("off", [OldEndsCount, LeadersAlone])
def test_old_ends_tear_a_transaction(off: type[LeaderSource]) -> None:
    """A version is torn if a known newer leader is ignored, or if only the leaders are asked, even with the bump."""
    check_needed(lambda parts: _replace_leader(_opened(parts)), RIGHT, replace(RIGHT, source=off), "torn")


def test_a_newer_epoch_without_a_leader_counts() -> None:
    """A version is torn if the only broker that answers knows a newer epoch without a leader, and that is ignored."""
    check_needed(
        lambda parts: _replace_leader(_opened(parts), 2, after_none=True),
        Parts(source=OneIsInSync),
        Parts(source=VacancyPasses),
        "torn",
    )


@pytest.mark.parametrize("silent", [2, 3])
def test_one_silent_broker_hides_no_leader_that_two_confirm(silent: int) -> None:
    """A new leader is known to two brokers, and one of them answers, so nothing is unconfirmed."""
    follower = _opened(RIGHT)
    _replace_leader(follower, silent)
    assert not unconfirmed_ends(follower)


def test_a_torn_transaction_is_reported_if_both_brokers_that_know_are_silent() -> None:
    """If only the old leader answers, the version is torn; the replica has reported that before."""
    follower = _opened(RIGHT)
    with pytest.raises(BrokenError, match="torn"):
        _replace_leader(follower, 2, 3)
    assert unconfirmed_ends(follower)
