"""The contract of every store. A backend's test inherits this and creates the store."""

from __future__ import annotations

import sys
import threading
from abc import ABC, abstractmethod
from itertools import count

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kafka_replica import Partition, Position, Record, Snapshot, Store
from kafka_replica.stores.delta import Delta
from kafka_replica.transactions.resume_point import ResumePoint
from support.effort import examples

P = Partition("t", 0)
KEYS = [b"a", b"b", b"c", b"d", b"e"]
Writes = list[tuple[bytes, bytes | None]]
# Each backend runs the same tests.
SHARED = settings(deadline=None, suppress_health_check=[HealthCheck.differing_executors])
writes = st.lists(st.tuples(st.sampled_from(KEYS), st.one_of(st.none(), st.binary(max_size=3))), max_size=8)


def records(written: Writes, offset: int = 0) -> list[Record]:
    """Return records with ascending offsets."""
    return [Record(key, value, offset + i, 1_000 + i, (("h", b"1"),), P) for i, (key, value) in enumerate(written)]


def values(snapshot: Snapshot) -> dict[bytes, bytes | None]:
    """Return the content of a snapshot."""
    return {key: record.value for key, record in snapshot.items()}


def apply_to(state: dict[bytes, bytes | None], written: Writes) -> dict[bytes, bytes | None]:
    """The model of a store: a dict, in which None deletes."""
    state = dict(state)
    for key, value in written:
        if value is None:
            state.pop(key, None)
        else:
            state[key] = value
    return state


