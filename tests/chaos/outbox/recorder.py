"""A recorder in a separate process, with its data and the outbox in one transaction; it is killed and restarted."""

from __future__ import annotations

import json
import random
import sys
import uuid

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import SQLAlchemyError

from chaos.children import Orders
from chaos.outbox.options import PRODUCER_ID
from chaos.outbox.store import Row, write_row
from kafka_replica.producer.changes.changes import Delete, Put
from kafka_replica.producer.errors import OutboxError
from kafka_replica.producer.outbox import Outbox, open_database

CORE_KEYS = 12
_PAUSE_S = 0.06
_MANY = 40


class Recorder:
    """Record until stopped.

    Each transaction writes one value, unique to it, to the head, to some of the core keys and to a key of its own; a
    quarter of them deletes the key of an earlier one; rarely a full flush is requested. Now and then many are recorded
    at once, so that the producer is busy for a while.
    """

    def __init__(self, engine: Engine, seed: str) -> None:
        self._engine, self._outbox = engine, Outbox(PRODUCER_ID)
        self._dice = random.Random(seed)
        self._name = uuid.uuid4().hex[:8]  # of this incarnation
        self._number = 0
        self._own: list[str] = []  # keys that certainly exist and were not deleted

    def run(self, orders: Orders) -> None:
        """Record transactions."""
        while not orders.came.wait(self._dice.expovariate(1 / _PAUSE_S)):
            added: list[str] = []
            try:
                with self._engine.begin() as connection:
                    if self._dice.random() < 0.01:
                        self._flush(connection)
                    else:
                        many = _MANY if self._dice.random() < 0.05 else 1
                        added += [self._changes(connection) for _ in range(many)]
            except (OutboxError, SQLAlchemyError) as error:  # the database decides the outcome of the commit
                sys.stderr.write(f"{error}\n")
                orders.came.wait(0.2)
            else:
                self._own += added

    def _changes(self, connection: Connection) -> str:
        self._number += 1
        value = f"{self._name}.{self._number}"
        own = f"own-{value}"
        cores = self._dice.sample(range(CORE_KEYS), self._dice.randrange(CORE_KEYS))
        puts: dict[str, str] = dict.fromkeys(("head", own, *(f"core-{number}" for number in cores)), value)
        deletes: list[str] = []
        if self._own and self._dice.random() < 0.25:
            # Removed first: if the database fails, the deletion is uncertain.
            deletes = [self._own.pop(self._dice.randrange(len(self._own)))]
        recorded = self._outbox.record(
            connection, [*(Put(key, text.encode()) for key, text in puts.items()), *map(Delete, deletes)]
        )
        write_row(connection, Row(recorded[0], "changes", dict(puts)))
        if deletes:
            write_row(connection, Row(recorded[1], "deletions", dict.fromkeys(deletes)))
        return own

    def _flush(self, connection: Connection) -> None:
        for tx_id, kind in zip(self._outbox.record_flush(connection), ("flush", "sweep"), strict=True):
            write_row(connection, Row(tx_id, kind, {}))


def main() -> None:
    """Record until the harness ends the process."""
    settings = json.loads(sys.argv[1])
    Recorder(open_database(settings["database"]), settings["seed"]).run(Orders())


if __name__ == "__main__":
    main()
