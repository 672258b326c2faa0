"""Every code block of the documentation is run by a test, or is of a kind that no test can run."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from typing import Final

import pytest

from support.doc_blocks import Block, all_blocks, blocks, marks, pages
from support.paths import ROOT

HOST: Final = "it changes a machine or a cluster of the user's"
INSTALLATION: Final = "it installs the package; make package does that, and the names of extras are checked below"
TARGETS: Final = "it takes minutes, or is a target of make that others run; its names are checked below"
OUTPUT: Final = "it is an output that differs from run to run"
NOT_RUN: Final = (
    ("docs/chaos.md", "make chaos ", TARGETS),
    ("docs/chaos.md", "chaos.broker_restarts", TARGETS),
    ("docs/commands.md", '{"key",', OUTPUT),
    ("docs/commands.md", '"initial"', OUTPUT),
    ("docs/deployment.md", "systemctl", HOST),
    ("docs/deployment.md", "helm install", HOST),
    ("docs/doctor.md", "FAULT", OUTPUT),
    ("docs/findings.md", "s left", OUTPUT),
    ("docs/metrics.md", "is live after", OUTPUT),
    ("docs/metrics.md", '{"time"', OUTPUT),
    ("docs/security.md", "apt-get", HOST),
    ("docs/server.md", "event: change", OUTPUT),
    ("docs/speed.md", "make bench", TARGETS),
    ("docs/sdmx.md", "make fuzz", TARGETS),
    ("docs/producer.md", "make long", TARGETS),
    ("docs/topics.md", "kafka-topics.sh", HOST),
    ("CONTRIBUTING.md", "make env", TARGETS),
    ("README.md", "make demo", TARGETS),
    ("README.md", "pip install", INSTALLATION),
    ("docs/embedded-broker.md", "pip install", INSTALLATION),
    ("docs/guide-validation-service.md", "pip install", INSTALLATION),
    ("docs/index.md", "pip install", INSTALLATION),
    ("docs/installation.md", "pip install", INSTALLATION),
    ("docs/postgres-source.md", "pip install", INSTALLATION),
    ("docs/producer.md", "pip install", INSTALLATION),
    ("docs/spark-tutorial.md", "pip install", INSTALLATION),
    ("docs/tutorial.md", "pip install", INSTALLATION),
)
"""Pages, texts that blocks contain, and why no test runs these blocks."""


@pytest.mark.thorough
def test_each_block_is_run_or_has_a_reason() -> None:
    """Mark the test that runs a new block with ``@pytest.mark.runs(page, ...)``; see support/doc_blocks.py."""
    run = {block for _, block in marks()}
    excused = [block for page, text, _ in NOT_RUN for block in blocks(page, containing=text)]
    everything = [block for page in pages() for block in all_blocks(page)]
    missing = [str(block) for block in everything if block not in run and block not in excused]
    assert not missing, "no test runs\n" + "\n".join(missing)
    assert [str(block) for block in excused if block in run] == [], "these run: take them out of NOT_RUN"
    assert [str(block) for block, times in Counter(excused).items() if times > 1] == []


def _lines() -> list[tuple[Block, str]]:
    return [(block, line) for page in pages() for block in all_blocks(page) for line in block.text.splitlines()]


@pytest.mark.thorough
def test_targets_of_make_exist() -> None:
    """Each target and variable that a page gives to make is one of the Makefile."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    command = re.compile(r"\s*(?:\S+=\S+ )*make ([a-z-]+)\b(.*)")
    called = [(block, words) for block, line in _lines() if (words := command.match(line))]
    assert len(called) > 20
    for block, words in called:
        assert words[1] in targets, str(block)
        for name in re.findall(r"\b([A-Z_]+)=", words[2].partition("#")[0]):
            assert name in makefile or name.startswith("HYPOTHESIS"), (str(block), name)


def test_extras_that_are_installed_exist() -> None:
    """Each extra in a command of pip is declared in pyproject.toml."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = [
        (block, extra.strip())
        for block, line in _lines()
        for several in re.findall(r"pip install.*?(?:kafka-replica|\.)\[([a-z0-9, -]+)\]", line)
        for extra in several.split(",")
    ]
    assert len(named) > 5
    assert [(str(block), extra) for block, extra in named if extra not in project["optional-dependencies"]] == []


@pytest.mark.parametrize("page", ["docs/chaos.md"])
def test_modules_that_are_run_exist(page: str) -> None:
    """Each module that a page gives to ``python -m`` is a file of the project."""
    named = [name for block in all_blocks(page) for name in re.findall(r"python -m ([\w.]+)", block.text)]
    assert named
    for name in named:
        path = "tests/" + name.replace(".", "/")
        assert (ROOT / f"{path}.py").exists() or (ROOT / path / "__main__.py").exists(), name
