"""Session fixtures of a folder end with the folder: an idle broker or Spark takes processor time until it ends."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest


class FolderFixtures:
    """Ends a fixture of the scope ``session`` that a conftest.py defines when a process leaves the folder of this file.

    A fixture of the whole session would run until the end of all tests, and most of these need none.
    """

    def __init__(self) -> None:
        self._item: pytest.Item | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Note the test for which fixtures are made."""
        self._item = item

    @pytest.hookimpl(tryfirst=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any], request: Any) -> None:
        """Let a fixture that is made end with its folder."""
        if fixturedef.scope != "session" or self._item is None:
            return
        for node in self._item.iter_parents():
            if isinstance(node, pytest.Dir) and node.nodeid == fixturedef.baseid:
                node.addfinalizer(partial(fixturedef.finish, request=request))
