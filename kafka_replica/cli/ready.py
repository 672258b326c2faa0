"""Run a replica for the duration of a command: read it up to the barrier, and show the progress."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import reduce
from operator import or_
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from kafka_replica.cli.log_output import warnings_held
from kafka_replica.cli.options import ReplicaArguments
from kafka_replica.cli.properties import properties
from kafka_replica.cli.topic_suggestions import topic_suggestions
from kafka_replica.errors import BrokerUnavailableError, WaitTimeoutError
from kafka_replica.filters import KeyFilter
from kafka_replica.publication.status import State, Status
from kafka_replica.replica import Replica
from kafka_replica.replication.dead_letters import DeadLetterFile
from kafka_replica.stores import Store

_LOOK_EVERY_S = 0.1


def command_replica(options: ReplicaArguments) -> Replica:
    """Return a replica of the given topics, which fails if a topic does not exist."""
    dead_letters = None if options.dead_letters is None else DeadLetterFile(options.dead_letters)
    return Replica(
        properties(options.bootstrap_server, options.configs),
        topics=[name.strip() for name in options.topic.split(",")],
        store=None if options.store is None else rocks_store(options.store),
        boundaries=options.boundaries,
        wait_for_topic=False,
        key_filter=reduce(or_, map(KeyFilter.pattern, options.key_filter)) if options.key_filter else None,
        on_bad_record=options.on_bad_record if dead_letters is None else "dead-letter",
        dead_letters=dead_letters,
        large_values=options.large_values,
    )


def rocks_store(path: Path) -> Store:
    """Return a store on disk in a folder, which needs the extra ``rocksdb``."""
    from kafka_replica.stores.rocks import RocksStore  # noqa: PLC0415 - an extra

    return RocksStore(path)


@contextmanager
def ready_replica(options: ReplicaArguments) -> Iterator[Replica]:
    """Yield a replica that has reached the barrier, so that it has all records that were in the topic at the start.

    Raises:
        KafkaReplicaError: the barrier was not reached; the message gives the reason.
    """
    with command_replica(options) as replica:
        wait_ready(replica, options.timeout_s)
        yield replica


def wait_ready(replica: Replica, timeout_s: float) -> None:
    """Wait until a replica has reached the barrier, and show the progress on a terminal.

    Raises:
        KafkaReplicaError: the barrier was not reached within ``timeout_s`` seconds; the message gives the reason.
    """
    give_up_s = time.monotonic() + timeout_s
    with warnings_held(), topic_suggestions(replica.config, replica.topic), _progress() as progress:
        task = progress.add_task(f"reading {replica.topic}", total=None, state="")
        while True:
            left_s = give_up_s - time.monotonic()
            try:
                replica.wait_ready(min(_LOOK_EVERY_S, max(left_s, 0)))
            except WaitTimeoutError:
                status = replica.status()
                _give_up_if_silent(replica, status)
                if left_s <= 0:
                    replica.wait_ready(0)  # raises an error with the latest reason
                total = sum(status.barrier.values())
                read = min(total, sum(status.read_position.values()))
                progress.update(task, total=total or None, completed=read, state=str(status.state))
            else:
                return


def _give_up_if_silent(replica: Replica, status: Status) -> None:
    if status.state is State.STALLED and not status.barrier:
        servers = replica.config["bootstrap.servers"]
        reason = status.last_error or "check the address, and that the broker runs"
        where = "" if servers in reason else f" at {servers}"
        raise BrokerUnavailableError(f"no broker answered{where} in {status.last_contact_s or 0:.0f} s: {reason}")


def _progress() -> Progress:
    console = Console(file=sys.stderr)
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:,.0f} offsets, {task.fields[state]}"),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
