"""Directories of a random database in a separate process, to be killed.

    directories_process.py BOOTSTRAP ROUTE PREFIX FOLDER OUT

This is not a test but a program that tests start. Its replica is on RocksDB. It writes a line for each version: whether
it is proved to hold whole database transactions, the number of the last one, and the digests of the tables. It runs
until it is killed, or ends with an error.
"""

from __future__ import annotations

import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any, TextIO

import msgspec

from kafka_replica import Change, Replica, RocksStore, State
from kafka_replica.directories import DatabaseTransactions, Directory
from kafka_replica.directories.interpreters import DebeziumEvents
from kafka_replica.stores import Store
from support.directories.random_database import ROWS, Row, digests_of

ROUTES = {"debezium": ("account", "purchase", "item", "clock"), "source": ("account", "purchase", "item")}
"""The tables that each route copies."""


class Line(msgspec.Struct):
    """A version."""

    version: int
    is_whole: bool
    number: int | None
    """The number of the last transaction, by the clock; None if the clock is not there."""
    digests: dict[str, int]


def topics_of(route: str, prefix: str) -> dict[str, str]:
    """Return the topic of each table on a route."""
    between = {"debezium": f"{prefix}.{prefix}", "source": f"{prefix}.source"}[route]
    return {table: f"{between}.{table}" for table in ROUTES[route]}


class FollowedDatabase:
    """A replica of a route, with a directory for each table."""

    def __init__(self, bootstrap: str, route: str, prefix: str, store: Store | None = None) -> None:
        tables = topics_of(route, prefix)
        metadata = [f"{prefix}.transaction"] if route == "debezium" else []
        config: dict[str, Any] = {"bootstrap.servers": bootstrap, "log_level": 0}
        self.replica = Replica(config, topics=[*tables.values(), *metadata], store=store, stalled_after_s=600.0)
        interpreter = DebeziumEvents() if route == "debezium" else None
        self.directories: dict[str, Directory[str, Row]] = {
            table: Directory(self.replica, ROWS[table], interpreter=interpreter, topic=topic)
            for table, topic in tables.items()
        }
        self._judge = DatabaseTransactions(self.replica, metadata[0]) if metadata else None
        if self._judge is not None:
            self._judge.close()  # it is asked for each version, here

    def line(self, change: Change) -> Line:
        """Return what a version holds."""
        is_whole = self._judge is not None and self._judge._is_whole(change)
        views = {table: directory.at(change.snapshot) for table, directory in self.directories.items()}
        clocks: Any = views.get("clock", {})
        clock = clocks.get("1")
        digests = digests_of({table: view.values() for table, view in views.items()})
        return Line(change.version, is_whole, None if clock is None else clock.number, digests)

    def note(self, out: TextIO, change: Change) -> None:
        """Write the line of a version."""
        out.write(msgspec.json.encode(self.line(change)).decode() + "\n")


class DirectoriesProcess:
    """The process of a route, which can be killed and started again, and its lines."""

    def __init__(self, bootstrap: str, route: str, prefix: str, folder: Path) -> None:
        self._out = folder / f"{route}.jsonl"
        self._out.touch()
        self._command = [sys.executable, __file__, bootstrap, route, prefix, str(folder / route), str(self._out)]
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the process."""
        self._process = subprocess.Popen(self._command)

    def kill(self) -> None:
        """Kill the process, which must be alive."""
        if self._process is not None:
            assert self._process.poll() is None, "the directories have failed"
            self._process.kill()
            self._process.wait()
            self._process = None

    def lines(self) -> list[Line]:
        """Return the lines of all versions."""
        return [msgspec.json.decode(text, type=Line) for text in self._out.read_bytes().splitlines()]

    def last(self) -> Line | None:
        """Return the line of the newest version."""
        with self._out.open("rb") as lines:
            lines.seek(max(0, self._out.stat().st_size - 10_000))
            whole = lines.read().splitlines(keepends=True)
        complete = [text for text in whole if text.endswith(b"\n")]
        return msgspec.json.decode(complete[-1], type=Line) if complete else None


def main() -> None:
    """Follow until an error."""
    bootstrap, route, prefix, folder, out = sys.argv[1:]
    with Path(out).open("a", buffering=1) as lines:
        followed = FollowedDatabase(bootstrap, route, prefix, RocksStore(folder, write_buffer_bytes=1 << 16))
        with followed.replica as replica:
            subscription = replica.subscribe(partial(followed.note, lines), max_pending=1_000_000)
            while subscription.last_error is None and replica.state is not State.FAILED:
                time.sleep(0.5)
            sys.exit(f"{subscription.last_error!r}, {replica.status()}")


if __name__ == "__main__":
    main()
