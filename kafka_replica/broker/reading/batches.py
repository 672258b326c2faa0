"""Split a fetch response into the log's record batches; their records are parsed only when they are needed.

Source: Kafka's documentation, "Message Format": record batches of magic 2, control batches.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import NoReturn

from aiokafka.record.default_records import DefaultRecordBatch

from kafka_replica.broker.reading.decompression_ahead import DecompressedTogether
from kafka_replica.broker.reading.record_parsing import parse_records
from kafka_replica.broker.reading.spill_buffer import SpillBuffer, SpillHandle
from kafka_replica.common.compiled import SCANNER, CompiledScanner
from kafka_replica.errors import BrokerError
from kafka_replica.records import Partition, Stored
from kafka_replica.transactions import Batch, Kind

# base offset, length, leader epoch, magic, crc, attributes, last offset delta, first and last timestamp,
# producer id, producer epoch, first sequence number, count of records
_HEAD = struct.Struct(">qiibIhiqqqhii")
_MAGIC, _MAGIC_AT = 2, 16
_LENGTH_FROM = 12  # the length counts the bytes after itself
_MOST_OFFSET = (1 << 63) - 1
_TRANSACTIONAL, _CONTROL = 16, 32
_DATA, _PLAIN = Kind.DATA, Kind.PLAIN
_CODEC = 7
_KINDS = {b"\0\1": Kind.COMMIT, b"\0\0": Kind.ABORT}  # by the type in the key of a control record
# A control record as brokers write it: its length, no attributes, no deltas, the length of a key of four bytes, and the
# key, which consists of version and type. The general parser takes four times as long.
_MARKER = struct.Struct(">B4s2x2s")
_MARKER_START = b"\0\0\0\x08"
_KIND_ORDER = (_PLAIN, _DATA, Kind.COMMIT, Kind.ABORT)  # the order in which the compiled scanner expects them


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
    data: memoryview,
    partition: Partition,
    position: int,
    epoch: int,
    spill_buffer: SpillBuffer,
    scanner: CompiledScanner | None = SCANNER,
) -> ScannedBatches:
    """Parse the part of a fetch response that belongs to a partition, from ``position`` on.

    Args:
        data: the batches; the last one may be truncated.
        partition: the partition.
        position: batches below this offset are left out.
        epoch: the leader epoch of the batch before.
        spill_buffer: stores batches that are needed after this call.
        scanner: the compiled scanner, or None.

    Raises:
        BrokerError: a batch has a format older than Kafka 0.11, or an impossible length or offset.
    """
    scanned = ScannedBatches(position, epoch)
    if scanner is None:
        stopped_at = _scan(data, partition, scanned, spill_buffer)
    else:
        scanned.batches, scanned.compressed, scanned.gap, scanned.position, scanned.epoch, stopped_at = scanner.scan(
            data, partition, position, epoch, spill_buffer, Batch, _KIND_ORDER, RawContent, _kind_of_any_marker
        )
    if stopped_at >= 0:
        _refuse(data, partition, stopped_at)
    return scanned


def _scan(data: memoryview, partition: Partition, scanned: ScannedBatches, spill_buffer: SpillBuffer) -> int:
    """Collect the batches; return where one begins that cannot be scanned, or -1."""
    at, size, head_bytes, position = 0, len(data), _HEAD.size, scanned.position
    unpack, add = _HEAD.unpack_from, scanned.batches.append
    while size - at >= head_bytes:
        base, length, leader_epoch, magic, _, attributes, last, _, _, producer, producer_epoch, _, count = unpack(
            data, at
        )
        next_at = at + _LENGTH_FROM + length
        if next_at > size:
            break  # truncated by the size limit of the fetch
        end = base + last + 1
        if magic != _MAGIC or next_at - at < head_bytes or base < 0 or end > _MOST_OFFSET:
            return at
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
            position = scanned.position = end
            scanned.epoch = leader_epoch
        at = next_at
    # A message of an old format may be shorter than the head of a batch.
    return at if size - at > _MAGIC_AT and data[at + _MAGIC_AT] != _MAGIC else -1


def _refuse(data: memoryview, partition: Partition, at: int) -> NoReturn:
    base, _, _, magic = struct.unpack_from(">qiib", data, at)
    if magic != _MAGIC:
        raise BrokerError(
            f"the log of {partition} has batches from before Kafka 0.11 at offset {base}; read this topic with "
            'boundaries="quiescence"'
        )
    raise BrokerError(
        f"the batch of {partition} at offset {base} is damaged: its length or offset is impossible; compare it with "
        "kafka-dump-log.sh, and restore the topic from a replica or its source"
    )


def _marker_kind(attributes: int, batch: memoryview) -> Kind | None:
    """Return the kind of a control batch; None if its type is neither COMMIT nor ABORT."""
    if len(batch) >= _HEAD.size + _MARKER.size and not attributes & _CODEC:
        length, start, kind = _MARKER.unpack_from(batch, _HEAD.size)
        if start == _MARKER_START and length < 0x80:
            return _KINDS.get(kind)
    return _kind_of_any_marker(batch)


def _kind_of_any_marker(batch: memoryview) -> Kind | None:
    marker = next(iter(DefaultRecordBatch(batch)), None)
    return None if marker is None or marker.key is None else _KINDS.get(bytes(marker.key[2:4]))
