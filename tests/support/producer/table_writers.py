"""Concurrent writers of a table, whose transactions commit late, and in another order than they write."""

from __future__ import annotations

import itertools
import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

from support.producer.table_tools import open_connection

_WRITE = """
    INSERT INTO item (item_key, version, updated_at) VALUES (%(key)s, %(version)s, %(time)s)
    ON CONFLICT (item_key) DO UPDATE SET version = %(version)s, updated_at = %(time)s, is_active = %(is_active)s
"""
_TIMES = ("now()", "clock_timestamp()", "'1999-01-01'", "now() + interval '1 year'")
_versions = itertools.count(1)


def write(connection: psycopg.Connection[object], key: str, dice: random.Random | None = None) -> int:
    """Write a row, with a version that no other row has; return the version."""
    version = next(_versions)
    time = "now()" if dice is None else dice.choice(_TIMES)
    is_active = dice is None or dice.random() < 0.9
    query = _WRITE.replace("%(time)s", time)
    connection.execute(query, {"key": key, "version": version, "is_active": is_active})
    return version


class Writer(threading.Thread):
    """Write transactions of several rows, with savepoints, until stopped. Each writer has its own keys."""

    def __init__(self, database: str, number: int) -> None:
        super().__init__(daemon=True)
        self.stop = threading.Event()
        self._database = database
        self._number = number
        self._dice = random.Random(number)

    def run(self) -> None:
        """Write; a connection that the server has closed is opened again."""
        while not self.stop.is_set():
            try:
                with open_connection(self._database) as connection:
                    while not self.stop.is_set():
                        self._transaction(connection)
            except psycopg.OperationalError:
                self.stop.wait(0.1)

    def _transaction(self, connection: psycopg.Connection[object]) -> None:
        dice = self._dice
        with connection.transaction(force_rollback=dice.random() < 0.1):
            for _ in range(dice.randint(1, 4)):
                with connection.transaction(force_rollback=dice.random() < 0.2):  # a savepoint
                    write(connection, f"writer {self._number} key {dice.randrange(15)}", dice)
                self.stop.wait(dice.random() * 0.1)


@contextmanager
def writing(database: str, count: int = 3) -> Iterator[None]:
    """Let several writers write during the block."""
    writers = [Writer(database, number) for number in range(count)]
    for each in writers:
        each.start()
    try:
        yield
    finally:
        for each in writers:
            each.stop.set()
        for each in writers:
            each.join()
