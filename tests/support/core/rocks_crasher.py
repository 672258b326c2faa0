"""A program that crashes stores at each step, each in a separate process: ``rocks_crasher.py STORY FOLDER``.

This is not a test but a program that ``test_rocks_crashes`` starts. It forks, which is ten times as fast as starting
Python; RocksDB has threads, so it is never opened in the process that forks.
"""

from __future__ import annotations

import os
import shutil
import sys
import traceback
from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path

from support.core.rocks_stories import Actions, check, die, open_store, stories, trap

_OPENED_AGAIN_EVERY = 8


def forked(work: Callable[[], None]) -> bool:
    """Run a function in a separate process; return True if that was killed.

    Raises:
        AssertionError: it failed.
    """
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException:  # noqa: BLE001 - told to the process that forked
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0, "see above"
    return os.WIFSIGNALED(status)


def tell(story: Actions, folder: Path, at: int) -> None:
    """Run a story until the step of that number."""
    done = os.open(folder.with_suffix(".done"), os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
    with trap(at, die):
        store = open_store(folder)
        for act in story.acts:
            act(store)
            os.write(done, b".")


def crash_everywhere(story: Actions, folder: Path) -> tuple[int, set[int]]:
    """Kill it before each of its steps, and now and then also in each step of reopening the store."""
    found = set[int]()
    for at in count(1):
        path = folder / str(at)
        was_killed = forked(partial(tell, story, path, at))
        acts_done = path.with_suffix(".done").stat().st_size
        if was_killed and at % _OPENED_AGAIN_EVERY == 0:
            crash_again(story, path, acts_done)
        forked(partial(look, story, path, acts_done))
        found.add(int(path.with_suffix(".found").read_text()))
        shutil.rmtree(path)
        if not was_killed:
            return at - 1, found
    raise AssertionError


def crash_again(story: Actions, left: Path, acts_done: int) -> None:
    """Kill it in each step of opening the store that a crash has left."""
    copy = left.with_name("again")
    for at in count(1):
        shutil.copytree(left, copy)
        was_killed = forked(partial(open_again, copy, at))
        forked(partial(look, story, copy, acts_done))
        shutil.rmtree(copy)
        if not was_killed:
            return


def look(story: Actions, left: Path, acts_done: int) -> None:
    """Check the store, and report its version to the process that forked."""
    left.with_suffix(".found").write_text(str(check(story, left, acts_done)))


def open_again(folder: Path, at: int) -> None:
    """Kill the process at the step of that number of opening the store."""
    with trap(at, die):
        open_store(folder)


if __name__ == "__main__":
    steps, found = crash_everywhere(stories()[sys.argv[1]], Path(sys.argv[2]))
    print(steps, *sorted(found))
