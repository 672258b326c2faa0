"""The state that is stored with the data so that reading can continue after a restart.

A store writes the resume point in the same write as the data that it belongs to, so that the two never disagree. This
module has no I/O.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from kafka_replica.errors import BadRecordError, StoreError
from kafka_replica.records import OpenTransaction, Partition, Position


@dataclass(frozen=True, slots=True)
class ResumePoint:
    """The position of a replica in its topics, and the facts that show whether the topics are still the same."""

    position: Position
    """The position of the version that the data represents."""
    topic_ids: Mapping[str, str] = field(default_factory=dict)
    """The ids of the topics: a topic that is deleted and created again keeps its name and gets another id."""
    leader_epochs: Mapping[Partition, int] = field(default_factory=dict)
    """The leader epoch of the last batch read from each partition; shows whether the log was truncated (KIP-320)."""
    caught_up_ms: int = 0
    """A time at which all records of the topics lay below the position; milliseconds since 1970-01-01 UTC. Tombstones
    above the position were written later, and Kafka keeps them for at least ``delete.retention.ms`` from then on."""
    selection: str = ""
    """The keys that are kept, and how they are named; if the selection differs, the data must be rebuilt."""
    incarnation: str = ""
    """The incarnation, which distinguishes versions of this data from other versions with the same number."""
    bad_records: tuple[BadRecordError, ...] = ()
    """The records that are set aside."""
    has_keys_in_several_partitions: bool = False
    """True if keys have records in several partitions; only a reader of the log knows which record replaces a deleted
    one."""
    tombstones_kept_s: Mapping[str, float] = field(default_factory=dict)
    """The shortest ``delete.retention.ms`` that each topic is known to have had since ``caught_up_ms``, in seconds."""
    lowest_offsets: Mapping[Partition, int] = field(default_factory=dict)
    """Offsets below which no record of the data lies."""
    has_key_spaces: bool = False
    """True if each topic has its own key space, so that the keys of the data begin with the topic."""

    def with_position(
        self, position: Position, caught_up_ms: int, tombstones_kept_s: Mapping[str, float] | None = None
    ) -> ResumePoint:
        """Return the resume point of the same data at a later position, up to which nothing has changed."""
        kept_s = self.tombstones_kept_s if tombstones_kept_s is None else tombstones_kept_s
        return replace(self, position=position, caught_up_ms=caught_up_ms, tombstones_kept_s=kept_s)

    def encode(self) -> bytes:
        """Return the resume point as JSON in UTF-8."""
        plain = {
            "position": [[*partition, offset] for partition, offset in self.position.items()],
            "open": [_open_json(open_) for open_ in self.position.open],
            "topic_ids": dict(self.topic_ids),
            "leader_epochs": [[*partition, epoch] for partition, epoch in self.leader_epochs.items()],
            "caught_up_ms": self.caught_up_ms,
            "tombstones_kept_s": dict(self.tombstones_kept_s),
            "lowest_offsets": [[*partition, offset] for partition, offset in self.lowest_offsets.items()],
            "selection": self.selection,
            "has_key_spaces": self.has_key_spaces,
            "incarnation": self.incarnation,
            "has_keys_in_several_partitions": self.has_keys_in_several_partitions,
            "bad_records": [_bad_json(bad) for bad in self.bad_records],
        }
        return _encoded(plain)

    @staticmethod
    def decode(data: bytes) -> ResumePoint:
        """Return the resume point that ``encode`` has written.

        Raises:
            StoreError: the data is not an encoded resume point.
        """
        with _decoding():
            plain = json.loads(data)
            offsets = _by_partition(plain["position"])
            return ResumePoint(
                position=Position(offsets, map(_open_transaction, plain["open"])),
                topic_ids=plain["topic_ids"],
                leader_epochs=_by_partition(plain["leader_epochs"]),
                caught_up_ms=plain["caught_up_ms"],
                tombstones_kept_s=plain.get("tombstones_kept_s", {}),
                lowest_offsets=_by_partition(plain.get("lowest_offsets", [])),
                selection=plain["selection"],
                has_key_spaces=plain.get("has_key_spaces", False),
                incarnation=plain["incarnation"],
                has_keys_in_several_partitions=plain["has_keys_in_several_partitions"],
                bad_records=tuple(map(_bad_record, plain["bad_records"])),
            )


def encode_bad_records(bad_records: Sequence[BadRecordError]) -> bytes:
    """Return bad records as JSON in UTF-8, for a store that writes them separately, whenever they have changed."""
    return _encoded([_bad_json(bad) for bad in bad_records])


def decode_bad_records(data: bytes) -> tuple[BadRecordError, ...]:
    """Return the bad records that ``encode_bad_records`` has written.

    Raises:
        StoreError: the data is not an encoded list of bad records.
    """
    with _decoding():
        return tuple(map(_bad_record, json.loads(data)))


def _encoded(plain: object) -> bytes:
    return json.dumps(plain, separators=(",", ":")).encode()


@contextmanager
def _decoding() -> Iterator[None]:
    try:
        yield
    except (ValueError, KeyError, TypeError) as error:
        raise StoreError(
            f"reading a replica's resume point: {error!r}; it is damaged, or was written by another program"
        ) from error


def _by_partition(plain: list[tuple[str, int, int]]) -> dict[Partition, int]:
    return {Partition(topic, number): value for topic, number, value in plain}


def _open_json(open_: OpenTransaction) -> list[Any]:
    # One span, from the first to the last record: other records in between count as open, too, until read again.
    return [*open_.partition, open_.producer_id, open_.producer_epoch, open_.first_offset, open_.end]


def _bad_json(bad: BadRecordError) -> list[Any]:
    key = None if bad.key is None else b64encode(bad.key).decode()
    return [bad.topic, bad.partition, bad.offset, bad.reason, bad.advice, key, bad.timestamp_ms]


def _bad_record(plain: list[Any]) -> BadRecordError:
    topic, partition, offset, reason, advice, key, *timestamp_ms = plain  # earlier versions wrote no timestamp
    key = None if key is None else b64decode(key)
    return BadRecordError(topic, partition, offset, reason, advice, key, *timestamp_ms)


def _open_transaction(plain: list[Any]) -> OpenTransaction:
    topic, number, producer_id, epoch, first, end = plain
    return OpenTransaction(Partition(topic, number), producer_id, epoch, first, [(first, end)], 1)
