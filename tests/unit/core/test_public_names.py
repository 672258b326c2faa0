"""Each public package exports exactly the names listed here: a name is added or removed on purpose."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from kafka_replica import errors

_LIST = Path(__file__).with_name("public_names.txt")


def intended() -> dict[str, list[str]]:
    """Return the names of each package: a line for the package, then one for each name, indented."""
    found: dict[str, list[str]] = {}
    for line in _LIST.read_text().splitlines():
        if line.startswith(" "):
            found[list(found)[-1]].append(line.strip())
        else:
            found[line] = []
    return found


@pytest.mark.parametrize(("package", "names"), intended().items(), ids=list(intended()))
def test_a_package_exports_the_intended_names(package: str, names: list[str]) -> None:
    """``__all__`` is what the list says, and each name can be imported."""
    module = import_module(package)
    assert sorted(module.__all__) == names
    for name in names:
        assert getattr(module, name) is not None


def test_the_top_exports_few_names() -> None:
    """The core's public names fit on one screen."""
    assert len(intended()["kafka_replica"]) <= 32


def test_errors_are_exported_where_they_are_raised() -> None:
    """An error of a package is exported by that package, and is one of KafkaReplicaError."""
    for package in ("headers", "directories", "history", "sdmx", "data", "producer", "embedded", "topics"):
        module = import_module(f"kafka_replica.{package}.errors")
        for name in module.__all__:
            assert name in intended()[f"kafka_replica.{package}"]
            assert issubclass(getattr(module, name), errors.KafkaReplicaError)
