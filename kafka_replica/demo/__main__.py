"""``python -m kafka_replica.demo [--database URL] [--bootstrap-server HOST:PORT]``."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence
from types import FrameType

from kafka_replica.demo.running import run


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the demonstration; return the exit status, which is 0 only if every result was as expected."""
    parser = argparse.ArgumentParser(prog="make demo-directory", description=__doc__)
    parser.add_argument("--database", metavar="URL", help="use this PostgreSQL instead of starting one")
    parser.add_argument("--bootstrap-server", help="use this Kafka instead of the embedded broker")
    parser.add_argument("--rows", type=int, default=50_000, help="the size of the directory")
    parser.add_argument("--seconds", type=float, default=15.0, help="the duration of each of the longer parts")
    options = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, _end)

    def story() -> None:
        from kafka_replica.demo.story import run_story  # noqa: PLC0415 - its dependencies may be missing

        run_story(options.database, options.bootstrap_server, options.rows, options.seconds)

    return run(story)


def _end(_signal: int, _frame: FrameType | None) -> None:
    """End the demonstration with an exception, so that everything that it has started is stopped."""
    raise SystemExit(128 + signal.SIGTERM)


if __name__ == "__main__":
    sys.exit(main())
