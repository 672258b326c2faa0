"""Long histories at random, read by the real loop: every version shown is checked against what was written.

Producers bump their epochs (KIP-890) or not; markers come one partition at a time; the log goes on while the
reader asks; what it has fetched may be old; deletions, aborts, markers without data.
"""

from __future__ import annotations

from hypothesis import Phase, given, settings

from kafka_replica.transactions import QuiescenceDetector
from support.core.model_follower import ModelFollower, Parts
from support.core.model_histories import History, Play, histories

QUIET = Parts(rule=QuiescenceDetector)
ALL = ("fetch", "touch", "compact", "compact")
TRIMMED = (*ALL, *["trim", "read"] * 6)
GROWING = ("fetch", "grow", "look", "touch")
PHASES = (Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink)
MANY = settings(max_examples=120, deadline=None, phases=PHASES)


@MANY
@given(histories(1, more=ALL))
def test_one_partition(history: History) -> None:
    """With compaction: holes are seen, and waited out."""
    Play(history).run().finish()


@MANY
@given(histories(2, more=ALL))
def test_two_partitions(history: History) -> None:
    """Transactions span them; each is shown whole and after all it may depend on."""
    Play(history).run().finish()


@MANY
@given(histories(3, more=ALL, producers=4, longest=60))
def test_three_partitions(history: History) -> None:
    """The same for three, with more writers."""
    Play(history).run().finish()


@MANY
@given(histories(2, more=ALL, staggers=True))
def test_partitions_that_answer_one_after_the_other(history: History) -> None:
    """Several brokers are not asked at one moment: whole all the same, whoever the producers are."""
    Play(history).run().finish()


@MANY
@given(histories(3, more=ALL, old=True, producers=2))
def test_producers_without_the_bump(history: History) -> None:
    """One epoch for all transactions of a producer: each whole, and with all that it may depend on."""
    Play(history).run().finish()


@MANY
@given(histories(1, more=GROWING))
def test_partitions_that_are_added(history: History) -> None:
    """Also in the middle of a transaction that spans the old one and the new one."""
    Play(history).run().finish()


@MANY
@given(histories(2, more=("fetch", "touch"), hangs=True, old=False))
def test_transactions_that_hang(history: History) -> None:
    """What is committed behind them is shown, and in the end everything but them."""
    follower = Play(history).run()
    follower.oracle.finish(follower.state)


@MANY
@given(histories(1, more=ALL))
def test_one_partition_by_quiet_points(history: History) -> None:
    """As a read_committed consumer brings it."""
    Play(history, QUIET).run().finish()


@MANY
@given(histories(3, more=(*ALL, "grow", "look")))
def test_several_partitions_by_quiet_points(history: History) -> None:
    """The stable ends are asked for before the high watermarks, and the log goes on in between."""
    Play(history, QUIET).run().finish()


@MANY
@given(histories(1, more=TRIMMED))
def test_one_partition_whose_front_is_deleted(history: History) -> None:
    """Records go without tombstones: each version has exactly those at or above the log start offset."""
    Play(history).run().finish()


@MANY
@given(histories(3, more=TRIMMED))
def test_several_partitions_whose_fronts_are_deleted(history: History) -> None:
    """Transactions span partitions, of which each has a front of its own."""
    Play(history).run().finish()


@MANY
@given(histories(1, more=TRIMMED, producers=1))
def test_a_deleted_front_by_quiet_points(history: History) -> None:
    """A reader of committed records deletes the same."""
    Play(history, QUIET).run().finish()


@MANY
@given(histories(3, more=(*TRIMMED, "grow", "look"), producers=2))
def test_several_deleted_fronts_by_quiet_points(history: History) -> None:
    """Several partitions have fronts of their own, and are quiet at one moment."""
    Play(history, QUIET).run().finish()


def _keep(follower: ModelFollower) -> None:
    follower.publisher.keeps_versions = True


@settings(max_examples=40, deadline=None, phases=PHASES)
@given(histories(2, more=("fetch",)))
def test_going_on_from_any_version(history: History) -> None:
    """A version and what follows ``position.resume()`` make the same end, also with open transactions (fact 15)."""
    play = Play(history, prepare=_keep)
    follower = play.run()
    for version in follower.publisher.versions:
        ModelFollower(play.cluster, resumed=version).finish()


@settings(max_examples=60, deadline=None, phases=PHASES)
@given(histories(2, more=("fetch", *["trim", "read"] * 4)))
def test_going_on_from_any_version_after_the_front_was_deleted(history: History) -> None:
    """A restart finds that records it has saved are gone, as long as all that comes next is there."""
    play = Play(history, prepare=_keep)
    follower = play.run()
    follower.finish()
    for version in follower.publisher.versions:
        resume = version.position.resume()
        if all(resume.get(partition, 0) >= log.start for partition, log in play.cluster.logs.items()):
            ModelFollower(play.cluster, resumed=version).finish()


@settings(max_examples=40, deadline=None, phases=PHASES)
@given(histories(1, more=("fetch",), hangs=True))
def test_going_on_from_any_version_of_one_partition(history: History) -> None:
    """The same for one partition, where versions are as fine as transactions."""
    play = Play(history, prepare=_keep)
    play.run()
    for version in play.follower.publisher.versions if play.follower else ():
        again = ModelFollower(play.cluster, resumed=version)
        again.drain()
        again.oracle.finish(again.state)
