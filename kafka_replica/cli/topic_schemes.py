"""Merge schemes that are to be published with those in the topic."""

from __future__ import annotations

from dataclasses import replace

import click

from kafka_replica.cli.options import ReplicaArguments
from kafka_replica.cli.ready import ready_replica
from kafka_replica.records import Record
from kafka_replica.sdmx import Part, Urn, merge_copies, read_message
from kafka_replica.sdmx.errors import MessageError, SdmxError
from kafka_replica.sdmx.lookups.decoding import media_type


def merge_with_topic(parts: dict[Urn, Part], options: ReplicaArguments) -> None:
    """Merge schemes made from standalone items with those in the topic, so that items from other files are not lost.

    The topic is read once, and only if there is such a scheme among the parts, which are changed in place.

    Raises:
        KafkaReplicaError: the topic, or its scheme, cannot be read.
    """
    synthetic = [urn for urn, part in parts.items() if part.is_synthetic]
    if not synthetic:
        return
    with ready_replica(replace(options, key_filter=tuple(map(str, synthetic)))) as replica:
        snapshot = replica.snapshot()
        records = {urn: record for urn in synthetic if (record := snapshot.get(str(urn))) is not None}
    for urn, record in records.items():
        try:
            parts[urn], conflicts = merge_copies([_present(urn, record), parts[urn]])
        except SdmxError as error:
            raise MessageError(
                f"merging {urn} with the scheme of that name in the topic (offset {record.offset}): {error}; publish "
                "with --no-merge to replace that scheme"
            ) from error
        changed = f"; defined differently: {', '.join(conflicts[:5])}" if conflicts else ""
        click.echo(f"merged with the topic: {urn}{changed}", err=True)


def _present(urn: Urn, record: Record) -> Part:
    value = record.value or b""
    return Part(urn, value, str(read_message(value, media_type(record), on_error="collect").format))
