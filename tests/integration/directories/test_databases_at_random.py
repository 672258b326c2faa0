"""Random transactions of a real PostgreSQL, copied by Debezium and by table sources while every process is killed.

KAFKA_REPLICA_TEST_TRANSACTIONS is the number of transactions.
"""

from __future__ import annotations

import os
import random
import threading
import time
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from chaos.cluster import Cluster
from chaos.postgres import LocalPostgres
from kafka_replica.producer.postgres import TableSourceSettings, compare
from support.directories.directories_process import DirectoriesProcess, FollowedDatabase, Line, topics_of
from support.directories.kafka_connect import KafkaConnect, debezium, wait_until
from support.directories.random_database import Digests, RandomDatabase, Row, digests_of
from support.effort import EFFORT
from support.producer.table_tools import SourceProcess, table_settings

pytestmark = [pytest.mark.broker, pytest.mark.long, pytest.mark.timeout(3600)]

TRANSACTIONS = int(os.environ.get("KAFKA_REPLICA_TEST_TRANSACTIONS", "3000" if EFFORT == "proof" else "750"))
KILLS = (8 if TRANSACTIONS > 1000 else 4) + TRANSACTIONS // 8000  # each kind of process at least once
WAIT_S = 180.0
COMPACTED = {"cleanup.policy": "compact", "segment.bytes": "1048576", "min.cleanable.dirty.ratio": "0.1"}
# Small batches, so that they divide transactions.
CONNECTOR = {
    "provide.transaction.metadata": "true",
    "message.prefix.exclude.list": "kafka-replica",  # of the table sources
    "max.batch.size": "100",
    "max.queue.size": "200",
    "key.converter": "org.apache.kafka.connect.json.JsonConverter",
    "key.converter.schemas.enable": "false",
    "value.converter": "org.apache.kafka.connect.json.JsonConverter",
    "value.converter.schemas.enable": "false",
}


class World:
    """A database, both routes to Kafka, and the directories at their ends, in processes that can be killed."""

    def __init__(self, postgres: LocalPostgres, folder: Path, running: ExitStack) -> None:
        self.prefix = f"d{os.urandom(4).hex()}"
        self.database = running.enter_context(RandomDatabase(postgres, self.prefix))
        self.kafka = running.enter_context(Cluster(3))  # with one broker, a kill may lose markers: docs/producer.md
        self.connect = running.enter_context(KafkaConnect(self.kafka.bootstrap, folder, self.prefix))
        tables = topics_of("debezium", self.prefix)
        for topic in (*tables.values(), *topics_of("source", self.prefix).values()):
            self.kafka.create_topic(topic, 1, COMPACTED)
        self.kafka.create_topic(f"{self.prefix}.transaction", 1, {"cleanup.policy": "delete"})
        names = ",".join(f"{self.prefix}.{table}" for table in tables)
        self.connect.run(self.prefix, debezium(postgres, self.prefix, names, **CONNECTOR))
        running.callback(lambda: self.connect.remove(self.prefix, postgres))
        self.sources = [SourceProcess(each) for each in self._settings(postgres.url("postgres"))]
        self.debezium, self.copied = (
            DirectoriesProcess(self.kafka.bootstrap, route, self.prefix, folder) for route in ("debezium", "source")
        )
        each: Any
        for each in (*self.sources, self.debezium, self.copied):
            each.start()
            running.callback(each.kill)

    def _settings(self, url: str) -> Iterator[TableSourceSettings]:
        for table, topic in topics_of("source", self.prefix).items():
            more = {"active_column": "is_active"} if table == "account" else {"active_column": ""}
            yield table_settings(
                self.kafka.bootstrap, topic, url, table=f"{self.prefix}.{table}", key_column="id",
                timestamp_column="", incrementing_column="", poll_s=0.05, **more,
            )  # fmt: skip

    def kill_at_random(self, dice: random.Random, kills: int) -> Iterator[str]:
        """Kill a process and start it again, each kind in turn; yield what was killed."""
        kinds: dict[str, Callable[[], Any]] = {
            "source": lambda: dice.choice(self.sources),
            "connect": lambda: self.connect,
            "broker": lambda: dice.choice(self.kafka.brokers),
            "directories": lambda: dice.choice([self.debezium, self.copied]),
        }
        for number in range(kills):
            if number % len(kinds) == 0:
                order = dice.sample(sorted(kinds), len(kinds))
            kind = order[number % len(kinds)]
            yield kind
            victim = kinds[kind]()
            time.sleep(dice.random())
            victim.kill()
            time.sleep(dice.random())
            victim.start()

    def until_debezium_shows(self, number: int, allowed: threading.Semaphore) -> None:
        """Wait until the directories behind Debezium have a transaction; run a task again that gave up meanwhile."""

        def shows() -> bool:
            time.sleep(0.5)
            allowed.release()  # the database continues meanwhile
            self.connect.restart_failed(self.prefix)
            last = self.debezium.last()
            return last is not None and (last.number or 0) >= number

        wait_until(shows, lambda: f"{number} does not come: {self.debezium.last()} {self.connect.trace(self.prefix)}")

    def read_again(self, route: str) -> dict[str, dict[str, Row]]:
        """Return the directories of a route as a new replica in memory has them."""
        followed = FollowedDatabase(self.kafka.bootstrap, route, self.prefix)
        with followed.replica:
            return {table: dict(each.wait_ready(WAIT_S)) for table, each in followed.directories.items()}


