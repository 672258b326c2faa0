"""``python -m kafka_replica_spark.demo [--keep] [--bootstrap-server HOST:PORT]``."""

from __future__ import annotations

import argparse
import sys

from kafka_replica.demo.running import run_demo


def main() -> int:
    """Run the demonstration; return the exit status, which is 0 only if every result was as expected."""
    parser = argparse.ArgumentParser(prog="make demo", description=__doc__)
    parser.add_argument("--keep", action="store_true", help="stay up until Ctrl-C")
    parser.add_argument("--bootstrap-server", help="use this Kafka instead of the embedded broker")
    options = parser.parse_args()

    def demo() -> None:
        # Imported here, because its dependencies may be missing.
        from kafka_replica_spark.demo.structures_demo import run_structures_demo  # noqa: PLC0415

        run_structures_demo(bootstrap_server=options.bootstrap_server, keep=options.keep)

    return run_demo(demo)


if __name__ == "__main__":
    sys.exit(main())
