"""The store on disk, and the history."""

import tempfile

from kafka_replica import RocksStore
from kafka_replica.history import VersionHistory
from kafka_replica.testing import FakeTopic

topic = FakeTopic("codes")
topic.put("a", b"1")
with (
    tempfile.TemporaryDirectory() as folder,
    VersionHistory(f"{folder}/history") as history,
    topic.replica(RocksStore(f"{folder}/store")) as replica,
):
    history.follow(replica)
    assert replica.wait_ready(timeout_s=60)["a"].value == history.at(version=1)["a"].value == b"1"
