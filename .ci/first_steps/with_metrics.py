"""Metrics of a replica."""

import prometheus_client

from kafka_replica.metrics import export_replica
from kafka_replica.testing import FakeTopic

with FakeTopic("codes").replica() as replica:
    replica.wait_ready(timeout_s=60)
    export_replica(replica)
    assert b"kafka_replica_lag_records" in prometheus_client.generate_latest()
