"""The offset at which a start looks for the progress record: computed, not reported, and never after it."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_replica.embedded import LocalKafka
from kafka_replica.producer import Put, StructureProducer
from kafka_replica.producer.outbox.queue import Queue
from kafka_replica.testing.pytest_plugin import TopicMaker
from support.producer.producer_tools import log_of, settings_of
from support.waiting import wait_until

NO_COMPACTION = {"cleanup.policy": "compact", "min.compaction.lag.ms": "600000"}


@pytest.mark.long
def test_the_search_offset_is_never_after_the_record(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path
) -> None:
    """The offset is exact for a single producer, also after a second start; records of others make it earlier."""
    bootstrap, progress = local_kafka.bootstrap_servers, kafka_topic("progress", config=NO_COMPACTION)
    names = ("first", "second")
    producers = {
        name: StructureProducer(
            settings_of(
                bootstrap, kafka_topic(), f"sqlite:///{tmp_path}/{name}.db", id=name, progress_topic=progress,
                prefix=progress,
            )
        )
        for name in names
    }  # fmt: skip

    def publish(name: str, count: int) -> tuple[int, int]:
        """Send some transactions; return where the database places its record, and where it is."""
        producer = producers[name]
        with producer.engine.begin() as connection:
            for _ in range(count):
                last = producer.record(connection, [Put("a", b"%d" % producer.status().recorded, str(_))])
        wait_until(lambda: producer.status().sent >= last[0], "they are sent")
        stored_offset = Queue(producer.engine, name).view().intent.progress_offset
        assert stored_offset is not None
        mine = [each.offset for each, _ in log_of(bootstrap, progress) if each.key.startswith(name.encode())]
        return stored_offset, mine[-1]

    with producers["first"]:
        stored_offset, is_at = publish("first", 3)
        assert stored_offset == is_at == 4
    with producers["first"], producers["second"]:
        stored_offset, is_at = publish("first", 2)
        assert stored_offset == is_at == 8
        stored_offset, is_at = publish("second", 2)
        assert stored_offset <= is_at
        stored_offset, is_at = publish("first", 2)
        assert 8 < stored_offset < is_at
    for producer in producers.values():
        assert producer.status().sent == producer.status().recorded
        producer.close()
