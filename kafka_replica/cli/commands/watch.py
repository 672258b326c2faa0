"""``kafka-replica watch``: prints each new version."""

from __future__ import annotations

from typing import Any, Final

import click

from kafka_replica.cli.log_output import begin_long_run
from kafka_replica.cli.options import ReplicaArguments, replica_options
from kafka_replica.cli.output import has_incomplete_line, print_json_line, print_lines
from kafka_replica.cli.ready import command_replica, wait_ready
from kafka_replica.common.wording import counted
from kafka_replica.listeners import Change
from kafka_replica.listeners.change_json import change_facts, keys_json
from kafka_replica.records import key_text

_MAX_PENDING: Final = 10_000
"""Each version is printed, unless its reader is so many versions behind that they must be merged."""


@click.command()
@replica_options
def watch(
    options: ReplicaArguments,
    as_json: bool,
) -> int:
    """Print versions as they arrive, the first with the whole state; ends with Ctrl-C.

    With --json each version is a line; otherwise a line for each changed key follows. A version covers a whole number
    of committed transactions. The exit status is 0 if the first was printed.
    """
    from kafka_replica.cli.run import TerminationSignal  # noqa: PLC0415 - it imports the tree of commands

    replica = command_replica(options)
    begin_long_run()
    with replica:
        changes = replica.changes(max_pending=_MAX_PENDING)
        wait_ready(replica, options.timeout_s)
        printed = False
        try:
            for change in changes:
                if as_json:
                    print_json_line(_change_json(change, several_topics=len(replica.topics) > 1))
                else:
                    print_lines(_change_lines(change))
                printed = True
        except (KeyboardInterrupt, TerminationSignal):
            if not printed or has_incomplete_line():
                raise
            return 0  # watching ends with an interrupt
    return 0


def _change_json(change: Change, *, several_topics: bool) -> dict[str, Any]:
    return {
        **change_facts(change),
        "changed": keys_json(change.changed, several_topics=several_topics),
        "deleted": keys_json(change.deleted, several_topics=several_topics),
    }


def _change_lines(change: Change) -> list[str]:
    if change.initial:
        return [f"version {change.version} of {change.position}: {counted(len(change.changed), 'key')}"]
    keys = [f"  + {key_text(key)}" for key in sorted(change.changed)] + [
        f"  - {key_text(key)}" for key in sorted(change.deleted)
    ]
    merged = f", {change.conflated} versions in one" if change.conflated > 1 else ""
    return [
        f"version {change.version} of {change.position}: {len(change.changed)} changed, "
        f"{len(change.deleted)} deleted" + merged,
        *keys,
    ]
