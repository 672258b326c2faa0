"""``python -m kafka_replica.demo [--database URL] [--bootstrap-server HOST:PORT]``."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence
from types import FrameType

from kafka_replica.demo.running import run_demo


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the demonstration; return the exit status, which is 0 only if every result was as expected."""
    parser = argparse.ArgumentParser(prog="make demo-directory", description=__doc__)
    parser.add_argument("--database", metavar="URL", help="use this PostgreSQL instead of starting one")
    parser.add_argument("--bootstrap-server", help="use this Kafka instead of the embedded broker")
    parser.add_argument("--rows", type=int, default=50_000, help="the size of the directory")
    parser.add_argument("--seconds", type=float, default=15.0, help="the duration of each of the longer parts")
    options = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, _end)

    def demo() -> None:
        # Imported here, because its dependencies may be missing.
        from kafka_replica.demo.directory_demo import run_directory_demo  # noqa: PLC0415

        run_directory_demo(options.database, options.bootstrap_server, options.rows, options.seconds)

    return run_demo(demo)


def _end(_signal: int, _frame: FrameType | None) -> None:
    """End the demonstration with an exception, so that everything that it has started is stopped."""
    raise SystemExit(128 + signal.SIGTERM)


if __name__ == "__main__":
    sys.exit(main())
