"""Fakes and fixtures for tests: topics in memory, and a real broker for pytest.

``FakeTopic`` and ``FakeKafka`` are topics in memory, for unit tests without a broker; see docs/testing.md.

Installing kafka_replica adds two fixtures to pytest (kafka_replica.testing.pytest_plugin), which need no import:
``local_kafka``, a real broker for the session, and ``kafka_topic``, which creates new topics on it. Read
``fake_kafka`` first.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kafka_replica.testing.fake_kafka import FakeKafka, FakeTopic
    from kafka_replica.testing.fake_producer import FakeProducer
    from kafka_replica.testing.fake_transaction import FakeTransaction

__all__ = ["FakeKafka", "FakeProducer", "FakeTopic", "FakeTransaction"]

_MODULES = {
    "FakeKafka": "fake_kafka",
    "FakeProducer": "fake_producer",
    "FakeTopic": "fake_kafka",
    "FakeTransaction": "fake_transaction",
}


def __getattr__(name: str) -> Any:
    """Import the fakes, and with them Kafka's client, on first use, because every pytest run imports this package."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = found
    return found
