"""Random histories of a topic, and a player that executes a history, step by step, on any backend."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import NamedTuple

from support.broker.topic_backend import Backend, Writing

KEYS = [f"key-{number}" for number in range(8)]
_WRITERS = 3
_REST_EVERY = 12


class Decision(NamedTuple):
    """A step of a writer; writer -1 writes outside of transactions."""

    verb: str
    writer: int = -1
    key: str = ""
    value: bytes | None = None
    partition: int | None = None


def random_history(seed: int, steps: int, partitions: int) -> Iterator[Decision]:
    """Return a history of three interleaving writers, and one without transactions; at times none is open."""
    dice = random.Random(seed)
    is_open: set[int] = set()
    for number in range(steps):
        if number % _REST_EVERY == 0:
            yield from (Decision("commit", writer) for writer in sorted(is_open))
            is_open.clear()
        writer = dice.randrange(-1, _WRITERS)
        if writer >= 0 and writer not in is_open:
            is_open.add(writer)
            yield Decision("begin", writer)
        if writer in is_open and dice.random() < 0.3:
            is_open.remove(writer)
            yield Decision("commit" if dice.random() < 0.7 else "abort", writer)
            continue
        value = None if dice.random() < 0.25 else str(number).encode()
        partition = dice.randrange(partitions) if dice.random() < 0.2 else None
        yield Decision("put", writer, dice.choice(KEYS), value, partition)
    yield from (Decision("commit", writer) for writer in sorted(is_open))


class BackendPlayer:
    """A player of the steps on one backend."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._open: dict[int, Writing] = {}

    @property
    def is_quiet(self) -> bool:
        """Return True if no transaction is open."""
        return not self._open

    def play(self, step: Decision) -> None:
        """Execute one step; it is in the log on return."""
        if step.verb == "begin":
            self._open[step.writer] = self._backend.begin()
        elif step.verb == "put":
            self._put(step)
        else:
            writing = self._open.pop(step.writer)
            (writing.commit if step.verb == "commit" else writing.abort)()

    def _put(self, step: Decision) -> None:
        writing = self._open.get(step.writer)
        if writing is None:
            self._backend.put(step.key, step.value, partition=step.partition)
        elif step.value is None:
            writing.delete(step.key, partition=step.partition)
        else:
            writing.put(step.key, step.value, partition=step.partition)
