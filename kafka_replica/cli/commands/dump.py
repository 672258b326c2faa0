"""``kafka-replica dump``: prints every key of one version."""

from __future__ import annotations

import click

from kafka_replica.cli.options import ReplicaArguments, replica_options
from kafka_replica.cli.output import print_json_line, print_line, record_attributes, sha256_of
from kafka_replica.cli.ready import ready_replica
from kafka_replica.common.wording import counted
from kafka_replica.listeners.change_json import position_json
from kafka_replica.records import key_text


@click.command()
@replica_options
def dump(
    options: ReplicaArguments,
    as_json: bool,
) -> None:
    """Print every key of one version, in key order, and then the version itself.

    Waits until everything that is in the topic now has been read.
    """
    with ready_replica(options) as replica:
        snapshot = replica.snapshot()
        for key in sorted(snapshot):
            record = snapshot[key]
            if as_json:
                print_json_line(
                    {**record_attributes(record, several_topics=len(replica.topics) > 1), "sha256": sha256_of(record)}
                )
            else:
                print_line(
                    f"{record.offset:>10}  {len(record.value or b''):>10}  {sha256_of(record)[:12]}  {key_text(key)}"
                )
        if as_json:
            print_json_line({"version": snapshot.version, **position_json(snapshot.position), "keys": len(snapshot)})
        else:
            print_line(f"version {snapshot.version} of {snapshot.position}: {counted(len(snapshot), 'key')}")
