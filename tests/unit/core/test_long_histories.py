"""Long random histories read by the real loop: every published version is checked against the written records.

Producers bump their epochs (KIP-890) or not; markers arrive one partition at a time; the log grows while the
reader requests offsets; fetched data may be old; there are deletions, aborts, markers without data.
"""

from __future__ import annotations

import pytest
from hypothesis import Phase, given, settings

from kafka_replica.transactions import QuiescenceDetector
from support.core.model_follower import ModelFollower, Parts
from support.core.model_histories import History, HistoryPlayer, histories
from support.effort import examples

pytestmark = pytest.mark.scaled

QUIET = Parts(rule=QuiescenceDetector)
ALL = ("fetch", "touch", "compact", "compact")
TRIMMED = (*ALL, *["trim", "read"] * 6)
GROWING = ("fetch", "grow", "look", "touch")
PHASES = (Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink)
MANY = settings(max_examples=examples(120), deadline=None, phases=PHASES)


@pytest.mark.thorough
@MANY
@given(histories(1, more=ALL))
def test_one_partition_with_compaction_is_read_correctly(history: History) -> None:
    """A single partition with compaction is read correctly: gaps are noticed and waited for."""
    HistoryPlayer(history).run().finish()


@MANY
@given(histories(2, more=ALL))
def test_transactions_over_two_partitions_are_shown_whole(history: History) -> None:
    """Transactions over two partitions are each shown whole, and after everything they may depend on."""
    HistoryPlayer(history).run().finish()


@pytest.mark.thorough
@MANY
@given(histories(3, more=ALL, producers=4, longest=60))
def test_transactions_over_three_partitions_are_shown_whole(history: History) -> None:
    """Transactions over three partitions of more writers are shown whole and after their causes."""
    HistoryPlayer(history).run().finish()


@MANY
@given(histories(2, more=ALL, staggers=True))
def test_versions_are_whole_when_brokers_answer_at_different_moments(history: History) -> None:
    """Versions are whole for all producers, too, where several brokers answer at different moments."""
    HistoryPlayer(history).run().finish()


@MANY
@given(histories(3, more=ALL, old=True, producers=2))
def test_producers_without_the_bump(history: History) -> None:
    """Transactions of producers with one epoch for all are each whole, and shown with everything they may depend on."""
    HistoryPlayer(history).run().finish()


@MANY
@given(histories(1, more=GROWING))
def test_partitions_that_are_added(history: History) -> None:
    """Versions stay whole when a partition is added, also in the middle of a transaction that spans it."""
    HistoryPlayer(history).run().finish()


@MANY
@given(histories(2, more=("fetch", "touch"), hangs=True, old=False))
def test_transactions_that_hang(history: History) -> None:
    """Transactions committed behind hanging ones are shown; in the end only the hanging ones are missing."""
    follower = HistoryPlayer(history).run()
    follower.oracle.finish(follower.state)


@MANY
@given(histories(1, more=ALL))
def test_quiescence_finds_whole_versions_of_one_partition(history: History) -> None:
    """Quiescence finds whole versions of one partition in what a read_committed consumer returns."""
    HistoryPlayer(history, QUIET).run().finish()


@pytest.mark.thorough
@MANY
@given(histories(3, more=(*ALL, "grow", "look")))
def test_several_partitions_by_quiet_points(history: History) -> None:
    """Versions are whole though the log grows between the requests for last stable offsets and high watermarks."""
    HistoryPlayer(history, QUIET).run().finish()


@MANY
@given(histories(1, more=TRIMMED))
def test_versions_of_one_partition_have_no_record_below_the_log_start(history: History) -> None:
    """Each version has exactly the records at or above the log start offset: deletion leaves no tombstones."""
    HistoryPlayer(history).run().finish()


@MANY
@given(histories(3, more=TRIMMED))
def test_versions_of_several_partitions_have_no_record_below_the_log_starts(history: History) -> None:
    """Versions are exact where transactions span partitions that each have a log start of their own."""
    HistoryPlayer(history).run().finish()


@MANY
@given(histories(1, more=TRIMMED, producers=1))
def test_a_deleted_front_by_quiet_points(history: History) -> None:
    """A read_committed consumer removes exactly the records below the log start offset, too."""
    HistoryPlayer(history, QUIET).run().finish()


@MANY
@given(histories(3, more=(*TRIMMED, "grow", "look"), producers=2))
def test_several_deleted_fronts_by_quiet_points(history: History) -> None:
    """Versions are exact at quiescence of several partitions that each have a log start of their own."""
    HistoryPlayer(history, QUIET).run().finish()


def _keep(follower: ModelFollower) -> None:
    follower.publisher.keeps_versions = True


@settings(max_examples=examples(40), deadline=None, phases=PHASES)
@given(histories(2, more=("fetch",)))
def test_going_on_from_any_version(history: History) -> None:
    """Resuming at ``position.resume()`` of any version gives the same end, also with open transactions (fact 15)."""
    play = HistoryPlayer(history, prepare=_keep)
    follower = play.run()
    for version in follower.publisher.versions:
        ModelFollower(play.cluster, resumed=version).finish()


@settings(max_examples=examples(60), deadline=None, phases=PHASES)
@given(histories(2, more=("fetch", *["trim", "read"] * 4)))
def test_going_on_from_any_version_after_the_front_was_deleted(history: History) -> None:
    """A restart that finds saved records deleted gives the same end, as long as all later records are there."""
    play = HistoryPlayer(history, prepare=_keep)
    follower = play.run()
    follower.finish()
    for version in follower.publisher.versions:
        resume = version.position.resume()
        if all(resume.get(partition, 0) >= log.start for partition, log in play.cluster.logs.items()):
            ModelFollower(play.cluster, resumed=version).finish()


@settings(max_examples=examples(40), deadline=None, phases=PHASES)
@given(histories(1, more=("fetch",), hangs=True))
def test_continuing_from_any_version_gives_the_same_end(history: History) -> None:
    """Continuing gives the same end for one partition, too, where there is a version for each transaction."""
    play = HistoryPlayer(history, prepare=_keep)
    play.run()
    for version in play.follower.publisher.versions if play.follower else ():
        again = ModelFollower(play.cluster, resumed=version)
        again.drain()
        again.oracle.finish(again.state)
