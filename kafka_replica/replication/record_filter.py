"""The filter of incoming records: it drops unwanted records, reverses a header stack, and finds bad records.

A record that cannot be replicated, and is set aside, replaces the previous record of its key in its partition, and is
passed on without its value: the delta builder decides whether it is the current record of its key. The keys of a batch
that cannot be read are not known: they keep their previous records, and the error states this.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from kafka_replica.common.wording import encodable
from kafka_replica.errors import BadRecordError, DataError, KafkaReplicaError
from kafka_replica.headers import PieceError, ServiceUnavailableError, Stack, TransformedRecord
from kafka_replica.records import Partition, Record, Stored, as_record, key_text, lacks_key
from kafka_replica.replication.service_retry import ServiceRetry
from kafka_replica.transactions import Batch

__all__ = ["FilteredRecords", "RecordFilter", "Validator"]

Validator = Callable[[Record], object]
"""A function that checks a record that is not a tombstone, and raises an exception if the record is invalid."""

_NO_KEY = "find the producer that writes without keys, or set on_bad_record='skip' to set such records aside"
_DAMAGED = "compare it with kafka-dump-log.sh, or set on_bad_record='skip' to continue without it"
_UNTIL_COMPACTED = (
    "publish its key again or delete it; until Kafka has compacted this old record away, a replica with "
    "on_bad_record='stop' still stops at it, and one with on_bad_record='skip' sets it aside"
)
_REFUSED = f"correct the validator if it is wrong; otherwise {_UNTIL_COMPACTED}"
_NOT_UNDONE = f"compare the replica's header_stack with that of the producer; if that is right, {_UNTIL_COMPACTED}"


class FilteredRecords(NamedTuple):
    """The filtered records of a batch."""

    records: Sequence[Stored]
    """The records, without the value of each bad record that has a key; if ``is_open``, some may lack a key."""
    bad: list[BadRecordError]


class RecordFilter:
    """A filter for the records of batches. Only the writing thread may use it.

    Args:
        key_filter: returns whether a key is wanted; None accepts all keys.
        validator: raises an exception if a record is invalid.
        header_stack: transforms records before the validator sees them; None or an empty stack changes nothing.
        services: waits while a service that the stack needs does not answer; None means to raise its error.
    """

    def __init__(
        self,
        key_filter: Callable[[bytes], bool] | None = None,
        validator: Validator | None = None,
        header_stack: Stack | None = None,
        services: ServiceRetry | None = None,
    ) -> None:
        self._key_filter = key_filter
        self._validator = validator
        self._header_stack = header_stack or None
        self._services = services

    @property
    def is_open(self) -> bool:
        """True if records pass unchanged."""
        return self._key_filter is None and self._validator is None and self._header_stack is None

    def apply_to(self, batch: Batch) -> FilteredRecords:
        """Return the filtered records of a batch."""
        try:
            records = batch.content.records()
        except DataError as error:
            return FilteredRecords((), [_damage_error(batch, error)])
        return FilteredRecords(records, []) if self.is_open else self._filter(batch.partition, records)

    def _filter(self, partition: Partition, records: Sequence[Stored]) -> FilteredRecords:
        kept_records: list[Stored] = []
        bad: list[BadRecordError] = []
        for raw in records:
            if lacks_key(raw):
                bad.append(without_key(partition, raw))
                continue
            if self._key_filter is not None and not self._key_filter(raw[0]):
                continue
            record = self._accept(partition, raw)
            if isinstance(record, BadRecordError):
                bad.append(record)
                record = raw[0], None, raw[2], raw[3], ()
            kept_records.append(record)
        return FilteredRecords(kept_records, bad)

    def _accept(self, partition: Partition, raw: Stored) -> Stored | BadRecordError:
        """Return the record as the application wrote it, or the error if the record as it was read is bad."""
        record = raw
        if self._header_stack is not None:
            try:
                value, headers = self._undo(self._header_stack, partition, raw)
            except PieceError as error:
                return _bad_record(partition, raw, str(error), _NOT_UNDONE)
            except MemoryError as error:
                raise _no_memory("undoing the headers' transformations of", raw, partition, error) from error
            record = (raw[0], value, raw[2], raw[3], headers)
        if self._validator is None or record[1] is None:
            return record
        try:
            self._validator(as_record(record, partition))
        except MemoryError as error:
            raise _no_memory("validating", raw, partition, error) from error
        except Exception as error:  # noqa: BLE001 - any exception of a user's validator is a reason
            reason = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
            return _bad_record(partition, raw, reason, _REFUSED)
        except BaseException as error:  # SystemExit, CancelledError, or a test's failure: not a reason to skip a record
            raise KafkaReplicaError(
                f"validating {as_record(raw, partition)!r}: {type(error).__name__}: {error}; a validator refuses a "
                "record by raising a subclass of Exception"
            ) from error
        return record

    def _undo(self, stack: Stack, partition: Partition, raw: Stored) -> TransformedRecord:
        """Undo the stack's transformations; wait for services that do not answer.

        Raises:
            PieceError: a piece refused the record.
            ServiceUnavailableError: a service does not answer, and nothing waits for it, or it has refused the client.
        """
        services = self._services
        if services is None:
            try:
                return stack.incoming(raw[0], raw[1], raw[4], topic=partition.topic)
            except ServiceUnavailableError as error:
                place = _place(partition, raw)
                raise ServiceUnavailableError(f"{place}: {error}", is_refusal=error.is_refusal) from error
        try:
            undone = stack.incoming(
                raw[0], raw[1], raw[4], topic=partition.topic,
                wait=lambda error: services.pause(error, _place(partition, raw)),
            )  # fmt: skip
            # A record that no piece has changed, such as a tombstone without headers, says nothing about a service.
            services.well(was_needed=undone.value is not raw[1] or undone.headers is not raw[4])
        except PieceError:
            services.well(was_needed=False)
            raise
        finally:
            services.end()
        return undone


def _place(partition: Partition, raw: Stored) -> str:
    """Return a record's place and key, for an error that ends the replica or makes it wait."""
    return f"reading the record at {partition}, offset {raw[2]}, key '{key_text(raw[0])}'"


def _no_memory(doing: str, raw: Stored, partition: Partition, error: MemoryError) -> KafkaReplicaError:
    """Return the error that ends the replica: another machine may accept the record, and replicas must not differ."""
    return KafkaReplicaError(
        f"{doing} {as_record(raw, partition)!r}: MemoryError: {error}; start it again with more memory, or, if the "
        "record itself asks for too much, let the function that was given to the replica raise a ValueError"
    )


def without_key(partition: Partition, raw: Stored) -> BadRecordError:
    """Return the error for a record without a key."""
    return _bad_record(partition, raw, "it has no key, so it replaces nothing and nothing can delete it", _NO_KEY)


def _bad_record(partition: Partition, raw: Stored, reason: str, advice: str) -> BadRecordError:
    # Lone surrogates, such as those in a validator's message about bytes, cannot be written as UTF-8.
    bad = BadRecordError(*partition, raw[2], encodable(reason), advice, raw[0], raw[3])
    bad.record = as_record(raw, partition)
    return bad


def _damage_error(batch: Batch, error: DataError) -> BadRecordError:
    reason = (
        f"its batch, up to offset {batch.end - 1}, cannot be read, so that its keys are not known and keep their "
        f"previous records: {error}"
    )
    return BadRecordError(*batch.partition, batch.first, reason, _DAMAGED)
