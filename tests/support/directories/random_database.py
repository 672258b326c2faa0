"""A PostgreSQL with random transactions over several tables, and a digest of each state that it had.

Triggers note each changed row in a journal, and each transaction its number as its last act: a row lock on the clock
makes the numbers the order of the commits. The journal therefore yields every state that the database had, in order.
Neither it nor the numbers of the transactions are copied to Kafka; the clock is.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from hashlib import blake2b
from types import TracebackType
from typing import Any, Self, TypeAlias

import msgspec
import psycopg

from chaos.postgres import LocalPostgres

_KEYS = 60
_SCHEMA = """
    CREATE SCHEMA {0}; SET search_path = {0};
    CREATE TABLE account (id int PRIMARY KEY, balance int NOT NULL, is_active bool NOT NULL);
    CREATE TABLE purchase (id int PRIMARY KEY, amount int NOT NULL,
        account int NOT NULL REFERENCES account ON UPDATE CASCADE ON DELETE CASCADE);
    CREATE TABLE item (id int PRIMARY KEY, quantity int NOT NULL,
        purchase int NOT NULL REFERENCES purchase ON UPDATE CASCADE ON DELETE CASCADE);
    CREATE INDEX ON purchase (account); CREATE INDEX ON item (purchase);
    CREATE TABLE clock (id int PRIMARY KEY, number int NOT NULL);
    CREATE TABLE commits (number int PRIMARY KEY, writer xid8 NOT NULL);
    CREATE TABLE journal (step bigserial PRIMARY KEY, writer xid8 NOT NULL, changed text, before json, after json);
    CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql SET search_path = {0} AS $$ BEGIN
        INSERT INTO journal (writer, changed, before, after) VALUES (pg_current_xact_id(), TG_TABLE_NAME,
            CASE WHEN TG_OP <> 'INSERT' THEN to_json(OLD) END, CASE WHEN TG_OP <> 'DELETE' THEN to_json(NEW) END);
        RETURN NULL;
    END $$
"""
_JOURNAL = """
    SELECT number, changed, before::text, after::text FROM {0}.journal JOIN {0}.commits USING (writer)
    ORDER BY number, step
"""
_COMMIT = """
    UPDATE clock SET number = number + 1;
    INSERT INTO commits SELECT number, pg_current_xact_id() FROM clock;
    COMMIT
