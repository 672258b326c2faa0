"""``kafka-replica get``: prints the value of one key."""

from __future__ import annotations

from typing import Any

import click

from kafka_replica.cli.keys import find_record
from kafka_replica.cli.options import ReplicaArguments, replica_options
from kafka_replica.cli.output import print_json_line, record_attributes, sha256_of, write_bytes
from kafka_replica.cli.ready import ready_replica
from kafka_replica.listeners.change_json import json_text
from kafka_replica.records import Record


@click.command()
@click.argument("key", metavar="KEY")
@replica_options
def get(
    key: str,
    options: ReplicaArguments,
    as_json: bool,
) -> None:
    """Print the value of one key, byte for byte (with --json: and its attributes).

    KEY is the whole key, such as a URN, or a reference to an artefact: SDMX:CL_FREQ(2.1). Without a version, the latest
    is printed; a reference that fits artefacts of several classes lists them. For patterns see "list".
    """
    with ready_replica(options) as replica:
        snapshot = replica.snapshot()
        topics = replica.topics
        record = find_record([snapshot] if len(topics) == 1 else [snapshot.of(topic) for topic in topics], key)
        if as_json:
            print_json_line(_record_json(record, several_topics=len(topics) > 1))
        else:
            write_bytes(record.value or b"")


def _record_json(record: Record, *, several_topics: bool) -> dict[str, Any]:
    headers = [{"name": name, "value": None if value is None else json_text(value)} for name, value in record.headers]
    value = json_text(record.value or b"")
    place = record_attributes(record, several_topics=several_topics)
    return {**place, "sha256": sha256_of(record), "headers": headers, "value": value}
