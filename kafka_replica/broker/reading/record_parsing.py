"""Parse the records of a batch with the compiled parser if it exists, otherwise with aiokafka's parser.

Both accept the same batches and return the same records. The compiled parser creates the ``Record`` objects that
readers get. aiokafka's parser returns objects of its own, which are copied into tuples: in Python, creating a
``Record`` takes longer than parsing it. Header names that are not UTF-8, which aiokafka's parser refuses, are decoded
with ``surrogateescape``, so that no byte is lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import repeat
from operator import attrgetter
from typing import Any, Final

from aiokafka.errors import CorruptRecordException, UnsupportedCodecError
from aiokafka.record.default_records import DefaultRecordBatch

from kafka_replica.broker.reading import decompression
from kafka_replica.broker.reading.python_parser import parse_in_python
from kafka_replica.common.compiled import PARSER, CompiledParser
from kafka_replica.errors import DataError
from kafka_replica.records import Partition, RawRecord, Record, Stored

_LEAST_OFFSET: Final = -(1 << 63)
_KEY_OF, _VALUE_OF, _OFFSET_OF, _TIMESTAMP_OF, _HEADERS_OF = map(
    attrgetter, ("key", "value", "offset", "timestamp", "headers")
)


def parse_records(
    data: memoryview | bytes,
    partition: Partition,
    from_offset: int = 0,
    *,
    check_crc: bool = False,
    decompressed: memoryview | None = None,
    parser: CompiledParser | None = PARSER,
) -> Sequence[Stored]:
    """Return the records of a batch from an offset on.

    Args:
        data: the batch, with its head.
        partition: the partition of the batch.
        from_offset: records below this offset are left out; 0 leaves out none.
        check_crc: whether to compare the batch with its checksum.
        decompressed: the content of the batch, if it is known already; only for the compiled parser.
        parser: the compiled parser, or None.

    Raises:
        DataError: the batch is damaged, or compressed in a way that cannot be read here.
    """
    try:
        if check_crc and not DefaultRecordBatch(data).validate_crc():
            raise CorruptRecordException("its checksum is wrong")
        if parser is not None:
            content = decompression.decompressed(data) if decompressed is None else decompressed
            return parser.parse(data, content, from_offset or _LEAST_OFFSET, Record, partition)
        found = _all_records(data)
    except UnsupportedCodecError as error:
        raise DataError(f"the batches of {partition} have a compression that cannot be read: {error}") from error
    except MemoryError:
        raise  # because the cause is this machine, and not the batch
    except Exception as error:  # each codec has exceptions of its own
        raise DataError(
            f"the batch of {partition} at offset {int.from_bytes(data[:8], 'big', signed=True)} is damaged: {error}; "
            "compare it with kafka-dump-log.sh, and restore the topic from a replica or its source"
        ) from error
    return [record for record in found if record[2] >= from_offset] if from_offset else found


def _all_records(data: memoryview | bytes) -> list[RawRecord]:
    """Return all records of a batch, parsed by aiokafka's parser, unless it refuses a batch that may be good.

    It refuses header names that are not UTF-8, and raises MemoryError both for a wrong length, which is damage, and if
    the machine has too little memory. The other parser checks lengths.
    """
    try:
        return _columns(DefaultRecordBatch(data))
    except MemoryError:
        pass
    except (UnicodeDecodeError, CorruptRecordException) as error:
        if not any(isinstance(each, UnicodeDecodeError) for each in (error, error.__cause__)):
            raise
    return parse_in_python(data, decompression.decompressed(data))


def _columns(batch: Any) -> list[RawRecord]:
    """Return the records of a batch, built column by column in C code."""
    parsed = list(batch)
    keys, values = map(_KEY_OF, parsed), map(_VALUE_OF, parsed)
    offsets: Iterable[int] = map(_OFFSET_OF, parsed)
    timestamps: Iterable[int] = list(map(_TIMESTAMP_OF, parsed))
    if len(set(timestamps)) == 1:
        timestamps = repeat(parsed[0].timestamp)  # one int, not one for each record
    has_headers = any(map(_HEADERS_OF, parsed))
    headers: Iterable[Any] = map(tuple, map(_HEADERS_OF, parsed)) if has_headers else repeat(())
    return list(zip(keys, values, offsets, timestamps, headers, strict=False))
