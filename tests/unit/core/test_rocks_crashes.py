"""The store on disk fails, or its process is killed, between any two of its steps: no version is ever half written."""

from __future__ import annotations

import gc
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_replica.errors import StoreError
from support.core.rocks_stories import Actions, check, fail, open_store, shown, stories, trap
from support.core.rocks_tools import new_folder
from support.effort import first_in_usual, usual_or_long
from support.paths import TESTS

pytestmark = pytest.mark.thorough

STORIES = list(stories())
KILLS = usual_or_long(6, 15, 200)


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder for stores."""
    with new_folder() as path:
        yield path


@pytest.mark.parametrize("name", first_in_usual(STORIES, 2))
def test_killed_between_any_two_steps(name: str, folder: Path) -> None:
    """After a kill between any two steps the store has a published version, whole with its resume point.

    This is the newest version or the one being published.
    """
    program = TESTS / "support/core/rocks_crasher.py"
    done = subprocess.run(
        [sys.executable, program, name, folder], check=False, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    steps, *found = map(int, done.stdout.split())
    story = stories()[name]
    assert steps > len(story.acts)
    assert set(found) == set(range(len(story.states))), "not every version was there when the process was killed"


@pytest.mark.long
@pytest.mark.parametrize("name", STORIES)
def test_failing_between_any_two_steps_and_opened_again(name: str, folder: Path) -> None:
    """After a failure at any step the version shown stays, and is there after reopening.

    While a snapshot is held the database is never closed.
    """
    at = 1
    while True:
        story, path = stories()[name], folder / str(at)
        store, done, failed = open_store(path), 0, False
        with trap(at, fail):
            for act in story.acts:
                try:
                    act(store)
                except StoreError:
                    failed = True
                    break
                done += 1
        number, state = shown(store)
        assert state == story.states[number]
        held = store.snapshot() if at % 2 else None
        store.close()
        del store
        gc.collect()
        check(story, path, done)
        if held is not None and number:
            assert {key: (record.value or b"").rstrip() for key, record in held.items()} == state
        if not failed:
            return
        at += 1


@pytest.mark.long
@pytest.mark.parametrize("name", STORIES)
def test_failing_between_any_two_steps_and_done_again(name: str, folder: Path) -> None:
    """A step that failed can be repeated a moment later, and the key count stays right."""
    at = 1
    while True:
        story, path = stories()[name], folder / str(at)
        store = open_store(path)
        with trap(at, fail) as met:
            for number, act in enumerate(story.acts):
                _insist(act, store)
                published, state = shown(store)
                if not _has_forgotten(story, number):
                    assert published == story.published_by[number]
                assert state == story.states[published]
        assert shown(store) == (len(story.states) - 1, story.states[-1])
        done = len(story.acts)
        store.close()
        del store
        gc.collect()
        assert check(story, path, done) == len(story.states) - 1
        if len(met) < at:
            return
        at += 1


def _insist(act: object, store: object) -> None:
    try:
        act(store)  # type: ignore[operator]
    except StoreError:
        act(store)  # type: ignore[operator]


def _has_forgotten(story: Actions, act: int) -> bool:
    return story.may_forget_after is not None and act >= story.may_forget_after


@pytest.mark.scaled
@pytest.mark.timeout(22 * KILLS)
def test_a_replica_that_is_killed_again_and_again(folder: Path) -> None:
    """A replica killed repeatedly during writes keeps a whole version, never an older one, and finally catches up."""
    program = TESTS / "support/core/rocks_killed.py"
    command = [sys.executable, str(program), str(folder), str(KILLS), "1"]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=20 * KILLS)
    assert done.returncode == 0, done.stderr
    begun_at, ended_at, written = map(int, done.stdout.split())
    assert 0 < begun_at <= ended_at <= written  # on a busy machine few lives make a version
