"""Translate Java's client properties, as used with registries, to librdkafka's: names, key and trust stores, JAAS."""

from kafka_replica.broker.connection.java.properties import from_java

__all__ = ["from_java"]
