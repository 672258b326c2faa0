"""``python -m chaos``: options, progress, the table, the exit status."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from rich.console import Console

from chaos.options import Options
from chaos.run import run
from kafka_replica.errors import KafkaReplicaError


def options_of(arguments: list[str] | None = None) -> Options:
    """The options that the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m chaos", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0, help="how long faults go on (default: 1)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--brokers", type=int, choices=(1, 3), default=1)
    parser.add_argument("--partitions", type=int, default=1)
    parser.add_argument("--evidence", help="the replica's argument of that name: markers, or quiet points")
    parser.add_argument("--writers", type=int, default=4)
    parser.add_argument("--replicas", type=int, default=2, help="in processes of their own (default: 2)")
    parser.add_argument("--delete-retention-ms", type=int, default=Options.delete_retention_ms)
    parser.add_argument("--store", choices=("memory", "rocksdb"), default="memory", help="of the replicas' processes")
    parser.add_argument("--naive", action="store_true", help="check a replica that is known to be wrong")
    parser.add_argument("--folder", type=Path, help="keep histories and records there")
    chosen = vars(parser.parse_args(arguments))
    return Options(seconds=chosen.pop("minutes") * 60, **chosen)


def main() -> int:
    """Runs; 0 if nothing is wrong, 1 if something is or nothing was checked, 2 if the harness itself failed."""
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
