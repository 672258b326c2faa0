"""The content that is written: each writer's keys, and values that name their transaction.

Every transaction of a writer writes one value, unique to it, to

* its *head*, always: the head shows how far the writer has come;
* all its *core* keys, or deletes all of them: they must never show two transactions at once;
* one of its *ring* keys in turn, or deletes it: a lost transaction leaves a wrong value behind;
* some of the *shared* keys, or deletes them: there the highest offset wins, whoever commits last.
"""

from __future__ import annotations

import random
from functools import lru_cache
from typing import NamedTuple

CORE_KEYS = 6
RING_KEYS = 5
SHARED = tuple(f"shared-{number}" for number in range(6))


class Draft(NamedTuple):
    """The writes of one transaction."""

    puts: list[str]
    deletes: list[str]


def head(writer: int) -> str:
    """Return the key that every transaction of the writer puts."""
    return f"writer-{writer}-head"


def core(writer: int) -> list[str]:
    """Return the keys that every transaction of the writer puts, or deletes."""
    return [f"writer-{writer}-core-{number}" for number in range(CORE_KEYS)]


def ring(writer: int) -> list[str]:
    """Return the keys that the writer's transactions use in turn."""
    return [f"writer-{writer}-ring-{number}" for number in range(RING_KEYS)]


def all_keys(writers: int) -> list[str]:
    """Return every key that a run may write."""
    private = [key for writer in range(writers) for key in (head(writer), *core(writer), *ring(writer))]
    return [*private, *SHARED]


def draft(dice: random.Random, writer: int, number: int) -> Draft:
    """Return what the writer's transaction of that number writes, in its own order."""
    puts = [head(writer)]
    deletes: list[str] = []
    (deletes if dice.random() < 0.1 else puts).extend(core(writer))
    (deletes if dice.random() < 0.25 else puts).append(ring(writer)[number % RING_KEYS])
    for key in dice.sample(SHARED, dice.choice((0, 1, 1, 2))):
        (deletes if dice.random() < 0.2 else puts).append(key)
    return Draft(puts, deletes)


def name(writer: int, number: int) -> str:
    """Return a transaction's name: ``3.17`` is the seventeenth of writer 3."""
    return f"{writer}.{number}"


@lru_cache(100_000)
def value(of: str) -> bytes:
    """Return the value that the transaction of that name writes: its name, and bytes derived from it."""
    dice = random.Random(of)
    return of.encode() + b":" + dice.randbytes(dice.randrange(200))


def named(found: bytes) -> str:
    """Return the transaction that wrote a value; bytes that differ from what it wrote are marked as such."""
    text = found.partition(b":")[0].decode(errors="replace")
    return text if value(text) == found else f"damaged {found[:40].hex()}"
