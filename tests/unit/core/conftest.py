"""A real Kafka for the programs of a page; it ends with these tests."""

from kafka_replica.testing.pytest_plugin import local_kafka

__all__ = ["local_kafka"]
