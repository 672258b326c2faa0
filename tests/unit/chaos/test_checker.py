"""The checker of `make chaos` on handmade histories: torn, lost and ghost records are found, correct ones pass."""

from __future__ import annotations

from chaos.findings import Kind
from chaos.history import Outcome
from chaos.plan import SHARED, core, head, named, ring, value
from support.chaos.chaos_world import World, found, without


def test_correct_streams_pass_without_findings(world: World) -> None:
    """Commits, aborts, deletions, two writers, and a version of two transactions pass without findings."""
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


def test_differing_core_keys_are_a_torn_version(world: World) -> None:
    """A version with two values among the keys that every transaction writes is torn."""
    first = world.write("0.1")
    world.show(first)
    second = world.write("0.2")
    world.show({**second, core(0)[3]: first[core(0)[3]]})
    world.show(second)
    assert found(world.check()) == {Kind.TORN}


def test_torn_between_the_core_and_another_key(world: World) -> None:
    """A version with a transaction's core but without its ring key is torn."""
    world.show(world.write("0.1"))
    state = world.write("0.2", puts=(ring(0)[2],))
    world.show(without(state, ring(0)[2]))
    world.show(state)
    assert found(world.check()) == {Kind.TORN}


def test_a_shared_key_ahead_of_its_head_is_a_torn_version(world: World) -> None:
    """A shared key with a transaction that its writer's head has not reached is torn."""
    first = world.write("0.1")
    second = world.write("1.1", puts=(SHARED[1],))
    world.show({**first, SHARED[1]: second[SHARED[1]]})
    world.show(second)
    assert found(world.check()) == {Kind.TORN}


def test_an_aborted_value(world: World) -> None:
    """A version with a value that no writer tried to commit is torn."""
    state = world.write("0.1")
    world.show(state)
    world.write("0.2", "aborted", puts=(SHARED[2],))
    world.show({**state, SHARED[2]: ("0.2", world.offset)})
    world.show(state)
    assert found(world.check()) == {Kind.TORN}


def test_bytes_that_nobody_wrote(world: World) -> None:
    """A value that differs in any byte from its transaction's value is found."""
    assert named(value("0.1")) == "0.1"
    assert named(value("0.1") + b"x").startswith("damaged")
    state = world.write("0.1")
    world.show({**state, head(0): (named(value("0.1")[:-1] + b"\x00\x00"), 0)})
    world.show(state)
    assert Kind.TORN in found(world.check())


def test_lost_in_a_version(world: World) -> None:
    """A transaction between two visible ones that has left no trace is lost."""
    world.show(world.write("0.1"))
    world.write("0.2", puts=(ring(0)[2],))
    state = world.write("0.3")
    world.show(without(state, ring(0)[2]))
    world.show(state)
    assert found(world.check()) == {Kind.LOST}


def test_lost_by_going_back(world: World) -> None:
    """A version with an older transaction than its predecessor is found as lost."""
    first = world.write("0.1")
    second = world.write("0.2")
    world.show(second)
    world.show(first)
    world.show(second)
    assert Kind.LOST in found(world.check())


def test_lost_at_the_end(world: World) -> None:
    """The last committed transaction is lost if neither the replica nor the log has it."""
    before = world.write("0.1")
    world.show(before)
    world.write("0.2")
    assert found(world.check(before)) == {Kind.LOST}


def test_lost_by_one_replica_alone(world: World) -> None:
    """A last state that lacks a record of an independent reader, or has other bytes or another offset, is found."""
    state = world.write("0.1")
    world.show(state)
    assert found(world.check(mine=without(state, core(0)[0]))) == {Kind.LOST}
    assert found(world.check(mine={**state, core(0)[0]: ("0.0", state[core(0)[0]][1])})) == {Kind.LOST}
    assert found(world.check(mine={**state, core(0)[0]: ("0.1", 999)})) == {Kind.LOST}


def test_lost_at_the_barrier(world: World) -> None:
    """A first version that lacks what was visible before the replica's start is found.

    Records that were not yet visible then may be missing.
    """
    old = world.write("0.1")
    world.write("0.2")
    newest = world.write("0.3")
    world.line("r.every.jsonl", event="started")
    world.show(old)
    world.show(newest)
    assert found(world.check()) == {Kind.LOST}


def test_a_first_version_may_lack_the_last_commit(world: World) -> None:
    """A first version may lack the last commit: a commit returns before readers see it."""
    old = world.write("0.1")
    newest = world.write("0.2")
    world.line("r.every.jsonl", event="started")
    world.show(old)
    world.show(newest)
    assert found(world.check()) == set()


def test_ghost_in_a_version(world: World) -> None:
    """A deleted key that is still there when its writer is two transactions further is a ghost."""
    state = world.write("0.1", puts=(ring(0)[1],))
    world.show(state)
    world.write("0.2", deletes=(ring(0)[1],))
    newest = world.write("0.3")
    world.show({**newest, ring(0)[1]: state[ring(0)[1]]})
    world.show(newest)
    assert found(world.check()) == {Kind.GHOST}


def test_ghost_that_comes_back(world: World) -> None:
    """A deleted key that disappears and comes back without being written is a ghost."""
    state = world.write("0.1", puts=(SHARED[0],))
    world.show(state)
    newest = world.write("0.2", deletes=(SHARED[0],))
    world.show(newest)
    world.show({**newest, SHARED[0]: state[SHARED[0]]})
    world.show(newest)
    assert found(world.check()) == {Kind.GHOST}


def test_ghost_at_the_end(world: World) -> None:
    """A key in a replica's last state that the log lacks is a ghost; so is a deleted key in the log itself."""
    state = world.write("0.1", puts=(ring(0)[1],))
    world.show(state)
    newest = world.write("0.2", deletes=(ring(0)[1],))
    world.show(newest)
    ghost = {**newest, ring(0)[1]: state[ring(0)[1]]}
    assert found(world.check(mine=ghost)) == {Kind.GHOST}
    assert found(world.check(ghost, ghost)) == {Kind.GHOST}
