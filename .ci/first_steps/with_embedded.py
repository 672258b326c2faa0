"""A broker of one's own, with the Java that comes with the extra."""

from kafka_replica import Replica
from kafka_replica.embedded import LocalKafka

with LocalKafka() as kafka:
    kafka.create_topic("codes")
    with Replica({"bootstrap.servers": kafka.bootstrap_servers}, "codes") as replica:
        assert len(replica.wait_ready(timeout_s=60)) == 0
