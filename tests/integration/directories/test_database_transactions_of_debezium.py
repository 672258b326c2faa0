"""Versions that consist of whole transactions of a real PostgreSQL, through Debezium's real connector."""

from __future__ import annotations

import json
import os
import random
from contextlib import ExitStack, closing
from typing import Any

import msgspec
import pytest

from chaos.postgres import LocalPostgres
from kafka_replica import Change, Replica, directories
from kafka_replica.directories import DatabaseTransactions
from kafka_replica.directories.interpreters import DebeziumEvents, Put
from kafka_replica.embedded import LocalKafka
from kafka_replica.stores import Snapshot
from support.directories.kafka_connect import KafkaConnect, debezium, wait_until
from support.doc_blocks import programs

pytestmark = [pytest.mark.broker, pytest.mark.long, pytest.mark.timeout(600)]

WAIT_S = 180.0
TABLES = "left", "right"
ROWS = 4


class Row(msgspec.Struct):
    """A row of a table."""

    number: int


@pytest.mark.runs("docs/interpreters.md", containing="DatabaseTransac")
def test_proved_versions_are_states_of_the_database(
    local_kafka: LocalKafka, connect: KafkaConnect, postgres: LocalPostgres
) -> None:
    """Each proved version equals a state of the database, across tables and kill -9; other versions do not.

    Each transaction gives all rows of both tables the same number, in random order. The connector's batches are so
    small that they divide the transactions.
    """
    prefix = f"d{os.urandom(4).hex()}"
    topics = [f"{prefix}.{prefix}.{table}" for table in TABLES]
    for topic in (*topics, f"{prefix}.transaction"):
        local_kafka.create_topic(topic, 1, {"cleanup.policy": "compact"})
    config = {"bootstrap.servers": local_kafka.bootstrap_servers}
    proved: list[list[int]] = []
    others: list[list[int]] = []
    with ExitStack() as always:
        sql: Any = always.enter_context(closing(postgres.connect("postgres")))
        sql.execute(f"CREATE SCHEMA {prefix}")
        for table in TABLES:
            sql.execute(f"CREATE TABLE {prefix}.{table} (id int PRIMARY KEY, number int)")
            sql.execute(f"INSERT INTO {prefix}.{table} SELECT id, 0 FROM generate_series(1, {ROWS}) AS id")
        settings = {"provide.transaction.metadata": "true", "max.batch.size": "3", "max.queue.size": "6"}
        connect.run(prefix, debezium(postgres, prefix, f"{prefix}.left,{prefix}.right", **settings))
        always.callback(lambda: connect.remove(prefix, postgres))
        replica = always.enter_context(Replica(config, topics=[*topics, f"{prefix}.transaction"]))
        replica.wait_ready(WAIT_S)
        wait_until(lambda: numbers_in(replica.snapshot(), topics) == [0] * 2 * ROWS, lambda: "no initial snapshot")
        transactions = always.enter_context(DatabaseTransactions(replica, f"{prefix}.transaction"))
        judge = always.enter_context(DatabaseTransactions(replica, f"{prefix}.transaction"))
        judge.close()  # it is asked for each version, here

        def note(change: Change) -> None:
            (proved if judge._is_whole(change) else others).append(numbers_in(change.snapshot, topics))

        subscription = replica.subscribe(note, max_pending=10_000)
        last = change_all_rows(sql, prefix, 400, connect)
        wait_until(lambda: proved[-1:] == [[last] * 2 * ROWS], lambda: f"{proved[-3:]} {others[-3:]}")
        assert numbers_in(transactions.snapshot(), topics) == [last] * 2 * ROWS
        assert subscription.last_error is None
        assert example_of_the_page(config, topics, f"{prefix}.transaction") == [last, last]
    assert [numbers for numbers in proved if len(set(numbers)) > 1 or len(numbers) != 2 * ROWS] == []
    assert len({numbers[0] for numbers in proved}) > 3
    assert any(len(set(numbers)) > 1 for numbers in others), "no version has divided a transaction: the test is weak"


def example_of_the_page(config: dict[str, Any], topics: list[str], transactions: str) -> list[int]:
    """Run the example of docs/interpreters.md with these topics; return the numbers that it looks up."""
    (example,) = programs("docs/interpreters.md", containing="DatabaseTransac")
    names = {"orders": topics[0], "items": topics[1], "transaction": transactions}
    for old, new in names.items():
        example = example.replace(f'"shop.public.{old}"', f'"{new}"').replace(f'"shop.{old}"', f'"{new}"')
    *statements, look_up = example.replace('["7"]', '["1"]').replace('["7-1"]', '["1"]').strip().splitlines()
    made: dict[str, Any] = {**vars(directories), "config": config, "Order": Row, "Item": Row}
    exec("\n".join(statements), {**made, "Replica": Replica, "DebeziumEvents": DebeziumEvents}, made)
    try:
        found = eval(look_up, made)
    finally:
        made["replica"].close()
    return [row.number for row in found]


def numbers_in(snapshot: Snapshot, topics: list[str]) -> list[int]:
    """Return the numbers of all rows."""
    puts = [DebeziumEvents()(record) for topic in topics for record in snapshot.of(topic).values()]
    return [json.loads(put.value)["number"] for put in puts if isinstance(put, Put)]


def change_all_rows(sql: Any, schema: str, transactions: int, killed: KafkaConnect) -> int:
    """Give all rows the next number in each transaction, and kill the worker meanwhile; return the last number."""
    chance = random.Random(3)
    for number in range(1, transactions + 1):
        rows = [(table, id_) for table in TABLES for id_ in range(1, ROWS + 1)]
        chance.shuffle(rows)
        with sql.transaction():
            for table, id_ in rows:
                sql.execute(f"UPDATE {schema}.{table} SET number = {number} WHERE id = {id_}")
        if number == transactions // 2:
            killed.kill()
            killed.start()
    return transactions