"""
_CHANGES = [
    """INSERT INTO account VALUES ({one}, {value}, true)
        ON CONFLICT (id) DO UPDATE SET balance = EXCLUDED.balance, is_active = true""",
    """UPDATE account SET balance = balance - {value} WHERE id = {one};
        UPDATE account SET balance = balance + {value} WHERE id = {other}""",
    "UPDATE account SET is_active = NOT is_active WHERE id = {one}",
    """INSERT INTO purchase SELECT {one}, {value}, id FROM account WHERE id = {other}
        ON CONFLICT (id) DO UPDATE SET amount = EXCLUDED.amount, account = EXCLUDED.account""",
    "UPDATE purchase SET id = {other} WHERE id = {one} AND NOT EXISTS (SELECT FROM purchase WHERE id = {other})",
    "DELETE FROM purchase WHERE id = {one}",
    """INSERT INTO item SELECT {one}, {value}, id FROM purchase WHERE id = {other}
        ON CONFLICT (id) DO UPDATE SET quantity = EXCLUDED.quantity, purchase = EXCLUDED.purchase""",
    "UPDATE item SET quantity = quantity + 1 WHERE purchase = {one}",
    "UPDATE item SET id = {other} WHERE id = {one} AND NOT EXISTS (SELECT FROM item WHERE id = {other})",
    "DELETE FROM item WHERE id = {one}",
]


class Account(msgspec.Struct, frozen=True):
    """A row that is never deleted but switched off."""

    id: int
    balance: int
    is_active: bool


class Purchase(msgspec.Struct, frozen=True):
    """A row of an account."""

    id: int
    amount: int
    account: int


class Item(msgspec.Struct, frozen=True):
    """A row of a purchase, which is deleted with it, and follows when its key changes."""

    id: int
    quantity: int
    purchase: int


class Clock(msgspec.Struct, frozen=True):
    """The number of committed transactions."""

    id: int
    number: int


Row: TypeAlias = Account | Purchase | Item | Clock
Digests: TypeAlias = Mapping[str, int]
"""A digest of the rows of each table, and of the active accounts as ``active``."""

ROWS: dict[str, type[Row]] = {"account": Account, "purchase": Purchase, "item": Item, "clock": Clock}


@lru_cache(maxsize=100_000)
def digest(row: Row) -> int:
    """Return the digest of a row; that of several rows is the exclusive or of theirs."""
    return int.from_bytes(blake2b(repr(row).encode(), digest_size=8).digest())


def digests_of(tables: Mapping[str, Iterable[Row]]) -> dict[str, int]:
    """Return the digests of all tables."""
    found = dict.fromkeys((*tables, "active"), 0)
    for table, rows in tables.items():
        for row in rows:
            _toggle(found, table, row)
    return found


def _toggle(found: dict[str, int], table: str, row: Row) -> None:
    found[table] ^= digest(row)
    if isinstance(row, Account) and row.is_active:
        found["active"] ^= digest(row)


class RandomDatabase:
    """Tables in a schema of their own, which several connections change at random.

    Args:
        server: the server.
        schema: the name of the schema.
    """

    def __init__(self, server: LocalPostgres, schema: str) -> None:
        self.schema = schema
        self._server = server
        self.sql = self.connect()
        self.sql.execute(_SCHEMA.format(schema))
        for table in ROWS:
            self.sql.execute(
                f"CREATE TRIGGER note AFTER INSERT OR UPDATE OR DELETE ON {table} FOR EACH ROW EXECUTE FUNCTION note()"
            )
        self.sql.execute("BEGIN; INSERT INTO clock VALUES (1, 0);" + _COMMIT)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.sql.close()

    def connect(self) -> psycopg.Connection[Any]:
        """Return a connection that finds the tables, and is told early of a deadlock."""
        connection = self._server.connect("postgres")
        connection.execute(f"SET search_path = {self.schema}; SET deadlock_timeout = '50ms'")
        return connection

    @property
    def number(self) -> int:
        """The number of committed transactions."""
        found: Any = self.sql.execute("SELECT number FROM clock").fetchone()
        return int(found[0])

    def rows(self) -> dict[str, dict[str, Row]]:
        """Return the rows of all tables by their keys, as they are now."""
        found = {}
        for table, kind in ROWS.items():
            texts = self.sql.execute(f"SELECT id::text, to_json(each)::text FROM {table} AS each").fetchall()
            found[table] = {key: msgspec.json.decode(text, type=kind) for key, text in texts}
        return found

    def states(self) -> Iterator[tuple[int, Digests]]:
        """Yield the number of each committed transaction, and the digests of the state after it."""
        now = digests_of(dict.fromkeys(ROWS, ()))
        current = 0
        with self.connect() as connection, connection.transaction(), connection.cursor("journal") as cursor:
            cursor.itersize = 10_000
            for number, table, *sides in cursor.execute(_JOURNAL.format(self.schema)):
                if number != current and current:
                    yield current, dict(now)
                current = number
                for side in sides:
                    if side is not None:
                        _toggle(now, table, msgspec.json.decode(side, type=ROWS[table]))
        yield current, dict(now)

    @contextmanager
    def writers(self, count: int = 6) -> Iterator[threading.Semaphore]:
        """Let connections commit transactions, one for each release of the semaphore, until the block ends."""
        allowed, ending = threading.Semaphore(0), threading.Event()
        threads = [
            threading.Thread(target=self._write, args=(random.Random(number), allowed, ending), daemon=True)
            for number in range(count)
        ]
        for each in threads:
            each.start()
        try:
            yield allowed
        finally:
            ending.set()
            allowed.release(count)
            for each in threads:
                each.join()

    def _write(self, dice: random.Random, allowed: threading.Semaphore, ending: threading.Event) -> None:
        with self.connect() as connection:
            while allowed.acquire() and not ending.is_set():
                while not _commit(connection, dice, ending):
                    pass


def _commit(connection: psycopg.Connection[Any], dice: random.Random, ending: threading.Event) -> bool:
    """Run a transaction; return whether it was committed, and not rolled back on purpose or after a conflict."""
    steps = ["BEGIN", *(step for _ in range(dice.randint(1, 5)) for step in _steps(dice))]
    try:
        connection.execute(";".join(steps))
        if dice.random() < 0.1:  # others commit while this transaction holds its locks
            ending.wait(dice.random() * 0.15)
        if dice.random() >= 0.1:
            connection.execute(";".join([*_steps(dice), _COMMIT]))
            return True
    except (psycopg.errors.DeadlockDetected, psycopg.errors.IntegrityError):
        pass  # a conflict with another transaction
    connection.execute("ROLLBACK")
    return False


def _steps(dice: random.Random) -> list[str]:
    """Return a random change, sometimes after a savepoint, to which it may roll back."""
    one, other = dice.sample(range(_KEYS), 2)
    change = dice.choice(_CHANGES).format(one=one, other=other, value=dice.randrange(1000))
    if dice.random() < 0.8:
        return [change]
    return ["SAVEPOINT here", change, dice.choice(["ROLLBACK TO here", "RELEASE here"])]
