"""The checker of `make chaos` on histories made by hand: what is right passes, each thing that is wrong is found."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from chaos.checker import check
from chaos.findings import Findings, Kind
from chaos.history import History, Journal, Outcome
from chaos.naive import NaiveSnapshot
from chaos.options import Options
from chaos.plan import SHARED, core, head, named, ring, value
from chaos.report import Report
from chaos.streams import Stream
from chaos.witness import shown_though_aborted
from kafka_replica import Cut, Partition, Record

State = dict[str, tuple[str, int]]
PLACE = Partition("chaos", 0)


@dataclass
class World:
    """A folder of a run, written by hand: two writers, one replica with one listener."""

    folder: Path
    now_s: float = 0.0
    offset: int = 0
    version: int = 0
    shown: State = field(default_factory=dict)
    present: State = field(default_factory=dict)
    cut: int = 0

    def __post_init__(self) -> None:
        for number in range(2):
            self.line(f"writer-{number}.jsonl", event="open")
        self.line("r.every.jsonl", event="started")

    def line(self, file: str, **facts: Any) -> None:
        """Adds a line to a file."""
        self.now_s += 1
        with (self.folder / file).open("a") as out:
            out.write(json.dumps({"at_s": self.now_s, **facts}) + "\n")

    def write(
        self,
        name: str,
        outcome: str = "committed",
        *,
        puts: tuple[str, ...] = (),
        deletes: tuple[str, ...] = (),
        offsets: dict[str, int | None] | None = None,
    ) -> State:
        """A transaction puts its writer's head and core (unless deleted) and more; returns the state after it."""
        writer, number = map(int, name.split("."))
        file = f"writer-{writer}.jsonl"
        written = [head(writer), *(key for key in core(writer) if key not in deletes), *puts]
        placed: dict[str, int | None] = {}
        for key in (*written, *deletes):
            placed[key], self.offset = self.offset, self.offset + 1
        placed |= offsets or {}
        self.line(file, event="begin", number=number, puts=written, deletes=list(deletes))
        if outcome == "aborted":
            self.line(file, event="abort", number=number)
            return dict(self.present)
        self.line(file, event="commit", number=number, offsets=placed)
        if outcome == "committed":
            self.line(file, event="committed", number=number)
        after = {key: entry for key, entry in self.present.items() if key not in deletes}
        after |= {key: (name, 7 if (at := placed[key]) is None else at) for key in written}
        self.present = after
        return dict(after)

    def show(self, state: State, **other: Any) -> None:
        """The replica shows a version; `other` replaces what it would rightly say of it."""
        gone = [key for key in self.shown if key not in state]
        changed = {key: entry for key, entry in state.items() if self.shown.get(key) != entry}
        self.version += 1
        self.cut += 1000
        self.line("r.every.jsonl", **{
            "event": "look", "version": self.version, "cut": {"chaos-0": self.cut}, "open": [], "gone": gone,
            "set": entries(changed),
            "agree": True, "reads": len(state), "stands_for": 1, "initial": self.version == 1,
            "changed": list(changed), "deleted": gone, **other,
        })  # fmt: skip
        self.shown = dict(state)

    def end(self, name: str, state: State) -> None:
        """Somebody's last state."""
        entries = {key.encode().hex(): [value(by).hex(), 0, offset] for key, (by, offset) in state.items()}
        (self.folder / f"{name}.end.json").write_text(json.dumps({"state": entries}))

    @property
    def history(self) -> History:
        """What the writers wrote down."""
        return History.read([self.folder / f"writer-{number}.jsonl" for number in range(2)])

    def check(self, state: State | None = None, mine: State | None = None) -> Findings:
        """Checks; `state` is what the independent reader finds, `mine` what the replica holds."""
        self.end("independent", self.present if state is None else state)
        self.end("r", (self.present if state is None else state) if mine is None else mine)
        return check(self.folder, self.history)


@pytest.fixture
def world(tmp_path: Path) -> World:
    """Nothing written yet."""
    return World(tmp_path)


