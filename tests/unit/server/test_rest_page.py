"""The page about SDMX REST: its reference follows from the grammar, and its example runs."""

from __future__ import annotations

import re
from typing import Any

import pytest

from kafka_replica.server.rest import RestAnswer
from kafka_replica.server.rest.grammar import RESOURCES
from kafka_replica.server.rest.reference_page import with_reference
from support.doc_blocks import programs
from support.paths import ROOT

PAGE = (ROOT / "docs/sdmx-rest.md").read_text()


def test_the_reference_is_up_to_date() -> None:
    """The page has the reference of: ``python -m kafka_replica.server.rest.reference_page docs/sdmx-rest.md``."""
    assert with_reference(PAGE) == PAGE
    assert all(f"| `{name}` |" in PAGE for name in RESOURCES)


@pytest.mark.runs("docs/sdmx-rest.md")
def test_the_example_runs() -> None:
    """The comments of the examples state the values; the second example uses the names of the first."""
    example, of_schema = programs("docs/sdmx-rest.md")
    names: dict[str, Any] = {}
    exec(example, names)
    exec(of_schema, names)
    [(expression, value)] = re.findall(r"^(b\".*)  # (.*)$", of_schema, re.MULTILINE)
    assert str(eval(expression, names)) == value
    found = names["found"]
    assert isinstance(found, RestAnswer)
    for expression, value in re.findall(r"^(found\.status|dict\(.*\))  # (.*)$", example, re.MULTILINE):
        assert str(eval(expression, names)) == value
    assert b"CL_FREQ" in found.body
