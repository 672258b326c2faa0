"""What tests are written with.

``FakeTopic`` and ``FakeKafka`` are topics in memory, for unit tests without a broker: see docs/testing.md.

Installing kafka_replica gives pytest two fixtures (kafka_replica.testing.pytest_plugin), with nothing to import:
``local_kafka``, a real broker for the session, and ``kafka_topic``, which makes fresh topics on it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kafka_replica.testing.fake_kafka import FakeKafka
    from kafka_replica.testing.fake_producer import FakeProducer
    from kafka_replica.testing.fake_topic import FakeTopic
    from kafka_replica.testing.fake_transaction import FakeTransaction

__all__ = ["FakeKafka", "FakeProducer", "FakeTopic", "FakeTransaction"]

_MODULES = {
    "FakeKafka": "fake_kafka",
    "FakeProducer": "fake_producer",
    "FakeTopic": "fake_topic",
    "FakeTransaction": "fake_transaction",
}


def __getattr__(name: str) -> Any:
    """Loads the fakes, and Kafka's client with them, with their first use: every pytest run imports this package."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = found
    return found
