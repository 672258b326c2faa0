"""The programs in docs/migrating.md run as they are written there."""

from __future__ import annotations

from typing import Any

import pytest

from support.doc_blocks import programs


@pytest.mark.runs("docs/migrating.md")
@pytest.mark.parametrize("number", [0, 1, 2])
def test_each_program_of_the_page_passes(number: int) -> None:
    """Each program is a test that passes when it is copied."""
    names: dict[str, Any] = {}
    exec(programs("docs/migrating.md")[number], names)
    (test,) = (value for name, value in names.items() if name.startswith("test_"))
    test()