def entries(state: State) -> dict[str, list[Any]]:
    """A state as a stream writes it."""
    return {key: [by, offset, "chaos-0"] for key, (by, offset) in state.items()}


def without(state: State, *keys: str) -> State:
    """A state that lacks some keys."""
    return {key: entry for key, entry in state.items() if key not in keys}


def found(findings: Findings) -> set[Kind]:
    """The kinds of what is wrong; the sentences are printed for whoever reads a failure."""
    print(findings.texts)
    return set(findings.found)


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


@pytest.mark.parametrize(
    "said",
    [
        {"changed": []},
        {"changed": [head(0), head(0), *core(0)[1:]]},
        {"deleted": ["nothing"]},
        {"version": 1},
        {"version": 5},
        {"stands_for": 2},
        {"initial": True},
        {"cut": {"chaos-0": 5}},
        {"cut": {}},
        {"agree": False},
    ],
    ids=str,
)
def test_misreported(world: World, said: dict[str, Any]) -> None:
    """A change says something else than what changed, or comes out of order."""
    world.show(world.write("0.1"))
    world.show(world.write("0.2"), **said)
    assert Kind.MISREPORTED in found(world.check())


def test_two_that_disagree(world: World) -> None:
    """At the same point of the log, the same transactions being open, another replica shows something else."""
    first = world.write("0.1")
    second = world.write("0.2")
    world.show(second)

    def other_shows(replica: str, number: int, state: State, cut: int, still_open: int | None = None) -> None:
        world.line(
            f"{replica}.reads.jsonl", event="look", version=number, cut={"chaos-0": cut}, set=entries(state),
            gone=[], agree=True, reads=1, open=[] if still_open is None else [{"first_offset": still_open}],
        )  # fmt: skip

    other_shows("other", 1, first, 500)
    other_shows("other", 2, second, 1000)
    other_shows("third", 1, first, 1000, still_open=7)
    assert found(world.check()) == set()
    other_shows("fourth", 1, first, 1000)
    assert found(world.check()) == {Kind.MISREPORTED}


def test_a_record_beyond_the_cut(world: World) -> None:
    """A version says that it stands for less of the log than it shows."""
    state = world.write("0.1")
    world.show(state, cut={"chaos-0": state[core(0)[-1]][1]})
    assert found(world.check()) == {Kind.MISREPORTED}


def test_a_snapshot_that_changes(world: World) -> None:
    """Reading an old snapshot again shows something else."""
    world.show(world.write("0.1"))
    world.line("r.reads.jsonl", event="again", version=1, same=False, reads=7)
    assert found(world.check()) == {Kind.MISREPORTED}


@pytest.mark.parametrize("committed", [True, False])
def test_an_unknown_commit_may_be_there_or_not(world: World, *, committed: bool) -> None:
    """No answer came to a commit: both are right, whether or not anybody saw it by itself."""
    before = world.write("0.1", puts=(ring(0)[1], SHARED[0]))
    world.show(before)
    perhaps = world.write("0.2", "unknown", deletes=(ring(0)[1], SHARED[0]))
    newest = world.write("0.3")
    if not committed:
        perhaps = {**newest, ring(0)[1]: before[ring(0)[1]], SHARED[0]: before[SHARED[0]]}
    world.show(newest if committed else perhaps)
    assert found(world.check(newest if committed else perhaps)) == set()


def test_an_unknown_commit_is_whole_or_not_there(world: World) -> None:
    """Where it is seen it must be whole like any other, and not be lost again."""
    before = world.write("0.1")
    world.show(before)
    perhaps = world.write("0.2", "unknown", puts=(ring(0)[2],))
    world.show(without(perhaps, ring(0)[2]))
    world.show(perhaps)
    assert found(world.check()) == {Kind.TORN}
    assert Kind.LOST in found(world.check(before))


