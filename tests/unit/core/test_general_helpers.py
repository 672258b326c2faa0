"""Helpers that several packages use: causes of errors, the owner of threads, names on disk."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kafka_replica.common.concatenation import Concatenation
from kafka_replica.common.error_causes import causes
from kafka_replica.common.folder_sync import sync_folder
from kafka_replica.common.process import OwnerProcess


def test_causes_come_in_order_and_once() -> None:
    """Explicit causes are followed; contexts only if requested; a circular chain ends."""
    first, second, third = ValueError("1"), ValueError("2"), ValueError("3")
    first.__cause__, second.__context__ = second, third
    assert list(causes(first)) == [first, second]
    assert list(causes(first, with_context=True)) == [first, second, third]
    third.__cause__ = first
    assert list(causes(first, with_context=True)) == [first, second, third]


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
