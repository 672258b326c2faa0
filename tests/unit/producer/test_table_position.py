"""The position of a table source: each row version is read once, however late its transaction commits.

The rule is compared with a model of concurrent transactions. Two other rules, of which one is common, skip rows.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_replica.producer.postgres.position import ID_SPAN, Position, Snapshot, full_id
from support.effort import EFFORT, examples
from support.producer.table_model import ModelSnapshot, ModelTable, Version

Contains = Callable[[Position, int, Version], bool]
FIRST_IDS = [3, 1000, ID_SPAN - 4, ID_SPAN + 3, 7 * ID_SPAN - 3]


def by_position(position: Position, xmax: int, version: Version) -> bool:
    """Apply the rule."""
    return position.contains(full_id(version.row_id, xmax))


def by_running_transactions(position: Position, xmax: int, version: Version) -> bool:
    """Apply the rule of ``pg_visible_in_snapshot``, which does not know subtransactions."""
    running = {int(each) for each in position.snapshot.text.split(":")[2].split(",") if each}
    found = full_id(version.row_id, xmax)
    return found < position.snapshot.xmax and found not in running


def by_order(position: Position, xmax: int, version: Version) -> bool:
    """Apply the rule of the JDBC connector: what is not newer than the newest row that was read has been read."""
    return version.serial <= position.snapshot.log_position


class Reader:
    """Read a table repeatedly, and compare with what is new in it."""

    def __init__(self, table: ModelTable, contains: Contains = by_position) -> None:
        self.table = table
        self.contains = contains
        self.position: Position | None = None
        self.read: set[Version] = set()

    def take(self) -> None:
        """Read what is new, and check it."""
        shown = ModelSnapshot(self.table)
        visible, xmax = self.table.visible(), shown.snapshot.xmax
        before = self.position
        new = {each for each in visible if before is None or not self.contains(before, xmax, each)}
        assert new == set(visible) - self.read, "each new row version once"
        self.read |= new
        position = shown.survey(before).position
        newest = max((each.serial for each in self.read), default=0)
        # For the rule by order, the newest row that was read; for all, stored and read again.
        ordered = position._replace(snapshot=shown.snapshot._replace(log_position=newest))
        self.position = Position.from_json(ordered.as_json())
        assert self.position == ordered


def play(table: ModelTable, reader: Reader, script: list[str]) -> None:
    """Play a history of two transactions at a time: acts such as ``0 write``."""
    open_now = [table.begin(), table.begin()]
    for act in [*script, "read"]:
        if act == "read":
            reader.take()
            continue
        number, word = int(act[0]), act[2:]
        if word in {"commit", "abort"}:
            table.end(open_now[number], commit=word == "commit")
            open_now[number] = table.begin()
        elif word == "roll back":
            table.roll_back_last(open_now[number])
        else:
            key = f"key {number}"
            table.write(open_now[number], key, in_subtransaction=word == "sub", delete=word == "delete")


@pytest.mark.long
def test_each_row_version_is_read_once_in_every_short_history() -> None:
    """All histories of two transactions with up to six steps (five in a quick run), with subtransactions."""
    acts = ["0 write", "0 sub", "0 commit", "1 write", "1 commit", "read"]
    for script in product(acts, repeat=5 if EFFORT == "quick" else 6):
        table = ModelTable(ID_SPAN - 2)
        play(table, Reader(table), list(script))


def long_script(seed: int, length: int, readings: float) -> list[str]:
    """Return a long random history."""
    dice = random.Random(seed)
    words = ["write", "write", "sub", "delete", "roll back", "commit", "abort"]
    return ["read" if dice.random() < readings else f"{dice.randrange(2)} {dice.choice(words)}" for _ in range(length)]


@settings(max_examples=examples(300))
@given(st.integers(0, 1 << 32), st.integers(0, 300), st.sampled_from([0.02, 0.1, 0.5]), st.sampled_from(FIRST_IDS))
@pytest.mark.thorough
def test_each_row_version_is_read_once_in_long_histories(seed: int, length: int, readings: float, first: int) -> None:
    """Random histories have the same result, at any number of wraparounds of the 32-bit ids."""
    table = ModelTable(first)
    play(table, Reader(table), long_script(seed, length, readings))


@pytest.mark.parametrize("wrong", [by_running_transactions, by_order])
def test_other_rules_skip_rows(wrong: Contains) -> None:
    """The list of running transactions, and the order of rows, are found to be insufficient."""

    def play_many() -> None:
        for seed in range(1000):
            table = ModelTable(1000)
            play(table, Reader(table, wrong), long_script(seed, 40, 0.3))

    with pytest.raises(AssertionError, match="each new row version once"):
        play_many()


def test_a_row_that_is_older_than_a_wraparound_is_never_skipped() -> None:
    """Rows from before a wraparound are read by the first reading, also if their ids are in use again."""
    for first in FIRST_IDS[2:]:
        table = ModelTable(first + ID_SPAN, frozen=3)
        reader = Reader(table)
        reader.take()
        assert len(reader.read) == 3


@given(st.integers(3, 1 << 40), st.integers(0, ID_SPAN - 1))
def test_the_id_of_a_row_is_the_highest_below_the_bound(xmax: int, back: int) -> None:
    """The full id has the row's 32 bits, and is the true one for rows of the last 2^32 transactions."""
    true = xmax - 1 - back
    if true >= 0 and true % ID_SPAN >= 3:
        assert full_id(true % ID_SPAN, xmax) == true


SNAPSHOT = Snapshot("10:20:10,12", "1/1", "00000001", 500)


@pytest.mark.parametrize(
    ("later", "problem"),
    [
        (SNAPSHOT._replace(text="12:30:", log_position=900), None),
        (SNAPSHOT, None),
        (SNAPSHOT._replace(database="1/2"), "another database"),
        (SNAPSHOT._replace(timeline="00000002"), "promoted"),
        (SNAPSHOT._replace(text="10:19:"), "restored"),
        (SNAPSHOT._replace(text="9:30:"), "restored"),
        (SNAPSHOT._replace(log_position=499), "restored"),
    ],
)
def test_another_history_is_noticed(later: Snapshot, problem: str | None) -> None:
    """A restored database, or a promoted standby, is not read by ids that mean something else there."""
    found = Position(SNAPSHOT, frozenset({11}), "").history_problem(later)
    assert (found is None) if problem is None else (found is not None and problem in found)
