"""Records as objects."""

import msgspec

from kafka_replica.directories import Directory, UniqueIndex
from kafka_replica.testing import FakeTopic


class Code(msgspec.Struct):
    """An object."""

    name: str


topic = FakeTopic("codes")
topic.put("a", b'{"name": "A"}')
with topic.replica() as replica:
    codes = Directory(replica, Code, indexes={"name": UniqueIndex("name")})
    codes.wait_ready(timeout_s=60)
    assert codes.index("name")["A"].name == codes["a"].name == "A"