def test_commit_order_is_not_offset_order(world: World) -> None:
    """Of two open transactions the one that wrote a shared key last wins, though the other commits after it."""
    offsets: dict[str, int | None] = {SHARED[3]: 500}
    later = world.write("1.1", puts=(SHARED[3],), offsets=offsets)
    world.show(later)
    both = world.write("0.1", puts=(SHARED[3],), offsets={SHARED[3]: 499})
    right = {**both, SHARED[3]: later[SHARED[3]]}
    world.show(right)
    assert found(world.check(right)) == set()
    world.show(both)
    assert Kind.LOST in found(world.check(right))


def test_an_offset_that_is_not_known(world: World) -> None:
    """A record whose acknowledgement came without an offset may win or lose, but must be one of the two."""
    first = world.write("0.1", puts=(SHARED[4],))
    world.show(first)
    second = world.write("1.1", puts=(SHARED[4],), offsets={SHARED[4]: None})
    other = {**second, SHARED[4]: first[SHARED[4]]}
    world.show(other)
    assert found(world.check(other)) == set()
    assert found(world.check(without(other, SHARED[4]), without(other, SHARED[4]))) == {Kind.LOST}


def test_a_failed_replica_is_told(world: World) -> None:
    """By the state it said, and by the end it did not reach."""
    world.show(world.write("0.1"))
    world.line("r.states.jsonl", event="state", state="failed", error="boom")
    world.line("r.states.jsonl", event="state", state="stalled", error="passing")
    (world.folder / "s.end.json").write_text(json.dumps({"error": "never came"}))
    findings = world.check()
    assert findings.found == {Kind.FAILED: 2}


def test_a_line_cut_off_by_a_kill_means_nothing(tmp_path: Path) -> None:
    """Half a `commit` line was written before anybody asked to commit: the transaction is aborted."""
    path = tmp_path / "writer-0.jsonl"
    journal = Journal(path)
    journal.write("begin", number=1, puts=[head(0)], deletes=[])
    journal.close()
    with path.open("a") as file:
        file.write('{"event":"commit","at_s":1.0,"num')
    journal = Journal(path)
    journal.write("open")
    journal.close()
    history = History.read([path])
    assert history.counts() == {Outcome.ABORTED: 1}


def test_a_stream_tells_what_a_snapshot_shows(tmp_path: Path) -> None:
    """Looking at snapshots gives lines that the checker takes, and a disagreement would be told."""
    stream = Stream(tmp_path / "r.every.jsonl", [head(0), "absent"])
    key = head(0).encode()
    first = NaiveSnapshot({key: Record(key, value("0.1"), 0, 0, (), PLACE)}, 1, Cut({PLACE: 2}))
    second = NaiveSnapshot({}, 2, Cut({PLACE: 4}))
    kept = stream.look(first)
    stream.look(second)
    stream.again(first, kept)
    stream.again(second, kept)
    stream.close()
    told = [json.loads(line) for line in (tmp_path / "r.every.jsonl").read_text().splitlines()]
    assert [line["event"] for line in told] == ["started", "look", "look", "again", "again"]
    assert told[1]["set"] == {head(0): ["0.1", 0, "chaos-0"]}
    assert (told[2]["set"], told[2]["gone"], told[2]["agree"]) == ({}, [head(0)], True)
    assert [line["same"] for line in told[3:]] == [True, False]


def test_the_witness(world: World) -> None:
    """What a plain consumer saw of aborted transactions is told; what was committed is not."""
    world.write("0.1")
    world.write("0.2", "aborted")
    for by in ("0.1", "0.2", None):
        world.line("witness.jsonl", event="read", key=head(0), by=by, place=[0, 5])
    told = shown_though_aborted(world.folder / "witness.jsonl", world.history)
    assert told == ["writer-0-head by 0.2 at [0, 5]"]


def test_the_exit_status(world: World) -> None:
    """0 only if something was checked, and nothing is wrong."""

    def status(findings: Findings) -> int:
        return Report(Options(), world.history, findings, Counter(), Counter(), 1, 0, 0).exit_status

    assert status(Findings()) == 1
    world.show(world.write("0.1"))
    right = world.check()
    assert status(right) == 0
    for kind in Kind:
        wrong = world.check()
        wrong.add(kind, "planned")
        assert status(wrong) == 1
