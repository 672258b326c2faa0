"""The environment of the experiments: a broker, its topics, and a way to run a measured program."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
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

_WHOLE_BATCHES = {"linger.ms": 1000, "batch.size": 4_000_000}  # one batch per transaction
_WORDS = (
    b'{"id": "name": "en": "de": "description": "urn": "urn:sdmx:org.sdmx.infomodel. codes annotations true isFinal'
    b' "links": "version": "1.0" "agencyID": value of the frequency reference area total seasonally adjusted'
).split()


@dataclass(frozen=True)
class Content:
    """The values of a filled topic, and how the producer compresses them."""

    value_bytes: int = VALUE_BYTES
    compression: str = "none"
    is_text: bool = False
    """Values like those of structure messages, which compress well; otherwise random bytes, which do not."""

    def value(self, dice: random.Random) -> bytes:
        """Return the next value."""
        if not self.is_text:
            return dice.randbytes(self.value_bytes)
        return b" ".join(dice.choices(_WORDS, k=self.value_bytes // 6))[: self.value_bytes].ljust(self.value_bytes)


@dataclass
class Stage:
    """A run: the broker, its size, and the destination of lines."""

    kafka: LocalKafka
    records: int
    small_records: int
    note: Callable[[dict[str, Any]], None]
    globalktable: GlobalKTable | None
    flush_mb: int = 1000
    _filled: dict[tuple[int, Content], str] = field(default_factory=dict)
    _done: set[str] = field(default_factory=set)

    @property
    def bootstrap(self) -> str:
        """The broker's address."""
        return self.kafka.bootstrap_servers

    def is_first(self, what: str) -> bool:
        """Return whether a task runs for the first time: long tasks without a target are measured in one round."""
        is_first = what not in self._done
        self._done.add(what)
        return is_first

    def program(self, name: str, *arguments: object) -> list[str]:
        """Return the command that runs a measured program."""
        return [sys.executable, "-m", f"benchmarks.programs.{name}", *map(str, arguments)]

    def start(self, name: str, *arguments: object) -> subprocess.Popen[str]:
        """Start a program that runs next to others."""
        command = self.program(name, *arguments)
        return subprocess.Popen(command, cwd=ROOT, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def measure(self, name: str, *arguments: object) -> dict[str, Any]:
        """Run a program to its end; note and return its output line."""
        command = self.program(name, *arguments)
        done = subprocess.run(command, cwd=ROOT, text=True, stdout=subprocess.PIPE, check=True, timeout=_LIMIT_S)
        line: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        self.note(line)
        return line

    def noted(self, line: dict[str, Any]) -> dict[str, Any]:
        """Note a line that was measured in another way."""
        self.note(line)
        return line

    def new_topic(self, what: str) -> str:
        """Create an empty compacted topic of one partition."""
        return self.kafka.create_topic(f"{what}-{uuid4().hex[:8]}", config={"cleanup.policy": "compact"})

    def filled_topic(self, records: int, content: Content | None = None) -> str:
        """Return a topic with that number of records with distinct keys, written on first use."""
        content = content or Content()
        if (records, content) not in self._filled:
            topic = self._filled[records, content] = self.new_topic(f"filled-{records}")
            fill(self.bootstrap, topic, records, content)
        return self._filled[records, content]


def fill(bootstrap: str, topic: str, records: int, content: Content, writers: int = 1) -> None:
    """Write records with distinct keys, 100 per transaction, by some writers at the same time."""
    with ThreadPoolExecutor(writers) as pool:
        shares = [range(first, records, writers) for first in range(writers)]
        for written in [pool.submit(_fill, bootstrap, topic, share, content) for share in shares]:
            written.result()


def _fill(bootstrap: str, topic: str, share: range, content: Content) -> None:
    dice = random.Random(share.stop + share.start)
    settings = {"bootstrap.servers": bootstrap, **_WHOLE_BATCHES, "compression.type": content.compression}
    producer = TransactionalProducer(settings, topic, f"{topic}-{share.start}")
    numbers = iter(share)
    while batch := list(islice(numbers, TRANSACTION_RECORDS)):
        with producer.transaction() as transaction:
            for number in batch:
                transaction.put(key_of(number), content.value(dice))
    producer.wait_visible(transaction.committed)
