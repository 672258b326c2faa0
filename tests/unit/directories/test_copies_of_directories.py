"""Copies of a directory as a dict: those by its own methods are of one version, whenever a version arrives."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from kafka_replica.directories import Directory
from kafka_replica.testing import FakeTopic

pytestmark = pytest.mark.thorough

WAIT_S = 60.0
OLD, NEW = ({key: f"{key}{number}" for key in "ABC"} for number in (1, 2))

COPIES: dict[str, Callable[[Directory[Any, str]], dict[Any, str]]] = {
    "copy()": lambda directory: directory.copy(),
    "| dict": lambda directory: directory | {},
    "dict |": lambda directory: {} | directory,
    "dict of a view": lambda directory: dict(directory.view()),
    "unpacked view": lambda directory: {**directory.view()},
    "items()": lambda directory: dict(directory.items()),
}


class Key(str):
    """A key whose hash lets a version arrive, when a copy has reached it."""

    __slots__ = ()
    arrive: Callable[[], object] | None = None

    def __hash__(self) -> int:
        arrive, is_last = Key.arrive, self == "C"
        if arrive is not None and is_last:
            Key.arrive = None
            arrive()
        return super().__hash__()


def write(topic: FakeTopic, objects: dict[str, str]) -> None:
    """Write all objects in one transaction."""
    with topic.transaction() as transaction:
        for key, value in objects.items():
            transaction.put(key, f'"{value}"'.encode())


@pytest.fixture
def key_is_reset() -> Iterator[None]:
    """Let later hashes do nothing else, even if a copy has not used the key."""
    yield
    Key.arrive = None


@pytest.mark.parametrize("how", COPIES)
@pytest.mark.usefixtures("key_is_reset")
def test_a_version_that_arrives_during_a_copy_does_not_change_it(how: str) -> None:
    """The copy has the objects of one version only, although a version arrives between two of its keys."""
    topic = FakeTopic("t")
    write(topic, OLD)
    with topic.replica() as replica, Directory(replica, str, key=lambda found: Key(found[0])) as directory:
        directory.wait_ready(WAIT_S)

        def arrive() -> None:
            write(topic, NEW)
            directory.wait_for(topic.end(), WAIT_S)

        Key.arrive = arrive
        copied = COPIES[how](directory)
        Key.arrive = None
        assert type(copied) is dict
        assert copied in (OLD, NEW)


def write_version(topic: FakeTopic, number: int) -> None:
    """Write a number as the value of 50 keys, and add or delete another key, in one transaction."""
    with topic.transaction() as transaction:
        for key in range(50):
            transaction.put(f"K{key}", f'"{number}"'.encode())
        if number % 2:
            transaction.put("X", f'"{number}"'.encode())
        else:
            transaction.delete("X")


def problem(copy: Callable[[], dict[Any, str]]) -> object:
    """Return a copy that is not of one version, or the exception that copying has raised; None if it is whole."""
    try:
        copied = copy()
    except Exception as error:  # noqa: BLE001 - the test shows it
        return error
    (number, *others) = {int(value) for value in copied.values()}
    return copied if others or ("X" in copied) != bool(number % 2) else None


@pytest.fixture
def threads_switch_often() -> Iterator[None]:
    """Let threads interrupt each other after 10 microseconds."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(interval)


@pytest.mark.long
@pytest.mark.parametrize("how", [name for name in COPIES if "view" not in name])
@pytest.mark.usefixtures("threads_switch_often")
def test_copies_are_whole_while_transactions_arrive(how: str) -> None:
    """Threads copy while each transaction changes all objects, and adds or deletes one."""
    topic, over, wrong = FakeTopic("t"), threading.Event(), list[object]()
    write_version(topic, 0)
    with topic.replica() as replica, Directory(replica, str) as directory:
        directory.wait_ready(WAIT_S)

        def read() -> None:
            while not over.is_set() and not wrong:
                found = problem(lambda: COPIES[how](directory))
                if found is not None:
                    wrong.append(found)

        threads = [threading.Thread(target=read, daemon=True) for _ in range(2)]
        for thread in threads:
            thread.start()
        for number in range(1, 60):
            write_version(topic, number)
            directory.wait_for(topic.end(), WAIT_S)
        over.set()
        for thread in threads:
            thread.join(WAIT_S)
    assert wrong == []


def test_a_copy_is_a_dict_of_its_own() -> None:
    """A copy can be changed; operands keep their order, and other types are refused as by a dict."""
    topic = FakeTopic("t")
    write(topic, OLD)
    with topic.replica() as replica, Directory(replica, str) as directory:
        directory.wait_ready(WAIT_S)
        copied = directory.copy()
        copied["A"] = "mine"
        assert directory["A"] == "A1"
        assert (directory | {"A": "right"})["A"] == "right"
        assert ({"A": "left", "D": "left"} | directory) == {**OLD, "D": "left"}
        pairs: Any = [("A", "pair")]
        with pytest.raises(TypeError, match="unsupported operand"):
            directory | pairs
        with pytest.raises(TypeError, match="unsupported operand"):
            pairs | directory
