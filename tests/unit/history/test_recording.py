"""Each version and instant of a history equals a plain model, whatever happens to the replica and to the disk."""

from __future__ import annotations

from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_replica.history import step_writer
from support.core.rocks_tools import new_folder
from support.effort import examples
from support.history.history_world import KEYS, LIMITS, World

_changes = st.dictionaries(
    st.sampled_from(KEYS), st.none() | st.sampled_from([b"", b"1", b"2", b"x" * 40]), min_size=1, max_size=5
)
_acts = st.one_of(
    st.tuples(st.just("publish"), _changes),
    st.tuples(st.just("publish"), _changes),
    st.tuples(st.just("publish"), _changes),
    st.tuples(st.just("publish_failing"), _changes, st.integers(1, 4)),
    st.tuples(st.just("outage"), st.integers(1, 4), st.lists(_changes, min_size=1, max_size=4)),
    st.tuples(st.just("unrecorded"), _changes),
    st.tuples(st.sampled_from(["restart", "reopen"])),
    st.tuples(st.sampled_from(["retry", "rebuild", "prune"])),
    st.tuples(st.just("hold"), st.integers(0, 5)),
    st.tuples(st.just("wait"), st.sampled_from([0, 1, 700, 2_500, -1_000])),
)


@pytest.mark.thorough
@pytest.mark.scaled
@settings(max_examples=examples(100, long=100, proof=1_000), deadline=None)
@given(st.lists(_acts, min_size=5, max_size=25), st.booleans(), st.sampled_from(LIMITS), st.sampled_from([1, 1 << 20]))
def test_every_kept_version_and_instant_equals_the_model(
    acts: list[tuple[object, ...]], on_disk: bool, limits: dict[str, float | None], batch_bytes: int
) -> None:
    """After any acts, each kept version, instant and difference is exact; so are the snapshots that are held.

    With a batch of one byte each key is a write of its own, so that the disk fails in the middle of a version.
    """
    with (
        new_folder() as folder,
        mock.patch.object(step_writer, "_BATCH_BYTES", batch_bytes),
        mock.patch.object(step_writer, "CHUNK_KEYS", 2),
    ):
        world = World(folder, on_disk=on_disk, limits=limits)
        try:
            for name, *arguments in acts:
                getattr(world, str(name))(*arguments)
            world.check()
            world.publish({b"k": b"last"})
            world.check()
        finally:
            world.close()
