"""The checker of `make chaos` on handmade histories: reports of replicas, unknown outcomes, and the exit status."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from chaos.findings import Findings, Kind
from chaos.history import History, Journal, Outcome
from chaos.naive import NaiveSnapshot
from chaos.options import Options
from chaos.plan import SHARED, core, head, ring, value
from chaos.report import Report
from chaos.streams import Stream
from chaos.witness import shown_though_aborted
from kafka_replica import Partition, Position, Record
from support.chaos.chaos_world import State, World, entries, found, without

PLACE = Partition("chaos", 0)


@pytest.mark.parametrize(
    "arguments",
    [
        {"changed": []},
        {"changed": [head(0), head(0), *core(0)[1:]]},
        {"deleted": ["nothing"]},
        {"version": 1},
        {"version": 5},
        {"stands_for": 2},
        {"initial": True},
        {"position": {"chaos-0": 5}},
        {"position": {}},
        {"agree": False},
    ],
    ids=str,
)
def test_misreported_changes_are_found(world: World, arguments: dict[str, Any]) -> None:
    """A change that reports something else than what changed, or that comes out of order, is found."""
    world.show(world.write("0.1"))
    world.show(world.write("0.2"), **arguments)
    assert Kind.MISREPORTED in found(world.check())


def test_two_that_disagree(world: World) -> None:
    """Two replicas that differ at the same point of the log, with the same open transactions, are found."""
    first = world.write("0.1")
    second = world.write("0.2")
    world.show(second)

    def other_shows(replica: str, number: int, state: State, position: int, still_open: int | None = None) -> None:
        world.line(
            f"{replica}.reads.jsonl", event="look", version=number, position={"chaos-0": position}, set=entries(state),
            gone=[], agree=True, reads=1, open=[] if still_open is None else [{"first_offset": still_open}],
        )  # fmt: skip

    other_shows("other", 1, first, 500)
    other_shows("other", 2, second, 1000)
    other_shows("third", 1, first, 1000, still_open=7)
    assert found(world.check()) == set()
    other_shows("fourth", 1, first, 1000)
    assert found(world.check()) == {Kind.MISREPORTED}


def test_a_record_beyond_the_cut(world: World) -> None:
    """A version whose position lies below the records that it shows is found."""
    state = world.write("0.1")
    world.show(state, position={"chaos-0": state[core(0)[-1]][1]})
    assert found(world.check()) == {Kind.MISREPORTED}


def test_a_snapshot_that_changes(world: World) -> None:
    """An old snapshot that shows something else when it is read again is found."""
    world.show(world.write("0.1"))
    world.line("r.reads.jsonl", event="again", version=1, same=False, reads=7)
    assert found(world.check()) == {Kind.MISREPORTED}


@pytest.mark.parametrize("committed", [True, False])
def test_an_unknown_commit_may_be_there_or_not(world: World, *, committed: bool) -> None:
    """A commit without an answer may be present or missing, whether or not it was ever visible alone."""
    before = world.write("0.1", puts=(ring(0)[1], SHARED[0]))
    world.show(before)
    perhaps = world.write("0.2", "unknown", deletes=(ring(0)[1], SHARED[0]))
    newest = world.write("0.3")
    if not committed:
        perhaps = {**newest, ring(0)[1]: before[ring(0)[1]], SHARED[0]: before[SHARED[0]]}
    world.show(newest if committed else perhaps)
    assert found(world.check(newest if committed else perhaps)) == set()


def test_an_unknown_commit_is_whole_or_not_there(world: World) -> None:
    """A commit without an answer must be whole where it is visible, and must not be lost again."""
    before = world.write("0.1")
    world.show(before)
    perhaps = world.write("0.2", "unknown", puts=(ring(0)[2],))
    world.show(without(perhaps, ring(0)[2]))
    world.show(perhaps)
    assert found(world.check()) == {Kind.TORN}
    assert Kind.LOST in found(world.check(before))


def test_commit_order_is_not_offset_order(world: World) -> None:
    """The last of two open transactions to write a shared key wins, though the other one commits after it."""
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
    """A record acknowledged without an offset may win or lose, but the key must have one of the two values."""
    first = world.write("0.1", puts=(SHARED[4],))
    world.show(first)
    second = world.write("1.1", puts=(SHARED[4],), offsets={SHARED[4]: None})
    other = {**second, SHARED[4]: first[SHARED[4]]}
    world.show(other)
    assert found(world.check(other)) == set()
    assert found(world.check(without(other, SHARED[4]), without(other, SHARED[4]))) == {Kind.LOST}


def test_a_failed_replica_is_reported(world: World) -> None:
    """A failed replica is reported by its state, and by the end it did not reach."""
    world.show(world.write("0.1"))
    world.line("r.states.jsonl", event="state", state="failed", error="boom")
    world.line("r.states.jsonl", event="state", state="stalled", error="passing")
    (world.folder / "s.end.json").write_text(json.dumps({"error": "never came"}))
    findings = world.check()
    assert findings.found == {Kind.FAILED: 2}


def test_a_line_cut_off_by_a_kill_means_nothing(tmp_path: Path) -> None:
    """Half a `commit` line, written before the commit was requested, means an aborted transaction."""
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


def test_a_stream_of_snapshots_is_accepted_by_the_checker(tmp_path: Path) -> None:
    """Snapshots that are read give lines that the checker accepts, and a disagreement would be visible."""
    stream = Stream(tmp_path / "r.every.jsonl", [head(0), "absent"])
    key = head(0).encode()
    first = NaiveSnapshot({key: Record(key, value("0.1"), 0, 0, (), PLACE)}, 1, Position({PLACE: 2}))
    second = NaiveSnapshot({}, 2, Position({PLACE: 4}))
    kept = stream.look(first)
    stream.look(second)
    stream.again(first, kept)
    stream.again(second, kept)
    stream.close()
    lines = [json.loads(line) for line in (tmp_path / "r.every.jsonl").read_text().splitlines()]
    assert [line["event"] for line in lines] == ["started", "look", "look", "again", "again"]
    assert lines[1]["set"] == {head(0): ["0.1", 0, "chaos-0"]}
    assert (lines[2]["set"], lines[2]["gone"], lines[2]["agree"]) == ({}, [head(0)], True)
    assert [line["same"] for line in lines[3:]] == [True, False]


def test_aborted_records_in_a_plain_consumer_are_reported(world: World) -> None:
    """Aborted records that a plain consumer saw are reported; committed ones are not."""
    world.write("0.1")
    world.write("0.2", "aborted")
    for by in ("0.1", "0.2", None):
        world.line("witness.jsonl", event="read", key=head(0), by=by, place=[0, 5])
    lines = shown_though_aborted(world.folder / "witness.jsonl", world.history)
    assert lines == ["writer-0-head by 0.2 at [0, 5]"]


def test_the_exit_status(world: World) -> None:
    """The exit status is 0 only if something was checked and nothing is wrong."""

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
