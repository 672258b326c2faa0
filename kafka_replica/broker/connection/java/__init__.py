"""Java's client properties, as registries have them, said in librdkafka's: names, key and trust stores, JAAS."""

from kafka_replica.broker.connection.java.properties import from_java

__all__ = ["from_java"]
