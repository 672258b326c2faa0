"""``kafka-replica dump | watch | get | list | status``: commands that read a topic through a replica."""

from __future__ import annotations

import logging
from typing import Any

import click

from kafka_replica.cli.key_patterns import key_matches, no_match
from kafka_replica.cli.keys import find_record
from kafka_replica.cli.log_output import say
from kafka_replica.cli.options import ReplicaArguments, replica_options
from kafka_replica.cli.output import (
    is_in_the_middle,
    json_line,
    print_line,
    record_attributes,
    sha256_of,
    write,
)
from kafka_replica.cli.ready import command_replica, ready_replica, wait_ready
from kafka_replica.common.wording import counted
from kafka_replica.errors import WaitTimeoutError
from kafka_replica.listeners import Change
from kafka_replica.listeners.change_json import change_facts, json_text, keys_json, position_json
from kafka_replica.publication.status import State, Status
from kafka_replica.records import Record, key_text

# `watch` prints each version; only a reader this far behind gets several versions in one.
_WATCH_PENDING_CHANGES = 10_000


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
                json_line(
                    {**record_attributes(record, several_topics=len(replica.topics) > 1), "sha256": sha256_of(record)}
                )
            else:
                print_line(
                    f"{record.offset:>10}  {len(record.value or b''):>10}  {sha256_of(record)[:12]}  {key_text(key)}"
                )
        if as_json:
            json_line({"version": snapshot.version, **position_json(snapshot.position), "keys": len(snapshot)})
        else:
            print_line(f"version {snapshot.version} of {snapshot.position}: {counted(len(snapshot), 'key')}")


@click.command()
@replica_options
def watch(
    options: ReplicaArguments,
    as_json: bool,
) -> int:
    """Print one line per version as versions arrive, the first with the whole state; ends with Ctrl-C.

    Each line covers a whole number of committed transactions. The exit status is 0 if the first was printed.
    """
    from kafka_replica.cli.run import Terminated  # noqa: PLC0415 - it imports the tree of commands

    with command_replica(options) as replica:
        changes = replica.changes(max_pending=_WATCH_PENDING_CHANGES)
        wait_ready(replica, options.timeout_s)
        printed = False
        try:
            for change in changes:
                if as_json:
                    json_line(_change_json(change, several_topics=len(replica.topics) > 1))
                else:
                    print_line(_change_text(change))
                printed = True
        except (KeyboardInterrupt, Terminated):
            if not printed or is_in_the_middle():
                raise
            return 0  # watching ends with an interrupt
    return 0


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
            json_line(_record_json(record, several_topics=len(topics) > 1))
        else:
            write(record.value or b"")


@click.command("list")
@click.argument("pattern", required=False)
@replica_options
def list_keys(
    pattern: str | None,
    options: ReplicaArguments,
    as_json: bool,
) -> None:
    """Print the keys, in key order; those that match PATTERN if one is given.

    In a PATTERN, * matches any text and ? one character; it matches whole keys, and ids and references of artefacts:
    "CL_*", "SDMX:*", "SDMX:CL_FREQ(2.*)", "Codelist=*". Without * and ?, keys that contain it match.
    """
    with ready_replica(options) as replica:
        snapshot = replica.snapshot()
        found = sorted(key for key in snapshot if pattern is None or key_matches(key, pattern))
        for key in found:
            if as_json:
                json_line(record_attributes(snapshot[key], several_topics=len(replica.topics) > 1))
            else:
                print_line(key_text(key))
        if pattern is not None and not found:
            say(f"kafka-replica: {no_match(list(snapshot), pattern)}")


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
            say(f"kafka-replica: {error}", logging.WARNING)
        now = replica.status()
        if as_json:
            json_line(now.as_json())
        else:
            print_line(_status_text(options.topic, now))
    return 0 if now.state is State.LIVE else 1


def _change_json(change: Change, *, several_topics: bool) -> dict[str, Any]:
    return {
        **change_facts(change),
        "changed": keys_json(change.changed, several_topics=several_topics),
        "deleted": keys_json(change.deleted, several_topics=several_topics),
    }


def _change_text(change: Change) -> str:
    if change.initial:
        return f"version {change.version} of {change.position}: {counted(len(change.changed), 'key')}"
    keys = [f"  + {key_text(key)}" for key in sorted(change.changed)] + [
        f"  - {key_text(key)}" for key in sorted(change.deleted)
    ]
    merged = f", {change.conflated} versions in one" if change.conflated > 1 else ""
    return "\n".join(
        [
            f"version {change.version} of {change.position}: {len(change.changed)} changed, "
            f"{len(change.deleted)} deleted" + merged,
            *keys,
        ]
    )


def _record_json(record: Record, *, several_topics: bool) -> dict[str, Any]:
    headers = [{"name": name, "value": None if value is None else json_text(value)} for name, value in record.headers]
    value = json_text(record.value or b"")
    place = record_attributes(record, several_topics=several_topics)
    return {**place, "sha256": sha256_of(record), "headers": headers, "value": value}


def _status_text(topic: str, status: Status) -> str:
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
        "read": counted(status.counts.records, "record"),
        "tombstones": f"{status.counts.tombstones:,} of these",
        "bad records": f"{status.counts.bad_records:,} set aside",
        "last error": status.last_error or "none",
    }
    return "\n".join([topic, *(f"  {name:<20}{text}" for name, text in lines.items())])


def _unconfirmed_text(status: Status) -> str:
    if not status.unconfirmed_partitions:
        return "none"
    return f"of {', '.join(status.unconfirmed_partitions)}: too few brokers answer to exclude a newer leader"
