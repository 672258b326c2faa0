"""The code blocks of README, CONTRIBUTING and docs/, and the tests that run them.

A test that runs blocks is marked with them, in literals: ``@pytest.mark.runs("docs/history.md")`` for all of a page,
``runs("docs/server.md", language="toml")`` or ``runs("docs/server.md", containing="openssl")`` for some of them. It
takes what it runs from ``Block.program``, and fails if it has left one of them out (tests/conftest.py).
``tests/unit/docs/test_doc_blocks.py`` fails for a block that no test is marked with, unless ``NOT_RUN`` has a reason.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt

from support.paths import ROOT, TESTS

_executed: set[Block] = set()


@dataclass(frozen=True)
class Block:
    """A fenced or indented block of a page; an indented one, and one without a label, has no language."""

    page: str
    line: int
    language: str
    text: str

    def program(self, replacements: Mapping[str, str] | None = None) -> str:
        """Return the text for a test to run, with its own broker, topics and folders; note that it is run."""
        _executed.add(self)
        text = self.text
        for old, new in (replacements or {}).items():
            text = text.replace(old, new)
        return text

    def __str__(self) -> str:
        """Return the place and the first line."""
        return f"{self.page}:{self.line} ({self.language or 'no language'}): {self.text.strip().splitlines()[0]}"


def pages() -> list[str]:
    """Return the pages, which are all Markdown that users read."""
    files = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
    return sorted(str(path.relative_to(ROOT)) for path in files if path.name != "CHANGELOG.md")


@cache
def all_blocks(page: str) -> tuple[Block, ...]:
    """Return the blocks of a page; pictures, lists of pages and inclusions are none."""
    tokens = MarkdownIt().parse((ROOT / page).read_text(encoding="utf-8"))
    found = [token for token in tokens if token.type in {"fence", "code_block"}]
    return tuple(
        Block(page, (token.map or [0])[0] + 1, token.info.strip(), token.content)
        for token in found
        if not token.info.startswith(("{", "mermaid"))
    )


def blocks(
    page: str, *, language: str | None = None, containing: str = "", without: str | None = None
) -> tuple[Block, ...]:
    """Return the blocks of a page, or those of a language, that contain a text, that do not contain another one.

    Raises:
        LookupError: there is no such block.
    """
    found = tuple(
        block
        for block in all_blocks(page)
        if language in {None, block.language}
        and containing in block.text
        and (without is None or without not in block.text)
    )
    if not found:
        raise LookupError(f"{page} has no block of language {language} that contains {containing!r}")
    return found


def not_executed(selections: Iterable[tuple[tuple[str, ...], Mapping[str, Any]]]) -> list[Block]:
    """Return the blocks of these marks that no test of this process has run."""
    return [block for names, options in selections for block in blocks(*names, **options) if block not in _executed]


def marks() -> Iterator[tuple[Path, Block]]:
    """Yield the blocks that tests are marked with, with the file of the test, without importing it."""
    for file in sorted(TESTS.rglob("test_*.py")):
        text = file.read_text(encoding="utf-8")
        if "mark.runs(" not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "runs":
                names = [ast.literal_eval(each) for each in node.args]
                options = {str(each.arg): ast.literal_eval(each.value) for each in node.keywords}
                yield from ((file, block) for block in blocks(*names, **options))


def programs(page: str, **selection: Any) -> list[str]:
    """Return the texts of blocks for a test to run, in the order of the page; note that they are run."""
    return [block.program() for block in blocks(page, **selection)]
