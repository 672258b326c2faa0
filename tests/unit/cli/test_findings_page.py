"""The commands on the page about findings work as they are, and leave what the page says."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import polars as pl
import pytest

from support.cli.data_runs import Run
from support.doc_blocks import programs
from support.paths import ROOT

pytestmark = pytest.mark.thorough


@pytest.mark.runs("docs/findings.md", language="sh")
def test_each_command_of_the_page_has_the_stated_status(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each command of the page ends with the status that the page gives; two rows are rejected and listed."""
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs/findings.md").read_text()
    blocks = programs("docs/findings.md", language="sh")
    commands = [shlex.split(line) for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    assert {words[0] for words in commands} == {"kafka-replica"}
    done = {tuple(words): run(*words[1:]) for words in commands}
    statuses = {words[1]: value.returncode for words, value in done.items()}
    assert statuses == {"samples": 0, "validate": 3}, done
    assert any("27 rows, 25 good, 2 rejected" in value.stdout for value in done.values())
    assert any("2 rows, 0 good, 2 rejected" in value.stdout for value in done.values())
    lines = Path("samples/labour_data.csv").read_text().splitlines()
    found = pl.read_csv("findings.csv", infer_schema=False)
    assert [iter_row["value"] in lines[int(iter_row["line"]) - 1] for iter_row in found.iter_rows(named=True)] == [
        True,
        True,
    ]
    table = page.partition("The columns are")[2].partition("Findings about")[0]
    columns = re.findall(r"^\| (`.*?`) \|", table, re.MULTILINE)
    assert [name for cell in columns for name in re.findall("`(.*?)`", cell)] == found.columns
    rejected = Path("checked/rejected.csv").read_text().splitlines()
    assert rejected[0] == f"{lines[0]},ERRORS"
