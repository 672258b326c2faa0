"""The connection test, which tries everything that a replica and its producer need from a Kafka cluster and a topic.

This package may import ``broker``. Read ``examination`` first.
"""

from kafka_replica.doctor.examination import examine
from kafka_replica.doctor.findings import Finding, Severity

__all__ = ["Finding", "Severity", "examine"]
