"""Transactions in the log that Kafka does not end in some partitions, as with a broker that loses markers.

The broker must not verify with its coordinator that a partition belongs to a transaction
(``transaction.partition.verification.enable=false``): then records can be written to partitions that the coordinator
does not know, and for which it writes no markers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from typing import NamedTuple

from aiokafka import AIOKafkaProducer, TopicPartition

from kafka_replica import Partition

UNVERIFIED = {"transaction.partition.verification.enable": "false"}


class Written(NamedTuple):
    """A record, and its partition."""

    place: Partition
    key: bytes
    value: bytes | None
    headers: Sequence[tuple[str, bytes]] = ()


def leave_open(
    bootstrap: str, transactional_id: str, records: Sequence[Written], decided: Collection[Partition], *, commit: bool
) -> None:
    """Write one transaction, and end it in some partitions only.

    Args:
        bootstrap: the broker.
        transactional_id: of the transaction.
        records: all of its records.
        decided: the partitions that get a marker.
        commit: True for commit markers, False for abort markers.
    """
    asyncio.run(_leave_open(bootstrap, transactional_id, records, decided, commit=commit))


async def _leave_open(
    bootstrap: str, transactional_id: str, records: Sequence[Written], decided: Collection[Partition], *, commit: bool
) -> None:
    producer = AIOKafkaProducer(bootstrap_servers=bootstrap, transactional_id=transactional_id)
    await producer.start()
    await producer.begin_transaction()
    manager = producer._txn_manager
    for record in records:
        place = TopicPartition(*record.place)
        if record.place not in decided:
            manager._txn_partitions.add(place)  # as if the coordinator knew the partition
        sent = await producer.send(
            place.topic, record.value, record.key, place.partition, headers=list(record.headers) or None
        )
        await sent
    if decided:
        await (producer.commit_transaction() if commit else producer.abort_transaction())
    await producer.client.close()
    producer._closed = True
