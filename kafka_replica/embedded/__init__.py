"""A real Apache Kafka broker, downloaded and started for demos and tests.

::

    from kafka_replica.embedded import LocalKafka

    with LocalKafka() as kafka:
        kafka.create_topic("structures", config={"cleanup.policy": "compact"})
        print(kafka.bootstrap_servers)

This package needs the extra ``embedded``; docs/embedded-broker.md explains how it works and where it keeps its files.
It may import ``common`` and ``errors``. Read ``local`` first.
"""

from __future__ import annotations

from kafka_replica.embedded.cache import cache_dir
from kafka_replica.embedded.errors import EmbeddedKafkaError
from kafka_replica.embedded.existing import ExistingKafka, kafka_for
from kafka_replica.embedded.install import Installation, ensure_kafka
from kafka_replica.embedded.java import Java, find_java, spark_java_home
from kafka_replica.embedded.local import LocalKafka
from kafka_replica.embedded.lockfile import KAFKA_VERSION

__all__ = [
    "KAFKA_VERSION",
    "EmbeddedKafkaError",
    "ExistingKafka",
    "Installation",
    "Java",
    "LocalKafka",
    "cache_dir",
    "ensure_kafka",
    "find_java",
    "kafka_for",
    "spark_java_home",
]
