"""The service as an ASGI app."""

from kafka_replica.server import create_app
from kafka_replica.testing import FakeTopic

with FakeTopic("codes").replica() as replica:
    replica.wait_ready(timeout_s=60)
    assert create_app(replica).routes
