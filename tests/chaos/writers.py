"""A transactional writer in a separate process: it interleaves, aborts and hangs; it is killed and restarted."""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from chaos.children import Orders
from chaos.history import Journal, lines
from chaos.plan import Draft, draft, name, value

TRANSACTION_TIMEOUT_MS = 8_000
_ANSWER_S = 10.0
BY = "by"
"""The header that names the transaction, because a tombstone has no value for that."""
_NO_TIME_S = 0.001  # too short for a response: the outcome of the commit is then unknown


class Writer:
    """Write transactions until stopped, and record them.

    Args:
        bootstrap: the brokers.
        topic: to write to.
        writer: its number.
        seed: determines the content.
        path: its history; a restarted writer continues the same file.
        pause_s: between two transactions, on average.
    """

    def __init__(self, bootstrap: str, topic: str, writer: int, seed: int, path: str, pause_s: float) -> None:
        self._topic, self._writer, self._pause_s = topic, writer, pause_s
        past = [line["number"] for line in lines(Path(path)) if "number" in line] if Path(path).exists() else []
        self._number = max(past, default=0)
        self._dice = random.Random(f"{seed} {writer} {self._number}")
        self._journal = Journal(Path(path))
        self._orders = Orders()
        self._settings: dict[str, Any] = {
            "bootstrap.servers": bootstrap, "transactional.id": f"{topic}-writer-{writer}",
            "transaction.timeout.ms": TRANSACTION_TIMEOUT_MS, "linger.ms": 0, "log_level": 0,
            "socket.timeout.ms": 5_000, "reconnect.backoff.max.ms": 500,
        }  # fmt: skip

    def run(self) -> None:
        """Write. Return when stopped, with no open transaction."""
        while True:
            try:
                producer = self._open()
                while not self._orders.came.is_set():
                    self._transaction(producer)
                    self._orders.came.wait(self._dice.expovariate(1 / self._pause_s))
            except KafkaException as error:
                # As any writer has to: start again, which aborts what was open.
                self._journal.write("trouble", error=str(error))
                self._orders.came.wait(0.1)
            else:
                return

    def _open(self) -> Producer:
        producer = Producer(self._settings)
        producer.init_transactions(_ANSWER_S)
        self._journal.write("open")
        return producer

    def _transaction(self, producer: Producer) -> None:
        self._number += 1
        number = self._number
        todo = draft(self._dice, self._writer, number)
        self._journal.write("begin", number=number, puts=todo.puts, deletes=todo.deletes)
        producer.begin_transaction()
        offsets = self._produce(producer, todo)
        if self._dice.random() < 0.01:
            self._journal.write("hang", number=number, offsets=offsets)
            self._orders.came.wait(self._dice.uniform(1, 4))
        if self._dice.random() < 0.15:
            self._journal.write("abort", number=number, offsets=offsets)
            producer.abort_transaction(_ANSWER_S)
            self._journal.write("aborted", number=number)
            return
        self._journal.write("commit", number=number, offsets=offsets)
        producer.commit_transaction(_NO_TIME_S if self._dice.random() < 0.02 else _ANSWER_S)
        self._journal.write("committed", number=number)

    def _produce(self, producer: Producer, todo: Draft) -> dict[str, int | None]:
        """Write the records in a random order and in pieces, so that writers interleave; return their offsets."""
        offsets: dict[str, int | None] = {}
        refused: list[KafkaError] = []

        def delivered(error: KafkaError | None, message: Message) -> None:
            if error is not None:
                refused.append(error)
            offset, key = message.offset(), message.key()
            # A record sent twice after a broker's crash is acknowledged without its offset.
            offsets[(key or b"").decode()] = offset if offset is not None and offset >= 0 else None

        deletes = set(todo.deletes)
        by = name(self._writer, self._number)
        written = value(by)
        for key in self._dice.sample(keys := [*todo.puts, *todo.deletes], len(keys)):
            one = None if key in deletes else written
            producer.produce(self._topic, key=key.encode(), value=one, headers={BY: by}, on_delivery=delivered)
            if self._dice.random() < 0.15:
                producer.flush(_ANSWER_S)
                self._orders.came.wait(self._dice.uniform(0, 0.01))
        left = producer.flush(_ANSWER_S)
        if refused or left:
            raise KafkaException(refused[0] if refused else KafkaError(KafkaError._TIMED_OUT))
        return offsets


if __name__ == "__main__":
    Writer(**json.loads(sys.argv[1])).run()
