"""The keys of a transaction are checked before anything is sent, because Kafka's refusal would name no reason."""

from __future__ import annotations

from typing import Any, cast

import pytest

from kafka_replica.broker.writing.writer import TransactionalWriter
from kafka_replica.errors import UsageError
from kafka_replica.producer import LargeValueTransaction, Transaction
from kafka_replica.testing import FakeTopic


class NoWriter:
    """A writer that must not be called."""

    def send(self, *record: object) -> None:
        """Fail."""
        raise AssertionError(f"{record} was sent")


@pytest.mark.parametrize("key", [None, 5, "\ud800"])
@pytest.mark.parametrize("is_deletion", [False, True])
def test_a_key_that_is_neither_text_nor_bytes_is_refused_at_once(key: Any, is_deletion: bool) -> None:
    """A compacted topic needs keys; the error names the topics and the type, and nothing is counted."""
    transaction = Transaction(cast("TransactionalWriter", NoWriter()), "t,u")
    says = r"^writing a record to t, u: its key (must be str or bytes, not \w+; a compacted|'\\ud800' is not text)"
    with pytest.raises(UsageError, match=says):
        transaction.delete(key) if is_deletion else transaction.put(key, b"x")
    assert transaction.committed.records == transaction.committed.tombstones == 0


@pytest.mark.parametrize("is_deletion", [False, True])
def test_a_large_value_without_a_key_is_refused_at_once(is_deletion: bool) -> None:
    """The error is the same for values that are split."""
    topic, key = FakeTopic(), cast("str", None)
    with topic.replica() as replica:
        inner = Transaction(cast("TransactionalWriter", NoWriter()), "t")
        transaction = LargeValueTransaction(inner, replica.wait_ready(30))
        with pytest.raises(UsageError, match=r"ing a value of any size: its key must be str or bytes, not NoneType"):
            transaction.delete(key) if is_deletion else transaction.put(key, b"x")
