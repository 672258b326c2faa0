"""Merge schemes with those in the topic before they are published, even if other calls publish to it at the same time.

A call that writes such a scheme first initializes a transactional id that all such calls on the topic share, and then
reads and merges. If two calls overlap, Kafka therefore fences the call that read first: it can no longer commit, and
starts again with the records that the other call has written.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Final

from kafka_replica.broker.writing.faults import Fault, fault_of, leaves_outcome_unknown
from kafka_replica.cli.log_output import log_message
from kafka_replica.cli.options import ReplicaArguments
from kafka_replica.cli.ready import ready_replica
from kafka_replica.errors import BrokerError, CommitUnknownError, PublishError
from kafka_replica.records import Record
from kafka_replica.sdmx import Format, MessagePart, Urn, merge_copies, read_message
from kafka_replica.sdmx.errors import MessageError, SdmxError
from kafka_replica.sdmx.lookups.decoding import media_type

_ATTEMPTS: Final = 8


def may_be_merged(urns: Iterable[Urn]) -> bool:
    """Return whether any of the URNs names a scheme into which calls merge standalone items."""
    return any(MessagePart(urn, b"", str(Format.SDMX_ML_2_0)).is_synthetic for urn in urns)


def repeat_if_fenced(publish: Callable[[], None], topic: str) -> None:
    """Call a function that merges and publishes; if another call fences it, wait for that call, and repeat it.

    Repeating is safe even if Kafka has committed and only its response was lost: the function then merges its items
    with the same items in the topic.

    Args:
        publish: merges and publishes.
        topic: the topic, for errors.

    Raises:
        PublishError: another call fenced this call in each of 8 attempts; nothing was published.
        CommitUnknownError: the same happened, but Kafka may have committed in the last attempt.
    """
    attempt = 1
    while True:
        began_s = time.monotonic()
        try:
            publish()
        except BrokerError as error:
            last = attempt == _ATTEMPTS
            is_overtaken = fault_of(error) is Fault.FENCED or leaves_outcome_unknown(error)
            if not is_overtaken or (last and isinstance(error, CommitUnknownError)):
                raise
            if last:
                raise PublishError(
                    f"publishing to {topic}: {attempt} times another call of publish wrote schemes to be "
                    "merged before this call could commit; nothing was published; try again when fewer calls run"
                ) from error
        else:
            return
        log_message("another call wrote schemes to be merged: reading the topic again")
        # The other call takes about as long as this one did, and should not be fenced in turn.
        time.sleep((time.monotonic() - began_s) * random.uniform(1, 2))  # noqa: S311 - not a secret
        attempt += 1


def merge_with_topic(parts: dict[Urn, MessagePart], options: ReplicaArguments) -> dict[Urn, MessagePart]:
    """Merge schemes that consist of standalone items with those in the topic, so that items of other files are kept.

    The topic is read only if the parts include such a scheme.

    Raises:
        KafkaReplicaError: the topic, or a scheme in it, cannot be read.
    """
    synthetic = [urn for urn, part in parts.items() if part.is_synthetic]
    if not synthetic:
        return parts
    with ready_replica(replace(options, key_filter=tuple(map(str, synthetic)))) as replica:
        snapshot = replica.snapshot()
        records = {urn: record for urn in synthetic if (record := snapshot.get(str(urn))) is not None}
    merged = dict(parts)
    for urn, record in records.items():
        try:
            merged[urn], conflicts = merge_copies([_present(urn, record), parts[urn]])
        except SdmxError as error:
            raise MessageError(
                f"merging {urn} with the scheme of that name in the topic (offset {record.offset}): {error}; publish "
                "with --no-merge to replace that scheme"
            ) from error
        changed = f"; defined differently: {', '.join(conflicts[:5])}" if conflicts else ""
        log_message(f"merged with the topic: {urn}{changed}")
    return merged


def _present(urn: Urn, record: Record) -> MessagePart:
    value = record.value or b""
    return MessagePart(urn, value, str(read_message(value, media_type(record), on_error="collect").format))