def digests_in(directories: DirectoriesProcess) -> object:
    """Return the digests of the newest version of a process; None before the first."""
    last = directories.last()
    return None if last is None else last.digests


def test_random_transactions_while_everything_is_killed(postgres: LocalPostgres, tmp_path: Path) -> None:
    """The last state of both routes equals the tables; proved versions, and those of a source, are states they had.

    Many versions of Debezium's route that are not proved are not states of the tables, so the proof decides.
    """
    dice = random.Random(11)
    with ExitStack() as running:
        world = World(postgres, tmp_path, running)
        database = world.database
        with database.writers() as allowed:
            for kind in world.kill_at_random(dice, KILLS):
                reached = database.number
                print(f"{time.monotonic():.0f} s: {reached} transactions, next kill: {kind}", flush=True)
                allowed.release(TRANSACTIONS // KILLS + 1)
                world.until_debezium_shows(reached, allowed)
            wait_until(lambda: database.number > TRANSACTIONS, lambda: f"the writers stopped at {database.number}")
            world.until_debezium_shows(database.number, allowed)
        for each in world.sources:
            each.kill()
            compare(each.settings)
        now = database.rows()
        final = digests_of({table: rows.values() for table, rows in now.items()})
        wait_until(lambda: digests_in(world.debezium) == final, lambda: f"{world.debezium.last()} is not {final}")
        copied = {"account": final["active"], **{table: final[table] for table in ("purchase", "item", "active")}}
        wait_until(lambda: digests_in(world.copied) == copied, lambda: f"{world.copied.last()} is not {copied}")
        assert world.read_again("debezium") == now
        accounts: dict[Any, Any] = now["account"]
        active = {key: row for key, row in accounts.items() if row.is_active}
        assert world.read_again("source") == {"account": active, "purchase": now["purchase"], "item": now["item"]}
        states = dict(database.states())
        assert states[database.number] == final, "the journal is not what happened"
        check_proved(world.debezium.lines(), states)
        check_copied(world.copied.lines(), states)


def check_proved(lines: Sequence[Line], states: dict[int, Digests]) -> None:
    """Check that each proved version is the state after its last transaction."""
    proved = [line for line in lines if line.is_whole]
    wrong = [line for line in proved if line.number is None or line.digests != states[line.number]]
    assert wrong == []
    numbers = [line.number for line in proved if line.number is not None]
    assert numbers == sorted(numbers)
    others = [line for line in lines if not line.is_whole and line.number is not None]
    torn = sum(line.digests != states[line.number or 0] for line in others)
    print(f"{len(lines)} versions, {len(proved)} proved, {torn} of the {len(others)} others torn", flush=True)
    assert len(set(numbers)) > KILLS
    # Chance decides how many divide one (half of them, more or less); without any, nothing would be shown.
    assert torn > KILLS, "hardly a version has divided a transaction: the test is weak"


def check_copied(lines: Sequence[Line], states: dict[int, Digests]) -> None:
    """Check that each version of the accounts, from which no row is deleted, is a state, and that they go forward."""
    numbers = defaultdict(list)
    for number, digests in sorted(states.items()):
        numbers[digests["active"]].append(number)
    reached = 0
    for line in lines:
        known = numbers[line.digests["active"]]
        assert known, f"{line} is not a state of the table"
        assert known[-1] >= reached, f"{line} is a state from before {reached}"
        reached = known[bisect_left(known, reached)]
    print(f"{len(lines)} versions copied", flush=True)
