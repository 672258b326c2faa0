"""Copying a table, with the real ``TableCopy`` on models of PostgreSQL and Kafka.

Two instances copy at any time. Each may lose its connections before or after a commit, or lose the answer to a commit.
The topic always has the rows of some snapshot, and each row version once.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_replica.errors import CommitUnknownError, PublishError
from kafka_replica.producer.changes.fingerprint import Fingerprint
from kafka_replica.producer.errors import SourceError
from kafka_replica.producer.outbox.recorded_transactions import Contents, RecordedTransaction
from kafka_replica.producer.postgres.comparison import differences, digest_of
from kafka_replica.producer.postgres.copying import TableCopy
from kafka_replica.producer.postgres.settings import TableSourceSettings
from kafka_replica.producer.relay.kafka_session import SentTransaction
from kafka_replica.producer.relay.progress import Progress
from support.effort import examples
from support.producer.table_model import ModelSnapshot, ModelTable

SETTINGS = TableSourceSettings("", "item", "items", "key", {"bootstrap.servers": "localhost:1"}, allow_empty=True)
Records = list[tuple[bytes, bytes | None]]


class ModelKafka:
    """A topic with its committed transactions, each with its position."""

    def __init__(self) -> None:
        self.transactions: list[tuple[Records, Any]] = []
        self.epoch = 0

    def contents(self) -> dict[bytes, bytes]:
        """Return the last value of each key."""
        found = {key: value for records, _ in self.transactions for key, value in records}
        return {key: value for key, value in found.items() if value is not None}


class ModelSession:
    """A session with the model, with the methods of ``KafkaSession``."""

    stores_position_later = False
    fences = True

    def __init__(self, kafka: ModelKafka) -> None:
        self.kafka = kafka
        self.luck = "well"

    def connect(self) -> Progress | None:
        """Fence others, and return what has arrived."""
        self.kafka.epoch += 1
        self.epoch = self.kafka.epoch
        known = [(number, position) for number, (_, position) in enumerate(self.kafka.transactions, 1) if position]
        if not known:
            return None
        number, position = known[-1]
        return Progress(number, number, Fingerprint(None), position)

    def send(self, recorded: RecordedTransaction, contents: Contents) -> SentTransaction:
        """Commit a transaction, or fail."""
        records = [(key, value) for key, value, _ in contents.records]
        assert len(records) == contents.record_count
        if self.fences and self.epoch != self.kafka.epoch:
            raise PublishError("fenced")
        if self.luck == "lost before":
            raise CommitUnknownError("no answer, and not committed")
        position = None if self.stores_position_later and self.luck == "lost after" else contents.position
        self.kafka.transactions.append((records, position))
        if self.luck == "lost after":
            raise CommitUnknownError("no answer, but committed")
        return SentTransaction(0, len(records), 0, recorded.tx_id)


class World:
    """A table, a topic and two instances."""

    def __init__(self, session: Callable[[ModelKafka], ModelSession] = ModelSession) -> None:
        self.table = ModelTable((1 << 32) - 20)
        self.kafka = ModelKafka()
        self._session = session
        self._open = [self.table.begin(), self.table.begin(), self.table.begin()]
        self._copies: list[Any] = [None, None]

    def write(self, dice: random.Random) -> None:
        """Let one of the transactions do something."""
        number = dice.randrange(len(self._open))
        if dice.random() < 0.3:
            self.table.end(self._open[number], commit=dice.random() < 0.8)
            self._open[number] = self.table.begin()
        else:
            choices = {"in_subtransaction": dice.random() < 0.3, "delete": dice.random() < 0.1}
            self.table.write(self._open[number], f"key {dice.randrange(4)}", **choices)

    def copy(self, number: int, luck: str, *, compare: bool = False) -> None:
        """Let an instance do a step; it connects again after a failure."""
        if self._copies[number] is None:
            session: Any = self._session(self.kafka)
            made = TableCopy(SETTINGS, session, session.connect(), self._digests, lambda _: None)
            self._copies[number] = session, made
        session, copy = self._copies[number]
        session.luck = luck
        try:
            copy.step(ModelSnapshot(self.table), "requested" if compare else None)
        except PublishError:
            self._copies[number] = None
        else:
            assert self.rows().items() <= self.serials().items(), "the topic lacks rows of the snapshot"

    def check(self) -> None:
        """Check that no row version is in the topic twice."""
        puts = [record for records, _ in self.kafka.transactions for record in records if record[1] is not None]
        assert len(puts) == len(set(puts)), "a row version was written twice"

    def check_end(self) -> None:
        """Check that the topic equals the table after a comparison."""
        self._copies = [None, None]  # none is fenced
        self.copy(0, "well")
        self.copy(0, "well", compare=True)
        assert self.rows() == self.serials()
        self.check()

    def rows(self) -> dict[bytes, str]:
        """Return the serial number of each row's version by its key."""
        return {each.key.encode(): str(each.serial) for each in self.table.visible()}

    def serials(self) -> dict[bytes, str]:
        """Return the same of the topic."""
        return {key: json.loads(value)["serial"] for key, value in self.kafka.contents().items()}

    def _digests(self) -> dict[bytes, bytes]:
        return {key: digest_of(value) for key, value in self.kafka.contents().items()}


def play(world: World, seed: int, length: int, hardship: float) -> None:
    """Play a random history."""
    dice = random.Random(seed)
    for _ in range(length):
        if dice.random() < 0.6:
            world.write(dice)
            continue
        luck = dice.choice(["lost before", "lost after"]) if dice.random() < hardship else "well"
        world.copy(dice.randrange(2), luck, compare=dice.random() < 0.1)
        world.check()
    world.check_end()


@pytest.mark.thorough
@settings(max_examples=examples(300))
@given(st.integers(0, 1 << 32), st.integers(0, 200), st.sampled_from([0.0, 0.1, 0.4]))
def test_each_row_version_is_copied_exactly_once(seed: int, length: int, hardship: float) -> None:
    """Each row version is copied once, whatever fails and whichever instance copies."""
    play(World(), seed, length, hardship)


def test_rows_with_the_same_key_are_not_compared() -> None:
    """A comparison of a table in which a key occurs twice is refused, since either row could be the record."""
    with pytest.raises(SourceError, match="two active rows have the key k,"):
        differences([(b"k", b"1"), (b"l", b"1"), (b"k", b"2")], {b"k": digest_of(b"1")})


class Unfenced(ModelSession):
    """A session that accepts what older sessions send."""

    fences = False


class PositionApart(ModelSession):
    """A session that stores the position after the commit, and not in the transaction."""

    stores_position_later = True


@pytest.mark.parametrize("wrong", [Unfenced, PositionApart])
def test_fencing_and_one_transaction_are_needed(wrong: Callable[..., ModelSession]) -> None:
    """Without either of them, row versions are written twice."""

    def play_many() -> None:
        for seed in range(300):
            play(World(wrong), seed, 100, 0.3)

    with pytest.raises(AssertionError, match="written twice"):
        play_many()
