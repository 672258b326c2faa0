"""The checker of `make chaos` on histories made by hand: torn, lost and ghosts are found, what is right passes."""

from __future__ import annotations

from chaos.findings import Kind
from chaos.history import Outcome
from chaos.plan import SHARED, core, head, named, ring, value
from support.chaos.chaos_world import World, found, without


def test_what_is_right_passes(world: World) -> None:
    """Commits, aborts, deletions and two writers; a version that stands for two transactions."""
    world.show(world.write("0.1", puts=(ring(0)[1], SHARED[0])))
    world.write("1.1", "aborted")
    world.show(world.write("1.2", puts=(ring(1)[2],), deletes=(SHARED[0],)))
    world.write("0.2", deletes=(*core(0), ring(0)[1]))
    world.show(world.write("1.3", puts=(SHARED[0],)))
    findings = world.check()
    assert found(findings) == set()
    assert (findings.versions, findings.ends) == (3, 2)
    assert findings.reads > 20
    assert world.history.counts() == {Outcome.COMMITTED: 4, Outcome.ABORTED: 1}


def test_torn_core(world: World) -> None:
    """A version shows two values among the keys that every transaction writes."""
    first = world.write("0.1")
    world.show(first)
    second = world.write("0.2")
    world.show({**second, core(0)[3]: first[core(0)[3]]})
    world.show(second)
    assert found(world.check()) == {Kind.TORN}


def test_torn_between_the_core_and_another_key(world: World) -> None:
    """A transaction's core is there and its ring key is not."""
    world.show(world.write("0.1"))
    state = world.write("0.2", puts=(ring(0)[2],))
    world.show(without(state, ring(0)[2]))
    world.show(state)
    assert found(world.check()) == {Kind.TORN}


def test_torn_ahead(world: World) -> None:
    """A shared key shows a transaction that its writer's head has not come to."""
    first = world.write("0.1")
    second = world.write("1.1", puts=(SHARED[1],))
    world.show({**first, SHARED[1]: second[SHARED[1]]})
    world.show(second)
    assert found(world.check()) == {Kind.TORN}


def test_an_aborted_value(world: World) -> None:
    """What nobody asked to commit is seen."""
    state = world.write("0.1")
    world.show(state)
    world.write("0.2", "aborted", puts=(SHARED[2],))
    world.show({**state, SHARED[2]: ("0.2", world.offset)})
    world.show(state)
    assert found(world.check()) == {Kind.TORN}


def test_bytes_that_nobody_wrote(world: World) -> None:
    """A value is not byte by byte what its transaction wrote."""
    assert named(value("0.1")) == "0.1"
    assert named(value("0.1") + b"x").startswith("damaged")
    state = world.write("0.1")
    world.show({**state, head(0): (named(value("0.1")[:-1] + b"\x00\x00"), 0)})
    world.show(state)
    assert Kind.TORN in found(world.check())


def test_lost_in_a_version(world: World) -> None:
    """A transaction between two that are seen has left no trace."""
    world.show(world.write("0.1"))
    world.write("0.2", puts=(ring(0)[2],))
    state = world.write("0.3")
    world.show(without(state, ring(0)[2]))
    world.show(state)
    assert found(world.check()) == {Kind.LOST}


def test_lost_by_going_back(world: World) -> None:
    """A version shows an older transaction than the one before."""
    first = world.write("0.1")
    second = world.write("0.2")
    world.show(second)
    world.show(first)
    world.show(second)
    assert Kind.LOST in found(world.check())


def test_lost_at_the_end(world: World) -> None:
    """The last committed transaction is nowhere: not in the replica, nor in the log."""
    before = world.write("0.1")
    world.show(before)
    world.write("0.2")
    assert found(world.check(before)) == {Kind.LOST}


def test_lost_by_one_replica_alone(world: World) -> None:
    """A replica's last state lacks what an independent reader finds; or has other bytes, or another offset."""
    state = world.write("0.1")
    world.show(state)
    assert found(world.check(mine=without(state, core(0)[0]))) == {Kind.LOST}
    assert found(world.check(mine={**state, core(0)[0]: ("0.0", state[core(0)[0]][1])})) == {Kind.LOST}
    assert found(world.check(mine={**state, core(0)[0]: ("0.1", 999)})) == {Kind.LOST}


def test_lost_at_the_barrier(world: World) -> None:
    """A replica's first version lacks what was visible before it started; what was not yet settled it may lack."""
    old = world.write("0.1")
    world.write("0.2")
    newest = world.write("0.3")
    world.line("r.every.jsonl", event="started")
    world.show(old)
    world.show(newest)
    assert found(world.check()) == {Kind.LOST}


def test_what_was_not_settled_need_not_be_in_the_first_version(world: World) -> None:
    """A commit returns before readers see it: the last one may come later."""
    old = world.write("0.1")
    newest = world.write("0.2")
    world.line("r.every.jsonl", event="started")
    world.show(old)
    world.show(newest)
    assert found(world.check()) == set()


def test_ghost_in_a_version(world: World) -> None:
    """A deleted key is still there when its writer is two transactions further."""
    state = world.write("0.1", puts=(ring(0)[1],))
    world.show(state)
    world.write("0.2", deletes=(ring(0)[1],))
    newest = world.write("0.3")
    world.show({**newest, ring(0)[1]: state[ring(0)[1]]})
    world.show(newest)
    assert found(world.check()) == {Kind.GHOST}


def test_ghost_that_comes_back(world: World) -> None:
    """A deleted key is gone, and is there again though nobody wrote it."""
    state = world.write("0.1", puts=(SHARED[0],))
    world.show(state)
    newest = world.write("0.2", deletes=(SHARED[0],))
    world.show(newest)
    world.show({**newest, SHARED[0]: state[SHARED[0]]})
    world.show(newest)
    assert found(world.check()) == {Kind.GHOST}


def test_ghost_at_the_end(world: World) -> None:
    """A replica's last state has a key that the log does not have; then the log itself."""
    state = world.write("0.1", puts=(ring(0)[1],))
    world.show(state)
    newest = world.write("0.2", deletes=(ring(0)[1],))
    world.show(newest)
    ghost = {**newest, ring(0)[1]: state[ring(0)[1]]}
    assert found(world.check(mine=ghost)) == {Kind.GHOST}
    assert found(world.check(ghost, ghost)) == {Kind.GHOST}
