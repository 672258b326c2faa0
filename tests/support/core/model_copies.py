"""Copies and fingerprints of a follower in the middle of its work, made field by field.

A field that is added to a detector is therefore copied and compared without being named here.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any, TypeVar

from kafka_replica import MemoryStore, Partition, Position, Record
from kafka_replica.replication.broker_retry import BrokerRetry
from kafka_replica.replication.follower import Follower
from kafka_replica.replication.partition_growth import PartitionGrowth
from kafka_replica.stores.delta import Delta
from kafka_replica.transactions import Batch
from support.core.log_model import Cluster, Logged
from support.core.model_follower import ModelFollower
from support.core.model_source import Fetch

_Copied = TypeVar("_Copied")
_ATOMS = {Partition, int, bool, str, bytes, type(None), frozenset}
_SHARED = {Batch, Logged, Record, Position, Partition, str, bytes, int, bool, type(None), frozenset, tuple}

OF_ASSEMBLY = {"_delta", "_pending_tombstones", "_candidates", "_highest"}
_IGNORED = {"content", "oracle", "_present"}


def fork_follower(model: ModelFollower, cluster: Cluster) -> ModelFollower:
    """Return a copy on a copy of its cluster; later changes of one do not affect the other."""
    other = copy(model)
    memo: dict[int, Any] = {}
    other.source = copy(model.source)
    other.source.cluster = cluster
    other.source.positions = dict(model.source.positions)
    other.source.fetches = {p: Fetch(f.batches[:], f.position, f.high) for p, f in model.source.fetches.items()}
    other.source.log_starts = dict(model.source.log_starts)
    other.oracle = model.oracle.fork(cluster)
    other.oracle.starts = other.source.log_starts
    other.store = _fork_store(model.store)
    other.publisher = copy(model.publisher)
    other.publisher.health = copy(model.publisher.health)
    other.publisher.health._machine = copy(model.publisher.health._machine)
    other.publisher.oracle = other.oracle
    if other.publisher.has_version:
        other.publisher._snapshot = other.store.snapshot()
    other.follower = follower = copy(model.follower)
    follower._publisher, follower._store, follower._reader = other.publisher, other.store, other.source
    follower._retry = BrokerRetry("a copy", other.publisher.health, follower._closing, waits_for_topics=True)
    follower._deletions = copy(follower._deletions)  # its rule is shared, and never says that it is too late
    follower._deletions._reader, follower._deletions._retry = other.source, follower._retry
    follower._detector = _fork(follower._detector, memo)
    follower._barrier = copy(follower._barrier)
    follower._delta_builder = delta_builder = _fork_fields(copy(follower._delta_builder), OF_ASSEMBLY, memo)
    store = other.store
    delta_builder.oracle = other.oracle
    delta_builder._present = store.newest
    follower._growth = _fork_growth(follower)
    return other


def _fork_growth(follower: Follower) -> PartitionGrowth:
    growth = PartitionGrowth(
        follower._reader,
        follower._retry,
        follower._detector,
        follower._delta_builder,
        follower._deletions,
        follower._log_starts,
        follower._unread_deletions,
    )
    growth.partitions._partitions.update(follower._growth.partitions._partitions)
    return growth


def _fork_store(store: Any) -> MemoryStore:
    other = MemoryStore()
    old = store.snapshot()
    if old.version:
        other.apply(Delta(list(old.values())), old.position)
    return other


def _fork_fields(found: Any, names: set[str], memo: dict[int, Any]) -> Any:
    for name in names:
        setattr(found, name, _fork(getattr(found, name), memo))
    return found


def _fork(found: Any, memo: dict[int, Any]) -> Any:
    kind = type(found)
    if kind in _SHARED:
        return found
    if id(found) in memo:
        return memo[id(found)]
    made: Any
    if kind is dict:
        made = {key: value if type(value) in _SHARED else _fork(value, memo) for key, value in found.items()}
    elif kind is list:
        made = [value if type(value) in _SHARED else _fork(value, memo) for value in found]
    elif kind is set:
        made = set(found)
    else:
        made = object.__new__(kind)
        for name in _fields(found):
            value = getattr(found, name)
            setattr(made, name, value if type(value) in _SHARED else _fork(value, memo))
    memo[id(found)] = made
    return made


def _fields(found: Any) -> Iterable[str]:
    return getattr(type(found), "__slots__", None) or vars(found)


def copy(found: _Copied) -> _Copied:
    """Return a shallow copy, without the detours of the standard library's."""
    made = object.__new__(type(found))
    for name in _fields(found):
        setattr(made, name, getattr(found, name))
    return made


def fingerprint(found: Any) -> Hashable:
    """Return a value that is equal if everything that can matter later is equal."""
    kind = type(found)
    if kind in _ATOMS:
        return found
    special = _PRINTS.get(kind)
    if special is not None:
        return special(found)
    if callable(found):
        return found
    return kind.__name__, *(fingerprint(getattr(found, name)) for name in _fields(found) if name not in _IGNORED)


def _print_cluster(cluster: Cluster) -> Hashable:
    logs = [
        (tuple(b.transaction for b in log.written), tuple((b.first, b.kind, len(b.records)) for b in log.left))
        for log in cluster.logs.values()
    ]
    return tuple(logs), tuple((t.producer, t.commits, t.after) for t in cluster.transactions), cluster.visible


def _print_all(found: Any) -> Hashable:
    return tuple([value if type(value) in _ATOMS else fingerprint(value) for value in found])


def _print_dict(found: dict[Any, Any]) -> Hashable:
    return frozenset([(key, value if type(value) in _ATOMS else fingerprint(value)) for key, value in found.items()])


_PRINTS: dict[type, Callable[[Any], Hashable]] = {
    Batch: lambda batch: (batch.partition, batch.first, batch.kind),
    Record: lambda record: (record.partition, record.offset),
    Logged: lambda logged: (logged.first, logged.transaction, logged.kind, len(logged.records)),
    Position: lambda position: (tuple(position.items()), frozenset(position.open)),
    Cluster: _print_cluster,
    dict: _print_dict,
    list: _print_all,
    tuple: _print_all,
    set: frozenset,
}