class StoreContract(ABC):
    """The tests of the contract."""

    @abstractmethod
    def make(self) -> Store:
        """Return an empty store."""

    def test_a_new_store_is_empty_at_version_0(self) -> None:
        """A store without deltas has version 0, no keys and an empty position."""
        snapshot = self.make().snapshot()
        assert (snapshot.version, len(snapshot), list(snapshot), snapshot.position) == (0, 0, [], Position())

    def test_a_record_comes_back_as_it_was_written(self) -> None:
        """A record keeps its key, value, headers, offset, timestamp and place; str and bytes name the same key."""
        store = self.make()
        record = Record("klé".encode(), b"", 7, 123, (("x", None), ("x", b"\xff")), P)
        store.apply(Delta([record]), Position({P: 8}))
        snapshot = store.snapshot()
        assert snapshot.get("klé") == snapshot["klé".encode()] == record
        assert "klé" in snapshot
        assert snapshot.position == Position({P: 8})
        assert snapshot.get("other") is None
        assert snapshot.get("other", 5) == 5
        assert "other" not in snapshot
        assert 3 not in snapshot
        with pytest.raises(KeyError):
            snapshot["other"]

    def test_applied_reports_changed_and_deleted_keys(self) -> None:
        """New and rewritten keys are changed, existing keys are deleted, an unknown key is neither."""
        store = self.make()
        store.apply(Delta(records([(b"a", b"1"), (b"b", b"1")])), Position({P: 2}))
        applied = store.apply(
            Delta(records([(b"b", None), (b"c", None), (b"a", b"1"), (b"d", b"1")], 2)), Position({P: 6})
        )
        assert applied is not None
        assert set(applied.changed) == {b"a", b"d"}
        assert set(applied.deleted) == {b"b"}

    @settings(SHARED, max_examples=examples(100))
    @given(st.lists(writes, max_size=12), st.data())
    def test_every_snapshot_keeps_its_version(self, deltas: list[Writes], data: st.DataObject) -> None:
        """A snapshot taken at any time and read at any later time, in any way, shows the model's state of its time."""
        store = self.make()
        model: dict[bytes, bytes | None] = {}
        taken = [(store.snapshot(), model)]
        for number, written in enumerate(deltas, 1):
            store.apply(Delta(records(written, number * 10)), Position({P: number * 10 + len(written)}))
            model = apply_to(model, written)
            snapshot = store.snapshot()
            assert snapshot.version == number
            taken.append((snapshot, model))
            old, then = data.draw(st.sampled_from(taken))
            key = data.draw(st.sampled_from(KEYS))
            record = old.get(key)
            assert (None if record is None else record.value) == then.get(key)
        for snapshot, then in taken:
            assert values(snapshot) == then
            assert len(snapshot) == len(then)
            assert sorted(snapshot) == sorted(then)

    def test_newest_knows_published_and_staged_places(self) -> None:
        """``newest`` knows the places of published and staged records, also before any version, and no others."""
        store = self.make()
        other = Partition("u", 3)

        def offsets() -> dict[bytes, tuple[Partition, int]]:
            store.snapshot()  # some are then opened again
            found = list(store.offsets())
            assert len(found) == len({key for key, _, _ in found})
            for key, partition, offset in found:
                newest = store.newest(key)
                assert isinstance(newest, Record)
                assert (newest.source, newest.offset) == (partition, offset)
            return {key: (partition, offset) for key, partition, offset in found}

        assert offsets() == {}
        store.stage(Delta(records([(b"a", b"1"), (b"b", b"1")])))
        assert offsets() == {b"a": (P, 0), b"b": (P, 1)}
        store.apply(Delta([Record(b"c", b"1", 7, 0, (), other)]), Position({P: 2, other: 8}))
        assert offsets() == {b"a": (P, 0), b"b": (P, 1), b"c": (other, 7)}
        store.stage(Delta(records([(b"a", None), (b"b", b"2")], 10)))
        assert offsets() == {b"b": (P, 11), b"c": (other, 7)}
        store.rebuild()
        assert offsets() == {}
        store.stage(Delta(records([(b"d", b"1")], 20)))
        assert offsets() == {b"d": (P, 20)}
        store.apply(Delta(), Position({P: 21}))
        assert offsets() == {b"d": (P, 20)}

    @settings(SHARED, max_examples=examples(50))
    @given(writes, st.integers(1, 8))
    def test_image_and_delta_make_the_next_image(self, written: Writes, size: int) -> None:
        """Equal records in deltas of any size result in equal states."""
        whole, pieces = self.make(), self.make()
        whole.apply(Delta(records(written)), Position({P: len(written)}))
        for at in range(0, len(written), size):
            pieces.apply(Delta(records(written)[at : at + size]), Position({P: min(at + size, len(written))}))
        assert dict(whole.snapshot()) == dict(pieces.snapshot())

    @pytest.mark.thorough
    def test_readers_in_other_threads_see_whole_versions(self) -> None:
        """While a writer gives two hundred keys one value per version, readers never see two values."""
        store = self.make()
        keys = [f"k{i}".encode() for i in range(200)]
        done = threading.Event()
        seen: list[int] = []
        torn: list[object] = []

        def read() -> None:
            while not done.is_set():
                snapshot = store.snapshot()
                found = {record.value for record in (snapshot.get(key) for key in keys) if record is not None}
                again = {record.value for record in snapshot.values()}
                if len(found) > 1 or found != again or (found and len(snapshot) != len(keys)):
                    torn.append((snapshot.version, found, again))
                seen.append(snapshot.version)

        readers = [threading.Thread(target=read) for _ in range(3)]
        before = sys.getswitchinterval()
        sys.setswitchinterval(1e-6)  # so that threads meet at every step
        try:
            for reader in readers:
                reader.start()
            for number in count():
                if number >= 300 and (len(set(seen)) > 3 or not all(reader.is_alive() for reader in readers)):
                    break  # on a busy machine, readers may get no processor for long
                value = None if number % 10 == 9 else str(number).encode()
                store.apply(
                    Delta(records([(key, value) for key in keys], number * 200)), Position({P: (number + 1) * 200})
                )
        finally:
            done.set()
            for reader in readers:
                reader.join()
            sys.setswitchinterval(before)
        assert not torn
        assert len(set(seen)) > 3

    def test_snapshots_outlive_the_store(self) -> None:
        """A snapshot stays readable after the store was closed; closing twice is harmless."""
        store = self.make()
        store.apply(Delta(records([(b"a", b"1")])), Position({P: 1}))
        snapshot = store.snapshot()
        store.close()
        store.close()
        assert values(snapshot) == {b"a": b"1"}

    @settings(SHARED, max_examples=examples(40))
    @given(st.lists(st.tuples(writes, st.integers(0, 3)), max_size=6))
    def test_staged_records_are_shown_only_with_their_version(self, deltas: list[tuple[Writes, int]]) -> None:
        """A version applied in parts equals one applied as a whole; only the writer sees its parts before."""
        store, offset = self.make(), 0
        model: dict[bytes, bytes | None] = {}
        for written, parts in deltas:
            before = dict(store.snapshot())
            found = records(written, offset)
            size = len(found) // (parts + 1) + 1
            pieces = [found[at : at + size] for at in range(0, len(found), size)] or [[]]
            for piece in pieces[:-1]:
                store.stage(Delta(piece))
                assert dict(store.snapshot()) == before
                for key, value in {record.key: record.value for record in piece}.items():
                    newest = store.newest(key)
                    assert (None if newest is None else newest[1]) == value
            offset += len(written)
            after = apply_to(model, written)
            applied = store.apply(Delta(pieces[-1]), Position({P: offset}))
            assert values(store.snapshot()) == after
            assert len(store.snapshot()) == len(after)
            assert applied is not None
            assert set(applied.changed) == {key for key, _ in written} & after.keys()
            assert set(applied.deleted) == model.keys() - after.keys()
            model = after

    @settings(SHARED, max_examples=examples(40))
    @given(writes, writes, writes, st.booleans(), st.booleans())
    @pytest.mark.thorough
    def test_a_rebuilt_state_replaces_the_old_one_at_once(
        self, old: Writes, new: Writes, later: Writes, staged: bool, forget: bool
    ) -> None:
        """Readers keep the old state until a rebuilt one replaces it; listeners get differences, not moved records."""
        store = self.make()
        store.apply(Delta(records(old)), Position({P: len(old)}))
        held, before = store.snapshot(), apply_to({}, old)
        store.stage(Delta(records([(b"never", b"seen")])))
        store.rebuild(forget=forget)
        assert store.newest(b"never") is None
        assert values(store.snapshot()) == ({} if forget else before)
        if staged:
            store.stage(Delta(records(new[:2], 1_000)))
            store.rebuild(forget=forget)
            store.stage(Delta(records(new[:3], 2_000)))
            new_rest = new[3:]
        else:
            new_rest = new
        assert values(store.snapshot()) == ({} if forget else before)
        applied = store.apply(Delta(records(new_rest, 3_000)), Position({P: 5_000}))
        after = apply_to({}, new)
        now = store.snapshot()
        assert values(now) == after
        assert len(now) == len(after)
        assert (now.version, now.position) == (1 if forget else 2, Position({P: 5_000}))
        assert all(record.offset >= 2_000 for record in now.values())
        then = {} if forget else before
        assert applied is not None
        assert set(applied.changed) == {key for key in after if after[key] != then.get(key)}
        assert set(applied.deleted) == then.keys() - after.keys()
        store.apply(Delta(records(later, 6_000)), Position({P: 7_000}))
        assert values(store.snapshot()) == apply_to(after, later)
        assert values(held) == before

    def test_the_bookmark_is_that_of_the_version(self) -> None:
        """The resume point is stored with the version, may be updated, and is removed with the data."""
        store = self.make()
        at_first = store.resume_point
        assert at_first is None
        first = ResumePoint(Position({P: 1}), {"t": "id"}, {P: 3}, 5, "all", "life")
        store.apply(Delta(records([(b"a", b"1")])), first.position, first)
        assert store.resume_point == first
        moved = first.with_position(Position({P: 9}), 7)
        store.save_resume_point(moved)
        assert store.resume_point == moved
        store.rebuild()
        assert store.resume_point == moved
        store.rebuild(forget=True)
        assert store.resume_point is None
