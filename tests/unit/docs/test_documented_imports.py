"""Programs in the documentation import only public names, which the API reference describes."""

from __future__ import annotations

import ast
import textwrap

import pytest

from support.doc_blocks import Block, all_blocks, pages
from support.docs.public_names import public_names

_PROGRAMS = [block for page in pages() for block in all_blocks(page) if block.language == "python"]


@pytest.mark.parametrize("block", _PROGRAMS, ids=lambda block: f"{block.page}:{block.line}")
def test_imports_are_public(block: Block) -> None:
    """Each name of ours that a program imports is exported by that package, or is a public package."""
    public = public_names()
    for node in ast.walk(ast.parse(textwrap.dedent(block.text))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("kafka_replica"):
            for name in node.names:
                module = node.module or ""
                is_listed = name.name in public.get(module, ()) or f"{module}.{name.name}" in public
                assert is_listed, f"{block}: {module} exports no {name.name}"
