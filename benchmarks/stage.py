"""What the experiments run on: a broker, its topics, and a way to run a measured program."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any
from uuid import uuid4

from benchmarks.java import GlobalKTable
from benchmarks.programs.common import key_of
from kafka_replica.embedded import LocalKafka
from kafka_replica.producer import TransactionalProducer

ROOT = Path(__file__).resolve().parent.parent
VALUE_BYTES = 1024
KEY_BYTES = len(key_of(0))
TRANSACTION_RECORDS = 100
_LIMIT_S = 600

_WHOLE_BATCHES = {"compression.type": "none", "linger.ms": 1000, "batch.size": 4_000_000}  # one batch a transaction


@dataclass
class Stage:
    """One run: the broker, how large, and where lines go."""

    kafka: LocalKafka
    records: int
    small_records: int
    note: Callable[[dict[str, Any]], None]
    globalktable: GlobalKTable | None
    flush_mb: int = 1000
    _filled: dict[int, str] = field(default_factory=dict)
    _done: set[str] = field(default_factory=set)

    @property
    def bootstrap(self) -> str:
        """The broker's address."""
        return self.kafka.bootstrap_servers

    def is_first(self, what: str) -> bool:
        """Whether this is asked for the first time: what takes long and has no target is measured in one round."""
        is_first = what not in self._done
        self._done.add(what)
        return is_first

    def program(self, name: str, *arguments: object) -> list[str]:
        """The command that runs a measured program."""
        return [sys.executable, "-m", f"benchmarks.programs.{name}", *map(str, arguments)]

    def start(self, name: str, *arguments: object) -> subprocess.Popen[str]:
        """A program that goes on beside others."""
        command = self.program(name, *arguments)
        return subprocess.Popen(command, cwd=ROOT, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def measure(self, name: str, *arguments: object) -> dict[str, Any]:
        """Runs a program to its end; its line, which is noted as well."""
        command = self.program(name, *arguments)
        done = subprocess.run(command, cwd=ROOT, text=True, stdout=subprocess.PIPE, check=True, timeout=_LIMIT_S)
        line: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        self.note(line)
        return line

    def noted(self, line: dict[str, Any]) -> dict[str, Any]:
        """Notes a line that was got in another way."""
        self.note(line)
        return line

    def new_topic(self, what: str) -> str:
        """An empty compacted topic of one partition."""
        return self.kafka.create_topic(f"{what}-{uuid4().hex[:8]}", config={"cleanup.policy": "compact"})

    def filled_topic(self, records: int) -> str:
        """A topic with that many records of distinct keys, written when it is first asked for."""
        if records not in self._filled:
            topic = self._filled[records] = self.new_topic(f"filled-{records}")
            _fill(self.bootstrap, topic, records)
        return self._filled[records]


def _fill(bootstrap: str, topic: str, records: int) -> None:
    """Writes incompressible values, 100 records a transaction."""
    dice = random.Random(records)
    producer = TransactionalProducer({"bootstrap.servers": bootstrap, **_WHOLE_BATCHES}, topic, topic)
    numbers = iter(range(records))
    while batch := list(islice(numbers, TRANSACTION_RECORDS)):
        with producer.transaction() as transaction:
            for number in batch:
                transaction.put(key_of(number), dice.randbytes(VALUE_BYTES))
    producer.wait_visible(transaction.committed)
