"""``kafka-replica status``: prints the status of a replica of the topic."""

from __future__ import annotations

import logging

import click

from kafka_replica.cli.log_output import log_message
from kafka_replica.cli.options import ReplicaArguments, replica_options
from kafka_replica.cli.output import print_json_line, print_lines
from kafka_replica.cli.ready import command_replica, wait_ready
from kafka_replica.common.wording import counted
from kafka_replica.errors import WaitTimeoutError
from kafka_replica.publication.status import State, Status


@click.command()
@replica_options
def status(
    options: ReplicaArguments,
    as_json: bool,
) -> int:
    """Print the status of a replica of the topic. The exit status is 0 only if it is live."""
    with command_replica(options) as replica:
        try:
            wait_ready(replica, options.timeout_s)
        except WaitTimeoutError as error:
            log_message(f"kafka-replica: {error}", logging.WARNING)
        now = replica.status()
        if as_json:
            print_json_line(now.as_json())
        else:
            print_lines(_status_lines(options.topic, now))
    return 0 if now.state is State.LIVE else 1


def _status_lines(topic: str, status: Status) -> list[str]:
    lines = {
        "state": str(status.state),
        "ready": "yes" if status.ready else "no",
        "version": f"{status.version} of {status.position}, {counted(status.keys, 'key')}",
        "barrier": str(status.barrier),
        "high watermark": str(status.high_watermark),
        "last stable offset": str(status.last_stable_offset),
        "lag": "unknown" if status.lag_records is None else counted(status.lag_records, "offset"),
        "open transaction": f"at {status.blocking_transaction} for {status.blocked_s:.1f} s"
        if status.blocking_transaction
        else "none",
        "unconfirmed ends": _unconfirmed_text(status),
        "boundaries": status.boundaries or "unknown",
        "read": counted(status.counts.records, "record"),
        "tombstones": f"{status.counts.tombstones:,} of these",
        "bad records": f"{status.counts.bad_records:,} set aside",
        "last error": status.last_error or "none",
    }
    return [topic, *(f"  {name:<20}{text}" for name, text in lines.items())]


def _unconfirmed_text(status: Status) -> str:
    if not status.unconfirmed_partitions:
        return "none"
    return f"of {', '.join(status.unconfirmed_partitions)}: too few brokers answer to exclude a newer leader"
