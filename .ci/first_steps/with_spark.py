"""Codes as a DataFrame."""

from kafka_replica.sdmx import split_message
from kafka_replica.sdmx.samples import sample_files
from kafka_replica.testing import FakeTopic
from kafka_replica_spark import session, views

topic = FakeTopic("sdmx.structures")
for file in sample_files():
    if str(file).endswith(".xml"):
        for part in split_message(file.read_bytes()):
            topic.put(str(part.urn), part.value)
spark = session("first-steps")
with topic.replica() as replica:
    assert views(spark, replica.wait_ready(timeout_s=60)).codes().count() > 0
spark.stop()
