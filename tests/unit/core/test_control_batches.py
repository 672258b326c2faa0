"""The kind of a control batch is the same, whether it has the usual form, which is read directly, or another one."""

from __future__ import annotations

import pytest
from aiokafka.record.default_records import DefaultRecordBatch
from hypothesis import example, given
from hypothesis import strategies as st

from kafka_replica.broker.reading.batches import scan_batches
from kafka_replica.broker.reading.spill_buffer import SpillBuffer
from kafka_replica.records import Partition
from kafka_replica.transactions import Kind
from support.core.batch_bytes import Written, batch_bytes

_TRANSACTIONAL_CONTROL = 48
_KINDS = {b"\0\1": Kind.COMMIT, b"\0\0": Kind.ABORT}
_KEY = b"\0\0\0\1"  # the version, and the type: commit
_VALUE = b"\0\0\0\0\0\7"  # the version, and the epoch of the coordinator

records = st.builds(
    Written,
    key=st.none() | st.sampled_from([_KEY, b"\0\0\0\0", b"\0\7\0\1", b"\0\0\0\2", b"\0\0\1\1", b"\0\1"]) | st.binary(),
    value=st.none() | st.just(_VALUE) | st.binary(max_size=200),
    offset_delta=st.sampled_from([0, 0, 4]),
    timestamp_delta=st.sampled_from([0, 0, 4, 900]),
    attributes=st.sampled_from([0, 0, 4]),
)


def kind_found(data: bytes) -> Kind | None:
    """Return the kind of the only batch of a fetch, None if it was left out."""
    found = scan_batches(memoryview(data), Partition("t", 0), 0, -1, SpillBuffer()).batches
    return found[0].kind if found else None


@given(st.lists(records, min_size=1, max_size=2), st.sampled_from([0, 0, 0, 1]))
@example([Written(_KEY, _VALUE)], 0)
@example([Written(b"\0\0\0\0", _VALUE)], 0)
@example([Written(_KEY, _VALUE)], 1)
@example([Written(_KEY, bytes(100))], 0)
def test_a_marker_is_read_as_any_record_would_be(written: list[Written], codec_number: int) -> None:
    """The type is that in the key of the first record, as aiokafka's parser reads it."""
    data = batch_bytes(written, attributes=_TRANSACTIONAL_CONTROL, codec_number=codec_number)
    key = next(iter(DefaultRecordBatch(data))).key
    assert kind_found(data) == (None if key is None else _KINDS.get(bytes(key[2:4])))


def test_kafkas_own_form() -> None:
    """A marker with the fields that Kafka writes is a commit or an abort."""
    for key, kind in ((_KEY, Kind.COMMIT), (b"\0\0\0\0", Kind.ABORT)):
        assert kind_found(batch_bytes([Written(key, _VALUE)], attributes=_TRANSACTIONAL_CONTROL)) is kind


def test_a_marker_has_its_record() -> None:
    """The content of a marker is its record: whoever needs the time of the commit finds it there."""
    data = batch_bytes([Written(_KEY, _VALUE)], attributes=_TRANSACTIONAL_CONTROL)
    (batch,) = scan_batches(memoryview(data), Partition("t", 0), 0, -1, SpillBuffer()).batches
    assert [record[:2] for record in batch.content.records()] == [(_KEY, _VALUE)]


def test_a_compressed_batch_is_not_read_directly() -> None:
    """A batch that claims to be compressed is decompressed first, even if its bytes look like a marker."""
    data = batch_bytes([Written(_KEY, _VALUE)], attributes=_TRANSACTIONAL_CONTROL | 1)
    with pytest.raises(OSError, match="gzip"):
        kind_found(data)
