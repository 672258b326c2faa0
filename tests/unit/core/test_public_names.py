"""Each public package exports exactly the names listed here: a name is added or removed on purpose."""

from __future__ import annotations

from importlib import import_module

import pytest

from kafka_replica import errors
from support.docs.public_names import public_names


@pytest.mark.parametrize(("package", "names"), public_names().items(), ids=list(public_names()))
def test_a_package_exports_the_intended_names(package: str, names: list[str]) -> None:
    """``__all__`` is what the list says, and each name can be imported."""
    module = import_module(package)
    assert sorted(module.__all__) == names
    for name in names:
        assert getattr(module, name) is not None


def test_the_top_exports_few_names() -> None:
    """The core's public names fit on one screen."""
    assert len(public_names()["kafka_replica"]) <= 32


def test_errors_are_exported_where_they_are_raised() -> None:
    """An error of a package is exported by that package, and is one of KafkaReplicaError."""
    for package in ("headers", "directories", "history", "sdmx", "data", "producer", "embedded", "topics"):
        module = import_module(f"kafka_replica.{package}.errors")
        for name in module.__all__:
            assert name in public_names()[f"kafka_replica.{package}"]
            assert issubclass(getattr(module, name), errors.KafkaReplicaError)
