"""All histories of small clusters: each order of the writers' steps, of reads and of requests for the ends."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kafka_replica import Partition
from kafka_replica.transactions import MarkerDetector, QuiescenceDetector
from support.core.log_model import P0, P1
from support.core.model_follower import Parts
from support.core.model_oracle import BrokenError
from support.core.model_search import Program, World, search
from support.core.switched_off import (
    EpochsTell,
    EveryRead,
    FirstMarker,
    Forgets,
    LateOnesWin,
    NeverAsks,
    NeverGivesUp,
    NeverMore,
    NoHoles,
    NoWaiting,
)
from support.effort import first_in_usual

pytestmark = pytest.mark.thorough


def of_both(value: str, *order: Partition, commits: bool = True, deletes: bool = False) -> Program:
    """Return a transaction with one record in each of two partitions, on keys that other transactions write, too."""
    writes = tuple((p, ((f"k{p.partition}", None if deletes and p == P1 else value),)) for p in order)
    return Program(writes, order, commits)


def of_one(*written: tuple[str, str | None], commits: bool = True) -> Program:
    """Return a transaction with the given number of batches in one partition."""
    return Program(tuple((P0, (record,)) for record in written), (P0,), commits)


ONE = World(
    1,
    {1: (of_one(("k", "1"), ("l", "1")), of_one(("l", "2"))), 2: (of_one(("k", "3"), ("k", None)),)},
    batches=1,
)
ABORT = World(
    1, {1: (of_one(("k", "1"), ("l", "1"), commits=False),), 2: (of_one(("k", "3"), ("l", None)),)}, batches=1
)
COMPACTED = World(
    1, {1: (of_one(("k", "1"), ("l", "1")),), 2: (of_one(("k", "2"), ("l", None)),)}, compactions=1, batches=1
)
TWO = World(2, {1: (of_both("1", P0, P1),), 2: (of_both("2", P1, P0, deletes=True),)})
NEXT = World(
    2, {1: (Program(((P0, (("k0", "1"),)),), (P0,)), of_both("2", P1, P0), of_both("3", P0, P1, commits=False))}
)
OLD = World(2, {1: (of_both("1", P0, P1), of_both("2", P1, P0))}, old_producers=(1,), meanwhile=2)
OLD_LATER = World(
    2,
    {1: (of_one(("k0", "1")), Program(((P1, (("k1", "2"),)),), (P1,)), of_both("3", P1, P0))},
    old_producers=(1,),
    meanwhile=2,
)
OLD_CAUSE = World(
    2,
    {1: (of_one(("k0", "1")), Program(((P1, (("k1", "2"),)),), (P1,))), 2: (Program(((P1, (("l1", "3"),)),), (P1,)),)},
    old_producers=(1,),
)


@pytest.mark.parametrize(
    ("world", "least"), first_in_usual([(ABORT, 900), (COMPACTED, 2500), (NEXT, 1500), (ONE, 5000), (TWO, 15000)], 3),
    ids=["abort", "compacted", "next", "one", "two"],
)  # fmt: skip
def test_versions_by_markers_are_whole_in_every_history(world: World, least: int) -> None:
    """In any order every version is whole, has its causes and names open transactions; the last equals the log."""
    assert search(world, Parts(rule=MarkerDetector)).situations > least


@pytest.mark.long
@pytest.mark.parametrize(
    "world",
    [
        pytest.param(OLD, id="two"),
        pytest.param(OLD_LATER, id="three", marks=pytest.mark.long),
        pytest.param(OLD_CAUSE, id="cause", marks=pytest.mark.long),
    ],
)
def test_by_markers_without_the_bump(world: World) -> None:
    """Versions are whole, too, where a producer uses one epoch for all its transactions."""
    assert search(world, Parts(rule=MarkerDetector)).situations > 1000


@pytest.mark.long
def test_by_markers_of_several_brokers() -> None:
    """Versions are whole, too, where partitions report their ends one after the other."""
    assert search(replace(OLD, is_staggered=True, meanwhile=1), Parts(rule=MarkerDetector)).situations > 500


@pytest.mark.parametrize(
    ("world", "least"), first_in_usual([(ABORT, 500), (COMPACTED, 1000), (NEXT, 200), (ONE, 3000), (TWO, 2000)], 3),
    ids=["abort", "compacted", "next", "one", "two"],
)  # fmt: skip
def test_by_quiet_points(world: World, least: int) -> None:
    """Versions are whole for a read_committed consumer, too, that requests the last stable offsets first."""
    assert search(world, Parts(rule=QuiescenceDetector)).situations > least


@pytest.mark.long
@pytest.mark.parametrize(
    ("world", "off"),
    [
        (ONE, Parts(rule=EveryRead)),
        (ONE, Parts(delta_builder=LateOnesWin)),
        (ONE, Parts(delta_builder=Forgets)),
        (COMPACTED, Parts(barrier=NoHoles)),
        (TWO, Parts(rule=NeverAsks)),
        (TWO, Parts(rule=FirstMarker)),
        (TWO, Parts(rule=NoWaiting)),
        (OLD, Parts(rule=EpochsTell)),
        (OLD, Parts(rule=NeverMore)),
        (OLD, Parts(rule=NeverGivesUp)),
    ],
    ids=[
        *("every read", "late ones", "forgets", "no holes", "never asks", "first marker", "no waiting"),
        *("epochs tell", "never more", "never gives up"),
    ],
)
def test_the_search_finds_a_rule_that_is_switched_off(world: World, off: Parts) -> None:
    """The search finds a violation when a rule is switched off, so the searches above can fail."""
    with pytest.raises(BrokenError):
        search(world, off)
