"""Split a fetch response into the log's record batches; their records are parsed only when they are needed.

Source: Kafka's documentation, "Message Format": record batches of magic 2, control batches.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

from aiokafka.record.default_records import DefaultRecordBatch

from kafka_replica.broker.reading.decompression import DecompressedTogether
from kafka_replica.broker.reading.record_parsing import parse_records
from kafka_replica.broker.reading.spill_buffer import SpillBuffer, SpillHandle
from kafka_replica.errors import BrokerError
from kafka_replica.records import Partition, Stored
from kafka_replica.transactions import Batch, Kind

# base offset, length, leader epoch, magic, crc, attributes, last offset delta, first and last timestamp,
# producer id, producer epoch, first sequence number, count of records
_HEAD = struct.Struct(">qiibIhiqqqhii")
_TRANSACTIONAL, _CONTROL = 16, 32
_DATA, _PLAIN = Kind.DATA, Kind.PLAIN
_CODEC = 7
_KINDS = {b"\0\1": Kind.COMMIT, b"\0\0": Kind.ABORT}  # by the type in the key of a control record
# A control record as brokers write it: its length, no attributes, no deltas, the length of a key of four bytes, and the
# key, which consists of version and type. The general parser takes four times as long.
_MARKER = struct.Struct(">B4s2x2s")
_MARKER_START = b"\0\0\0\x08"


class RawContent:
    """The records of a batch as the broker sent it, possibly compressed."""

    __slots__ = ("_data", "_from", "_partition", "_spill_buffer", "ahead")

    def __init__(self, data: memoryview, partition: Partition, from_offset: int, spill_buffer: SpillBuffer) -> None:
        self._data: memoryview | SpillHandle = data
        self._partition = partition
        self._from = from_offset  # records below this offset are left out; 0 leaves out none
        self._spill_buffer = spill_buffer
        self.ahead: DecompressedTogether | None = None

    def records(self) -> Sequence[Stored]:
        """Parse the records; see ``Content.records``."""
        data = self._data if isinstance(self._data, memoryview) else self._spill_buffer.get(self._data)
        ahead, self.ahead = self.ahead, None
        content = None if ahead is None else ahead.take(data)
        return parse_records(
            data, self._partition, self._from, check_crc=self._spill_buffer.check_crcs, decompressed=content
        )

    def hold(self) -> None:
        """Copy the batch, so that the rest of its fetch can be freed."""
        self.ahead = None
        if isinstance(self._data, memoryview):
            self._data = self._spill_buffer.put(self._data)


class ScannedBatches:
    """The batches of a partition in one fetch response, and the position and leader epoch after them."""

    __slots__ = ("batches", "compressed", "epoch", "gap", "position")

    def __init__(self, position: int, epoch: int) -> None:
        self.batches: list[Batch] = []
        self.compressed: list[tuple[RawContent, memoryview, int]] = []  # with their data, and numbers of records
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
    at, size, head_bytes = 0, len(data), _HEAD.size
    unpack, add = _HEAD.unpack_from, scanned.batches.append
    while size - at >= head_bytes:
        base, length, leader_epoch, magic, _, attributes, last, _, _, producer, producer_epoch, _, count = unpack(
            data, at
        )
        next_at = at + 12 + length
        if next_at > size:
            break  # truncated by the size limit of the fetch
        if magic != 2:
            raise BrokerError(
                f"the log of {partition} has batches from before Kafka 0.11 at offset {base}; read this topic with "
                'boundaries="quiescence"'
            )
        end = base + last + 1
        if end > position:
            first = max(position, base)
            if base > position or count <= last:
                scanned.gap = True
            # The log cleaner keeps the header of an emptied batch, without the marker that it contained.
            if count:
                piece = data[at:next_at]
                content = RawContent(piece, partition, first if base < first else 0, spill_buffer)
                if attributes & _CONTROL:
                    kind = _marker_kind(attributes, piece)
                else:
                    kind = _DATA if attributes & _TRANSACTIONAL else _PLAIN
                    if attributes & _CODEC:
                        scanned.compressed.append((content, piece, count))
                if kind is not None:
                    add(Batch(partition, kind, first, end, count, producer, producer_epoch, content))
            position, scanned.epoch = end, leader_epoch
        at = next_at
    scanned.position = position
    return scanned


def _marker_kind(attributes: int, batch: memoryview) -> Kind | None:
    """Return the kind of a control batch; None if its type is neither COMMIT nor ABORT."""
    if len(batch) >= _HEAD.size + _MARKER.size and not attributes & _CODEC:
        length, start, kind = _MARKER.unpack_from(batch, _HEAD.size)
        if start == _MARKER_START and length < 0x80:
            return _KINDS.get(kind)
    marker = next(iter(DefaultRecordBatch(batch)), None)
    return None if marker is None or marker.key is None else _KINDS.get(bytes(marker.key[2:4]))
