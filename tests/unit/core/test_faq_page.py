"""The programs in docs/faq.md run as they are written there."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path

import pytest

from support.doc_blocks import programs


def _tests() -> dict[str, Callable[..., None]]:
    found: dict[str, Callable[..., None]] = {}
    for code in programs("docs/faq.md"):
        names: dict[str, Callable[..., None]] = {}
        exec(compile(code, "docs/faq.md", "exec", dont_inherit=True), names)  # each block is independent
        found |= {name: test for name, test in names.items() if name.startswith("test_")}
    return found


_TESTS = _tests()
_ON_KAFKA = {name for name, test in _TESTS.items() if "local_kafka" in inspect.signature(test).parameters}


@pytest.mark.runs("docs/faq.md")
@pytest.mark.parametrize("name", sorted(_TESTS.keys() - _ON_KAFKA))
def test_each_program_of_the_page_passes(name: str, tmp_path: Path) -> None:
    """Each answer's program passes when it is copied."""
    test = _TESTS[name]
    test(**({"tmp_path": tmp_path} if inspect.signature(test).parameters else {}))


def test_most_answers_are_programs() -> None:
    """The page has a program for each answer about the behaviour of a replica."""
    assert len(_TESTS) >= 10


@pytest.mark.long
@pytest.mark.broker
@pytest.mark.parametrize("name", sorted(_ON_KAFKA))
def test_each_program_that_needs_kafka_passes(name: str, local_kafka: object, kafka_topic: object) -> None:
    """Answers about Kafka itself are shown on a real broker."""
    _TESTS[name](local_kafka=local_kafka, kafka_topic=kafka_topic)
