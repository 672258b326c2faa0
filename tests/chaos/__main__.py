"""``python -m chaos``: options, progress, the table, the exit status."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import fields
from pathlib import Path

from rich.console import Console

from chaos import run as replicas_run
from chaos.options import Options
from chaos.outbox import run as outbox_run
from chaos.outbox.options import OutboxOptions
from chaos.outbox.report import OutboxReport
from chaos.outbox.wrong import WAYS
from chaos.report import Report
from kafka_replica.errors import KafkaReplicaError


def options_of(arguments: list[str] | None = None) -> Options | OutboxOptions:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(prog="python -m chaos", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0, help="how long faults go on (default: 1)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--brokers", type=int, choices=(1, 3), default=1)
    parser.add_argument("--partitions", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="keep histories and records there")
    of_replicas = parser.add_argument_group("replicas, without --producer")
    of_replicas.add_argument("--boundaries", help="the replica's argument of that name: markers, or quiescence")
    of_replicas.add_argument("--writers", type=int, default=4)
    of_replicas.add_argument("--replicas", type=int, default=2, help="in processes of their own (default: 2)")
    of_replicas.add_argument("--delete-retention-ms", type=int, default=Options.delete_retention_ms)
    of_replicas.add_argument(
        "--store", choices=("memory", "rocksdb"), default="memory", help="of the replicas' processes"
    )
    of_replicas.add_argument("--naive", action="store_true", help="check a replica that is known to be wrong")
    of_producer = parser.add_argument_group("the reference producer")
    of_producer.add_argument("--producer", action="store_true", help="break the producer, its database and its brokers")
    of_producer.add_argument("--instances", type=int, default=2, help="of one configuration (default: 2)")
    of_producer.add_argument("--database", choices=("auto", "postgresql", "sqlite"), default="auto")
    of_producer.add_argument("--wrong", choices=tuple(WAYS), help="check a producer that breaks a rule on purpose")
    chosen = vars(parser.parse_args(arguments))
    kind = OutboxOptions if chosen.pop("producer") else Options
    names = {each.name for each in fields(kind)}
    return kind(seconds=chosen.pop("minutes") * 60, **{name: chosen[name] for name in names & chosen.keys()})


def run(options: Options | OutboxOptions, say: Callable[[str], None], say_every_s: float) -> Report | OutboxReport:
    """Run what the options request.

    Raises:
        KafkaReplicaError: the harness itself failed.
    """
    if isinstance(options, OutboxOptions):
        return outbox_run.run(options, say, say_every_s)
    return replicas_run.run(options, say, say_every_s)


def main() -> int:
    """Run; return 0 if all is right, 1 if something is wrong or nothing was checked, 2 if the harness itself failed."""
    console, options = Console(), options_of()
    began_s = time.monotonic()
    status: AbstractContextManager[object] = nullcontext()
    say: Callable[[str], None]
    if console.is_terminal:
        status = spinner = console.status("chaos")
        say = spinner.update
    else:

        def say(line: str) -> None:
            sys.stdout.write(f"{time.monotonic() - began_s:6.1f} s  {line}\n")
            sys.stdout.flush()

    try:
        with status:
            report = run(options, say, 1.0 if console.is_terminal else max(5.0, options.seconds / 20))
    except KafkaReplicaError as error:
        sys.stderr.write(f"the run could not be done: {error}\n")
        return 2
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        return 130
    report.show(console)
    return report.exit_status


if __name__ == "__main__":
    sys.exit(main())
