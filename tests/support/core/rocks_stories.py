"""The sequences of actions of stores on disk in the tests of crashes, and the required states after a crash.

A story is a list of acts; each act that publishes makes the state of its number. After the return of an act its state
must be found; the state of an unfinished act may be found.
"""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

from kafka_replica import Position, RocksStore
from kafka_replica.errors import StoreError
from kafka_replica.stores.delta import Delta
from kafka_replica.stores.rocks.database import Database
from kafka_replica.stores.rocks.scan import staged
from kafka_replica.transactions.resume_point import ResumePoint
from support.core.rocks_tools import P, delta, values

State = dict[bytes, bytes | None]
Act = Callable[[RocksStore], object]

WRITE_BUFFER_BYTES = 1 << 16  # so that RocksDB also writes files by itself
_VALUE_BYTES = 2_000
_STEPS: list[tuple[Any, str]] = [
    (Database, "__init__"),
    (Database, "write"),
    (Database, "flush"),
    (os, "replace"),
    (os, "fsync"),
    (os, "unlink"),
]


@dataclass
class Actions:
    """A list of acts, and the states that they publish."""

    acts: list[Act] = field(default_factory=list)
    published_by: list[int] = field(default_factory=list)  # the number of states after that many acts
    states: list[State] = field(default_factory=lambda: [{}])
    may_forget_after: int | None = None  # acts

    def publish(self, changes: State, parts: int = 0, *, is_rebuilt: bool = False) -> Actions:
        """Publish a version in one act, or in several if it is staged in parts."""
        number = len(self.states)
        state = {} if is_rebuilt else self.states[-1]
        pieces = [dict(list(changes.items())[at :: parts + 1]) for at in range(parts + 1)]
        for piece in pieces[:-1]:
            self._add(lambda store, piece=piece: store.stage(sized(piece, number)))  # type: ignore[misc]
        mark = resume_point(number)
        self.states.append({key: value for key, value in {**state, **changes}.items() if value is not None})
        return self._add(lambda store: store.apply(sized(pieces[-1], number), mark.position, mark))

    def note(self) -> Actions:
        """Mark the last version as known to be of a later time."""
        mark = resume_point(len(self.states) - 1, "noted")
        return self._add(lambda store: store.save_resume_point(mark))

    def rebuild(self, *, forget: bool = False) -> Actions:
        """Build the next state from scratch."""
        if forget:
            self.may_forget_after = len(self.acts)
        return self._add(lambda store: store.rebuild(forget=forget))

    def _add(self, act: Act) -> Actions:
        self.acts.append(act)
        self.published_by.append(len(self.states) - 1)
        return self


def numbered(count: int, text: bytes, first: int = 0) -> State:
    """Return keys with one value."""
    return {b"k%03d" % number: text for number in range(first, first + count)}


def stories() -> dict[str, Actions]:
    """Return all stories."""
    some, gone = numbered(60, b"1"), dict.fromkeys(numbered(20, b""))
    staged_twice = {**numbered(50, b"2", 30), **gone}
    return {
        "plain": Actions().publish(some).publish({**gone, b"new": b"2"}).note().publish(numbered(30, b"3", 10)),
        "staged": Actions().publish(some).publish(staged_twice, 2).publish(numbered(60, b"3"), 1).publish({b"a": b"4"}),
        "little staged": Actions().publish({b"a": b"1"}).publish({b"a": b"2", b"b": b"2"}, 1).note(),  # fills no buffer
        "first": Actions().publish(some, 3).publish({b"a": b"2"}),
        "rebuild": Actions()
        .publish(some, 1)
        .rebuild()
        .publish(numbered(40, b"2", 30), 1, is_rebuilt=True)
        .publish(gone, 1),
        "rebuild while staged": Actions()
        .publish(some)
        ._add(lambda store: store.stage(sized(numbered(70, b"never"), 99)))
        .rebuild()
        .rebuild()
        .publish(numbered(40, b"2", 30), is_rebuilt=True),
        "forget": Actions().publish(some).rebuild(forget=True).publish(numbered(9, b"2"), 1, is_rebuilt=True),
    }


