"""The tests in docs/testing.md run as they are written there."""

from __future__ import annotations

import inspect
from collections.abc import Callable

import pytest

from support.doc_blocks import programs

_TESTS: dict[str, Callable[[], None]] = {}


def _take_tests() -> None:
    for code in programs("docs/testing.md"):
        names: dict[str, Callable[[], None]] = {}
        exec(compile(code, "docs/testing.md", "exec", dont_inherit=True), names)  # each block is independent
        _TESTS.update((name, test) for name, test in names.items() if name.startswith("test_"))


_take_tests()
_UNIT_TESTS = sorted(name for name, test in _TESTS.items() if not inspect.signature(test).parameters)


@pytest.mark.parametrize("name", _UNIT_TESTS)
def test_tests_on_the_page_pass_when_copied(name: str) -> None:
    """The tests on the page pass when they are copied."""
    _TESTS[name]()


@pytest.mark.broker
@pytest.mark.runs("docs/testing.md")
def test_the_test_with_fixtures_on_the_page_passes(local_kafka: object, kafka_topic: object) -> None:
    """The test on the page that uses the fixtures passes."""
    assert set(_TESTS) - set(_UNIT_TESTS) == {"test_on_kafka"}
    _TESTS["test_on_kafka"](local_kafka=local_kafka, kafka_topic=kafka_topic)  # type: ignore[call-arg]
