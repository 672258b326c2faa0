"""Programs in the documentation import only public names, which the API reference describes."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator

import pytest

from support.doc_blocks import Block, all_blocks, pages
from support.docs.public_names import public_names


@pytest.mark.parametrize("page", pages())
def test_imports_are_public(page: str) -> None:
    """Each name of ours that a program imports is exported by that package, or is a public package."""
    public = public_names()
    programs = [block for block in all_blocks(page) if block.language == "python"]
    others = [
        f"{block}: {module} exports no {name}"
        for block in programs
        for module, name in _imported(block)
        if name not in public.get(module, ()) and f"{module}.{name}" not in public
    ]
    assert others == []


def _imported(block: Block) -> Iterator[tuple[str, str]]:
    """Yield the names of ours that a program imports, each with its module."""
    for node in ast.walk(ast.parse(textwrap.dedent(block.text))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("kafka_replica"):
            yield from ((node.module or "", name.name) for name in node.names)
