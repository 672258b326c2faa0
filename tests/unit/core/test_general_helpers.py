"""Helpers that several packages use: causes of errors, the owner of threads, names on disk."""

from __future__ import annotations

import gc
import os
import pickle
import threading
from pathlib import Path
from typing import Self

import pytest

from kafka_replica import KafkaReplicaError
from kafka_replica.common.concatenation import Concatenation
from kafka_replica.common.error_causes import causes, copy_of
from kafka_replica.common.folder_sync import sync_folder
from kafka_replica.common.garbage_collector import collector_paused, collector_resumed
from kafka_replica.common.process import OwnerProcess
from kafka_replica.common.wording import abridged
from kafka_replica.errors import MissingExtraError, WaitTimeoutError


def test_causes_come_in_order_and_once() -> None:
    """Explicit causes are followed; contexts only if requested; a circular chain ends."""
    first, second, third = ValueError("1"), ValueError("2"), ValueError("3")
    first.__cause__, second.__context__ = second, third
    assert list(causes(first)) == [first, second]
    assert list(causes(first, with_context=True)) == [first, second, third]
    third.__cause__ = first
    assert list(causes(first, with_context=True)) == [first, second, third]


class TwoPartError(KafkaReplicaError):
    """An error whose constructor takes other arguments than its base."""

    def __init__(self, first: str, second: str) -> None:
        super().__init__(first + second)
        self.first = first


class UncopiedError(KafkaReplicaError):
    """An error whose class makes no copies."""

    def __new__(cls, *arguments: object, is_original: bool = False) -> Self:
        """Refuse all but the original."""
        if not is_original:
            raise RuntimeError("no copies")
        return super().__new__(cls, *arguments)

    def __init__(self, *arguments: object, is_original: bool = False) -> None:
        del is_original  # used above
        super().__init__(*arguments)


def test_a_copy_of_an_error_needs_no_constructor() -> None:
    """Type, text and attributes are the same, also of errors with a constructor of their own; the traceback is not."""
    for error in (
        TwoPartError("a", "b"),
        MissingExtraError("reading", "all"),
        WaitTimeoutError("x"),
        KafkaReplicaError(),
    ):
        with pytest.raises(type(error)):
            raise error
        made = copy_of(error)
        assert made is not error
        assert (type(made), str(made), made.args, vars(made)) == (type(error), str(error), error.args, vars(error))
        assert made.__traceback__ is None
    refused = UncopiedError("x", is_original=True)
    assert copy_of(refused) is refused


def test_the_error_of_a_missing_extra_can_be_pickled() -> None:
    """The parent of a process that lacks the extra receives it."""
    error = MissingExtraError("reading", "all")
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_a_long_reason_keeps_both_ends() -> None:
    """The message of a validator may begin with the whole value, and end with the reason."""
    assert abridged("a" * 20, 20) == "a" * 20
    assert abridged("a" * 100 + "b" * 100, 30) == "a" * 17 + " … " + "b" * 10


def test_chained_sequences_are_one() -> None:
    """Places and slices of sequences in a row are those of one list, also with empty sequences among them."""
    chained = Concatenation[str](["ab", "", "c", "def"])
    assert (len(chained), "".join(chained), chained[-1]) == (6, "abcdef", "f")
    assert ["".join(chained[first:last]) for first in range(7) for last in range(7)] == [
        "abcdef"[first:last] for first in range(7) for last in range(7)
    ]
    assert list(chained[2:][1:]) == ["d", "e", "f"]
    assert not Concatenation[str]([])
    with pytest.raises(IndexError):
        chained[6]


@pytest.mark.thorough
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_is_not_the_owner() -> None:
    """The process that made the object is the owner, a fork of it is not."""
    owner = OwnerProcess()
    assert owner.is_current
    child = os.fork()
    if not child:
        os._exit(int(owner.is_current))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_syncing_a_folder_that_cannot_be_opened_is_no_error(tmp_path: Path) -> None:
    """A system on which folders cannot be opened keeps the previous promise only."""
    sync_folder(tmp_path)
    sync_folder(tmp_path / "missing")


def test_a_pause_of_the_garbage_collector_can_be_interrupted() -> None:
    """The collector works while a thread waits; outside a pause, nothing changes."""
    with collector_resumed():
        assert gc.isenabled()
    with collector_paused():
        with collector_resumed():
            assert gc.isenabled()
            with collector_paused():
                assert not gc.isenabled()
            assert gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_a_collector_that_is_switched_off_during_an_interruption_stays_off() -> None:
    """The end of the pause switches on what the pause has switched off, and nothing else."""
    try:
        with collector_paused(), collector_resumed():
            gc.disable()
        assert not gc.isenabled()
        with collector_resumed():
            assert not gc.isenabled()
    finally:
        gc.enable()


@pytest.mark.thorough
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_process_that_is_forked_during_a_pause_has_a_garbage_collector() -> None:
    """The child lacks the thread that would end the pause; a collector that the user has switched off stays off."""

    def exit_code_of_child() -> int:
        child = os.fork()
        if not child:
            os._exit(int(gc.isenabled()))
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    is_paused, may_end = threading.Event(), threading.Event()

    def pause() -> None:
        with collector_paused():
            is_paused.set()
            assert may_end.wait(30)

    pausing = threading.Thread(target=pause, daemon=True)
    pausing.start()
    assert is_paused.wait(30)
    try:
        assert not gc.isenabled()
        assert exit_code_of_child() == 1
        assert not gc.isenabled()
    finally:
        may_end.set()
        pausing.join(30)
    assert gc.isenabled()
    gc.disable()
    try:
        with collector_paused():
            assert exit_code_of_child() == 0
    finally:
        gc.enable()
