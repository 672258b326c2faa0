"""A directory of typed objects: until it is ready, its look-ups, and its changes.

directories ready BOOTSTRAP TOPIC    from the constructor to ``wait_ready``, with one unique index
directories lookups KEYS PASSES      ``directory[id]`` against a dict of the same objects, in random order
directories changes FEW MANY TIMES   a change of ten records, with an index of each kind, into few and into many
"""

from __future__ import annotations

import os
import random
import statistics
import sys
import time
from collections.abc import Mapping
from typing import Any

import msgspec

from benchmarks.programs.common import percentile, tell
from kafka_replica import Replica
from kafka_replica.directories import Directory, MultiValuedIndex, PrefixIndex, RangeIndex, UniqueIndex
from kafka_replica.directories.contents.contents import Contents
from kafka_replica.directories.contents.schema import Schema
from kafka_replica.directories.records.decoding import decoder_for
from kafka_replica.records import Partition, Position, Record, Stored
from kafka_replica.stores.memory_snapshot import MemorySnapshot, PresentRecords, Version
from kafka_replica.testing import FakeTopic

_WHERE = Partition("bench", 0)
_A_CHANGE = 10
_WAIT_S = 300


class Terminal(msgspec.Struct, frozen=True):
    """A row of the directory."""

    terminal_id: str
    acquirer_id: str
    serial_number: str
    city: str


def value_of(number: int, turn: int = 0) -> bytes:
    """Return the value of a record."""
    terminal = Terminal(f"T{number:07}", f"A{number % 97}", f"S-{turn}-{number}", f"city {(number + turn) % 1009}")
    return msgspec.json.encode(terminal)


def ready(bootstrap: str, topic: str) -> None:
    """Start a replica and its directory, with look-ups by key and by serial number, and wait until both are ready."""
    began_s = time.perf_counter()
    replica = Replica({"bootstrap.servers": bootstrap}, topic)
    serial: UniqueIndex[Terminal] = UniqueIndex("serial_number")
    terminals: Directory[str, Terminal] = Directory(replica, Terminal, key="terminal_id", indexes={"serial": serial})
    replica.start()
    found = terminals.wait_ready(_WAIT_S)
    tell(what="directory", keys=len(found), s=time.perf_counter() - began_s, cpu_s=time.process_time())
    os._exit(0)


def lookups(keys: int, passes: int) -> None:
    """Look up all keys, in random order, in a dict and in the directory, in turn."""
    topic = FakeTopic("bench")
    for first in range(0, keys, 1000):
        with topic.transaction() as transaction:
            for number in range(first, min(keys, first + 1000)):
                transaction.put(f"T{number:07}", value_of(number))
    with topic.replica() as replica:
        directory: Directory[str, Terminal] = Directory(replica, Terminal, key="terminal_id")
        directory.wait_ready(_WAIT_S)
        plain = dict(directory.items())
        order = list(range(keys))
        random.Random(2).shuffle(order)
        _seconds(directory, order)
        ratios = [_seconds(plain, order) / _seconds(directory, order) for _ in range(passes)]
    tell(what="directory, look-ups", keys=keys, ratio=statistics.median(ratios))


def _seconds(of: Mapping[str, Terminal], order: list[int]) -> float:
    requested_keys = [f"T{number:07}" for number in order]
    began_s = time.perf_counter()
    for key in requested_keys:
        of[key]
    return time.perf_counter() - began_s


class DirectoryVersions:
    """The contents of a directory, version after version."""

    def __init__(self, keys: int) -> None:
        self._keys, self._turn = keys, 0
        self._dice = random.Random(keys)
        indexes: dict[str, Any] = {
            "serial": UniqueIndex("serial_number"), "acquirer": MultiValuedIndex("acquirer_id"),
            "city": PrefixIndex("city"), "id": RangeIndex("terminal_id"),
        }  # fmt: skip
        schema = Schema(decoder_for(Terminal), None, None, indexes)
        records: dict[bytes, Stored | Record | int] = dict(map(self._record, range(keys)))
        snapshot = MemorySnapshot(PresentRecords(records, _WHERE), Version(1, Position(), keys))
        self._contents = Contents.of(schema, snapshot)
        self._contents.prepare_for_changes()  # as the directory's thread does once the first version is ready

    def _record(self, number: int) -> tuple[bytes, Record]:
        key = b"T%07d" % number
        return key, Record(key, value_of(number, self._turn), 0, 0, (), _WHERE)

    def change(self) -> float:
        """Change ten random records; return the time it took, in microseconds."""
        self._turn += 1
        records = dict(self._record(self._dice.randrange(self._keys)) for _ in range(_A_CHANGE))
        began_s = time.perf_counter()
        self._contents = self._contents.advanced(records, records.get)
        return (time.perf_counter() - began_s) * 1e6


def changes(few: int, many: int, times: int) -> None:
    """Change both in turn, so that fluctuations of the machine affect both."""
    roads = {few: DirectoryVersions(few), many: DirectoryVersions(many)}
    took_us: dict[int, list[float]] = {few: [], many: []}
    for _ in range(times):
        for keys, road in roads.items():
            took_us[keys].append(road.change())
    few_us, many_us = (percentile(took_us[keys][times // 10 :], 0.5) for keys in (few, many))
    tell(what="directory, 10 changes", few=few, few_p50_us=few_us, many=many, many_p50_us=many_us)


def main() -> None:
    """Run the chosen measurement."""
    chosen, *arguments = sys.argv[1:]
    if chosen == "ready":
        ready(*arguments)
    elif chosen == "lookups":
        lookups(*map(int, arguments))
    else:
        changes(*map(int, arguments))


if __name__ == "__main__":
    main()
