"""Split a fetch into the log's record batches; their records are parsed once they are needed.

Source: Kafka's documentation, "Message Format": record batches of magic 2, control batches.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

from aiokafka.record.default_records import DefaultRecordBatch

from kafka_replica.broker.reading.record_parsing import parse_records
from kafka_replica.broker.reading.spill_buffer import SpillBuffer, SpillHandle
from kafka_replica.errors import BrokerError
from kafka_replica.records import Partition, Stored
from kafka_replica.transactions import Batch, Kind

# base offset, length, leader epoch, magic, crc, attributes, last offset delta, first and last timestamp,
# producer id, producer epoch, first sequence number, count of records
_HEAD = struct.Struct(">qiibIhiqqqhii")
_TRANSACTIONAL, _CONTROL = 16, 32
_CODEC = 7
_KINDS = {b"\0\1": Kind.COMMIT, b"\0\0": Kind.ABORT}  # by the type in the key of a control record
# A control record as brokers write it: a length, no attributes, no deltas, and a key of four bytes. Parsing it like any
# other record takes four times as long.
_MARKER_LENGTH, _MARKER, _MARKER_START, _MARKER_TYPE = 61, slice(62, 66), b"\0\0\0\x08", slice(68, 70)


class RawContent:
    """The records of a batch as the broker sent it, possibly compressed."""

    __slots__ = ("_data", "_from", "_partition", "_spill_buffer")

    def __init__(self, data: memoryview, partition: Partition, from_offset: int, spill_buffer: SpillBuffer) -> None:
        self._data: memoryview | SpillHandle = data
        self._partition = partition
        self._from = from_offset  # records below it do not count; 0: all records count
        self._spill_buffer = spill_buffer

    def records(self) -> Sequence[Stored]:
        """Parse the records; see ``Content.records``."""
        data = self._data if isinstance(self._data, memoryview) else self._spill_buffer.get(self._data)
        return parse_records(data, self._partition, self._from, check_crc=self._spill_buffer.check_crcs)

    def hold(self) -> None:
        """Copy the batch, so that the rest of its fetch can be freed."""
        if isinstance(self._data, memoryview):
            self._data = self._spill_buffer.put(self._data)


class ScannedBatches:
    """The batches of a partition in one fetch response."""

    __slots__ = ("batches", "epoch", "gap", "position")

    def __init__(self, position: int, epoch: int) -> None:
        self.batches: list[Batch] = []
        self.position = position
        self.epoch = epoch
        self.gap = False


def scan_batches(
    data: memoryview, partition: Partition, position: int, epoch: int, spill_buffer: SpillBuffer
) -> ScannedBatches:
    """Parse the part of a fetch response that belongs to a partition, from ``position`` on.

    Raises:
        BrokerError: a batch has a format older than Kafka 0.11.
    """
    scanned = ScannedBatches(position, epoch)
    at, size = 0, len(data)
    unpack = _HEAD.unpack_from
    while size - at >= _HEAD.size:
        base, length, leader_epoch, magic, _, attributes, last, _, _, producer, producer_epoch, _, count = unpack(
            data, at
        )
        whole = 12 + length
        if whole > size - at:
            break  # truncated by the size limit of the fetch
        if magic != 2:
            raise BrokerError(
                f"the log of {partition} has batches from before Kafka 0.11 at offset {base}; read this topic with "
                'boundaries="quiescence"'
            )
        end = base + last + 1
        if end > scanned.position:
            first = max(base, scanned.position)
            if base > scanned.position or count <= last:
                scanned.gap = True
            piece = data[at : at + whole]
            # The log cleaner keeps the header of an emptied batch, without the marker that it contained.
            kind = _kind(attributes, piece) if count else None
            if kind is not None:
                content = RawContent(piece, partition, scanned.position if base < scanned.position else 0, spill_buffer)
                scanned.batches.append(Batch(partition, kind, first, end, count, producer, producer_epoch, content))
            scanned.position = end
            scanned.epoch = leader_epoch
        at += whole
    return scanned


def _kind(attributes: int, piece: memoryview) -> Kind | None:
    if not attributes & _CONTROL:
        return Kind.DATA if attributes & _TRANSACTIONAL else Kind.PLAIN
    if piece[_MARKER] == _MARKER_START and piece[_MARKER_LENGTH] < 0x80 and not attributes & _CODEC:
        return _KINDS.get(bytes(piece[_MARKER_TYPE]))
    marker = next(iter(DefaultRecordBatch(piece)), None)
    return None if marker is None or marker.key is None else _KINDS.get(bytes(marker.key[2:4]))
