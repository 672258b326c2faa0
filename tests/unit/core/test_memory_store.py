"""The memory store: the contract of all stores, and its own behaviour."""

from __future__ import annotations

import gc
import weakref

from kafka_replica import MemoryStore, Position, Store
from kafka_replica.stores.delta import Delta
from support.core.store_contract import P, StoreContract, records


class TestMemoryStore(StoreContract):
    """``MemoryStore`` fulfils the contract of stores."""

    def make(self) -> Store:
        """Make an empty store."""
        return MemoryStore()


class Watched(dict[str, int]):
    """An object in a record that reports when it is released."""


def test_old_values_go_with_the_last_snapshot_that_shows_them() -> None:
    """A replaced record is kept while a snapshot of its version exists, and no longer."""
    store = MemoryStore()
    first = records([(b"a", b"1")])[0]
    watched = Watched()
    store.apply(Delta([first.replace(headers=(watched,))]), Position({P: 1}))  # to watch it
    gone = weakref.ref(watched)
    del watched
    snapshot = store.snapshot()
    store.apply(Delta(records([(b"a", b"2")], 1)), Position({P: 2}))
    store.apply(Delta(records([(b"a", b"3")], 2)), Position({P: 3}))
    gc.collect()
    assert gone() is not None
    record = snapshot.get(b"a")
    assert record is not None
    assert record.value == b"1"
    del record, snapshot
    gc.collect()
    assert gone() is None


def test_a_held_snapshot_does_not_keep_every_value() -> None:
    """A key written a thousand times under an unread snapshot costs a few values, not a thousand."""
    store = MemoryStore()
    store.apply(Delta(records([(b"a", b"0")])), Position({P: 1}))
    held = store.snapshot()
    alive: list[weakref.ref[Watched]] = []
    for number in range(1, 1001):
        watched = Watched()
        record = records([(b"a", b"x")], number)[0].replace(headers=(watched,))
        store.apply(Delta([record]), Position({P: number + 1}))
        alive.append(weakref.ref(watched))
    del record, watched
    gc.collect()
    assert sum(ref() is not None for ref in alive) <= 65
    assert held[b"a"].value == b"0"
