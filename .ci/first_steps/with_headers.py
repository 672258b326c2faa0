"""A header stack."""

from kafka_replica.headers import Stack
from kafka_replica.headers.pieces import Compression, HmacKey, Signing, TraceContext
from kafka_replica.testing import FakeTopic

stack = Stack([Compression("zstd"), Signing(HmacKey("mine", b"k" * 32)), TraceContext()])
topic = FakeTopic("codes")
with topic.producer(header_stack=stack).transaction() as transaction:
    transaction.put("a", b"1" * 1000)
with topic.replica(header_stack=stack) as replica:
    assert replica.wait_ready(timeout_s=60)["a"].value == b"1" * 1000
