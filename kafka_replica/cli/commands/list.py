"""``kafka-replica list``: prints the keys, or those that match a pattern."""

from __future__ import annotations

import click

from kafka_replica.cli.key_patterns import key_matches, no_match_message
from kafka_replica.cli.log_output import log_message
from kafka_replica.cli.options import ReplicaArguments, replica_options
from kafka_replica.cli.output import print_json_line, print_line, record_attributes
from kafka_replica.cli.ready import ready_replica
from kafka_replica.records import key_text


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
                print_json_line(record_attributes(snapshot[key], several_topics=len(replica.topics) > 1))
            else:
                print_line(key_text(key))
        if pattern is not None and not found:
            log_message(f"kafka-replica: {no_match_message(list(snapshot), pattern)}")
