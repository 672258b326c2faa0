"""The examples of docs/sdmx.md print what the page shows."""

from __future__ import annotations

import doctest
import shutil
from pathlib import Path

import pytest

from kafka_replica.sdmx.samples import sample_files
from support.doc_blocks import programs
from support.paths import SDMX_DATA

MORE = SDMX_DATA / "queries.sdmx-json.json"


@pytest.mark.runs("docs/sdmx.md", language="pycon")
def test_the_sessions_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All sessions of the page, run in order in a folder with its structures, print what the page shows."""
    folder = tmp_path / "structures"
    folder.mkdir()
    for file in [*sample_files(), MORE]:
        shutil.copy(file, folder)
    monkeypatch.chdir(tmp_path)
    sessions = programs("docs/sdmx.md", language="pycon")
    assert len(sessions) == 4
    test = doctest.DocTestParser().get_doctest("\n".join(sessions), {}, "docs/sdmx.md", None, 0)
    printed: list[str] = []
    result = doctest.DocTestRunner().run(test, out=printed.append)
    assert (result.failed, result.attempted > 15) == (0, True), "".join(printed)
