"""Large values of several writers at once, aborted, compacted: every reader sees whole values of one write."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_replica.errors import BadRecordError
from kafka_replica.large_values import assemble, is_chunk_key, orphaned_chunks
from kafka_replica.records import Record
from support.core.overlapping_writers import (
    CHUNK_BYTES,
    Log,
    NewId,
    StateSnapshot,
    Write,
    compacted,
    id_of_content,
    shown,
    unique_id,
)
from support.effort import examples

KEYS = st.sampled_from([b"a", b"b"])
VALUES = st.none() | st.builds(
    lambda letter, size: letter * size, st.sampled_from([b"x", b"y"]), st.integers(0, 3 * CHUNK_BYTES + 1)
)
SCHEDULES = st.lists(
    st.one_of(
        st.tuples(st.just("begin"), KEYS, VALUES, st.lists(st.integers(0, 3), max_size=6)),
        st.tuples(st.just("append"), st.integers(0, 3)),
        st.tuples(st.just("commit"), st.integers(0, 3)),
        st.tuples(st.just("commit"), st.integers(0, 3)),
        st.tuples(st.just("abort"), st.integers(0, 3)),
    ),
    min_size=5, max_size=40,
)  # fmt: skip


def run(schedule: list[tuple[Any, ...]], new_id: NewId, seed: int = 0) -> Log:
    """Run a schedule; after every commit check what readers of the whole and of the compacted log see."""
    log, chance = Log(new_id), random.Random(seed)
    running: list[Write] = []
    for action, *rest in schedule:
        if action == "begin":
            running.append(log.begin(*rest))
        elif running and action == "append":
            log.append(running[rest[0] % len(running)])
        elif running:
            write = running.pop(rest[0] % len(running))
            if action == "commit":
                log.commit(write)
                check(log, chance)
    return log


def check(log: Log, chance: random.Random) -> None:
    """Check the state that each key's last record gives, from the whole log and from what compaction left of it."""
    records = log.committed()
    assert shown(log.state(records)) == log.expected()
    assert shown(log.state(compacted(records, lambda: chance.random() < 0.6))) == log.expected()


@pytest.mark.thorough
@settings(max_examples=examples(400))
@given(SCHEDULES, st.integers(0, 99))
def test_readers_see_whole_values_of_the_last_write(schedule: list[tuple[Any, ...]], seed: int) -> None:
    """However writers overlap and compaction proceeds, each key shows its write with the highest offset."""
    run(schedule, unique_id, seed)


def test_keys_made_of_the_content_would_lose_values() -> None:
    """With ids that equal values share, the check fails: a writer deletes chunks that another one has written again."""
    large = b"x" * 9
    schedule: list[tuple[Any, ...]] = [
        ("begin", b"a", large, []),  # a slow writer, of whose three chunks two arrive early ...
        ("append", 0), ("append", 0),
        ("begin", b"a", large, []), ("commit", 1),
        ("begin", b"a", b"y", []), ("commit", 1),  # ... and would be deleted with those of the equal value
        ("commit", 0),
    ]  # fmt: skip
    run(schedule, unique_id)
    with pytest.raises(BadRecordError, match="chunk 1 of 3 is missing"):
        run(schedule, id_of_content)


@pytest.mark.thorough
@settings(max_examples=examples(200))
@given(st.lists(st.tuples(KEYS, VALUES), min_size=1, max_size=8), st.integers(0, 99))
def test_without_transactions_a_value_is_whole_or_refused(writes: list[tuple[Any, ...]], seed: int) -> None:
    """A reader that stops anywhere sees whole values; in a log that is being compacted, it may also get an error."""
    log, chance = Log(), random.Random(seed)
    written: dict[bytes, list[bytes | None]] = {b"a": [None], b"b": [None]}
    for key, value in writes:
        log.commit(log.begin(key, value))
        written[key].append(value)
    records = log.committed()
    for stop in range(len(records) + 1):
        begun = {key: set(values) for key, values in written.items()}
        for key, value in shown(log.state(records[:stop])).items():
            assert value in begun[key]
        for key, record in (left := log.state(compacted_before(records, stop, chance))).items():
            if not is_chunk_key(key):
                try:
                    value = assemble(key, record, left.get).value
                except BadRecordError:
                    continue
                assert value in begun[key]


def compacted_before(records: list[Record], stop: int, chance: random.Random) -> list[Record]:
    """Return the records before an offset, in a log that was compacted up to its end."""
    return [record for record in compacted(records, lambda: chance.random() < 0.6) if record.offset < stop]


@pytest.mark.thorough
@settings(max_examples=examples(200))
@given(SCHEDULES)
def test_orphans_are_the_chunks_that_nobody_needs(schedule: list[tuple[Any, ...]]) -> None:
    """Without orphans all values are as before, and no other chunk could be left out."""
    log = run(schedule, unique_id)
    state = log.state()
    orphans = set(orphaned_chunks(StateSnapshot(state)))
    left = {key: record for key, record in state.items() if key not in orphans}
    assert shown(left) == log.expected()
    for chunk in filter(is_chunk_key, left):
        with pytest.raises(BadRecordError, match="is missing"):
            shown({key: record for key, record in left.items() if key != chunk})


@pytest.mark.thorough
@given(SCHEDULES)
def test_one_writer_leaves_no_orphans(schedule: list[tuple[Any, ...]]) -> None:
    """A writer that has seen its own writes deletes all the chunks that it replaces."""
    log = Log()
    for action, *rest in schedule:
        if action == "begin":
            log.commit(log.begin(rest[0], rest[1]))
            assert list(orphaned_chunks(StateSnapshot(log.state()))) == []
            assert shown(log.state()) == log.expected()
