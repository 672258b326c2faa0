"""``python -m kafka_replica_spark.demo [--keep] [--bootstrap-server HOST:PORT]``."""

from __future__ import annotations

import argparse
import sys

from kafka_replica.demo.running import run


def main() -> int:
    """Run the demonstration; return the exit status, which is 0 only if every result was as expected."""
    parser = argparse.ArgumentParser(prog="make demo", description=__doc__)
    parser.add_argument("--keep", action="store_true", help="stay up until Ctrl-C")
    parser.add_argument("--bootstrap-server", help="use this Kafka instead of the embedded broker")
    options = parser.parse_args()

    def story() -> None:
        from kafka_replica_spark.demo.story import run_story  # noqa: PLC0415 - its dependencies may be missing

        run_story(bootstrap_server=options.bootstrap_server, keep=options.keep)

    return run(story)


if __name__ == "__main__":
    sys.exit(main())