def sized(changes: State, number: int) -> Delta:
    """Return a part with values that fill the buffers."""
    full = {key: None if value is None else value.ljust(_VALUE_BYTES) for key, value in changes.items()}
    return delta(full, number * 1_000)


def resume_point(number: int, life: str = "") -> ResumePoint:
    """Return the resume point of a state."""
    return ResumePoint(Position({P: number * 1_000}), caught_up_ms=number, incarnation=life)


def open_store(folder: Path) -> RocksStore:
    """Open the store of a story."""
    return RocksStore(folder, write_buffer_bytes=WRITE_BUFFER_BYTES)


def shown(store: RocksStore) -> tuple[int, State]:
    """Return the number of its state by the resume point, and its content by a scan, by look-ups and by count."""
    snapshot = store.snapshot()
    mark = store.resume_point
    assert snapshot.position == (Position() if mark is None else mark.position)
    found = {key: (value or b"").rstrip() for key, value in values(snapshot).items()}
    assert len(snapshot) == len(found)
    assert all(snapshot[key].value == value.ljust(_VALUE_BYTES) for key, value in found.items())
    return (0 if mark is None else mark.caught_up_ms), dict(found)


def check(story: Actions, folder: Path, acts_done: int) -> int:
    """Open the store that a crash has left, and continue.

    Args:
        story: the interrupted story.
        folder: of the store.
        acts_done: the acts that had returned.

    Returns:
        The number of the state that was found.
    """
    store = open_store(folder)
    number, state = shown(store)
    sure = story.published_by[acts_done - 1] if acts_done else 0
    under_way = story.published_by[min(acts_done, len(story.acts) - 1)]
    allowed = {sure, under_way}
    if story.may_forget_after is not None and acts_done >= story.may_forget_after and under_way < len(story.states):
        allowed |= {0}
    if story.may_forget_after is not None and acts_done > story.may_forget_after:
        allowed -= {story.published_by[story.may_forget_after]}
    assert number in allowed, f"found state {number} after {acts_done} acts, not one of {allowed}"
    assert state == story.states[number]
    generation = store._generation
    assert generation is None or next(staged(generation.database), None) is None
    assert len(list(folder.glob("database-*"))) == (generation is not None)
    _go_on(store, folder, number, state)
    return number


def _go_on(store: RocksStore, folder: Path, number: int, state: State) -> None:
    """Publish two more versions, one of them staged, and check that all is there after reopening."""
    version = store.snapshot().version
    for more in (1, 2):
        mark = resume_point(number + more)
        key, lost = b"after%d" % more, next(iter(state), b"")
        if more == 2:
            store.stage(sized({b"staged": b"x", **numbered(50, b"staged")}, number + more))
            state = {**state, b"staged": b"x", **numbered(50, b"staged")}
        store.apply(sized({key: b"y", lost: None}, number + more), mark.position, mark)
        state = {**state, key: b"y"}
        state.pop(lost, None)
        assert shown(store) == (number + more, state)
    store.close()
    store = open_store(folder)
    assert shown(store) == (number + 2, state)
    assert store.snapshot().version == version + 2
    store.close()


@contextmanager
def trap(at: int, spring: Callable[[str], None]) -> Iterator[list[str]]:
    """Call a function before the step of that number, counted from 1; yield the names of the reached steps."""
    met: list[str] = []

    def trapped(name: str, real: Callable[..., object]) -> Callable[..., object]:
        def step(*args: Any, **named: Any) -> object:
            if name != "unlink" or Path(args[0]).name == "CURRENT":  # not each file of a removed folder
                met.append(name)
                if len(met) == at:
                    spring(name)
            return real(*args, **named)

        return step

    patches = [mock.patch.object(owner, name, trapped(name, getattr(owner, name))) for owner, name in _STEPS]
    for patch in patches:
        patch.start()
    try:
        yield met
    finally:
        for patch in patches:
            patch.stop()


def fail(name: str) -> None:
    """Fail the step, as on a full disk."""
    if name in {"__init__", "write", "flush"}:
        raise StoreError(f"nothing of it was done: {name}")
    raise OSError(errno.ENOSPC, "No space left on device")


def die(name: str) -> None:
    """End the process immediately."""
    os.kill(os.getpid(), signal.SIGKILL)
