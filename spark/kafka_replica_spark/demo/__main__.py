"""``python -m kafka_replica_spark.demo [--keep] [--bootstrap-server HOST:PORT]``."""

from __future__ import annotations

import argparse
import logging
import sys

from kafka_replica.errors import KafkaReplicaError


def main() -> int:
    """Run the demonstration; the exit status is 0 only if every result was as expected."""
    parser = argparse.ArgumentParser(prog="make demo", description=__doc__)
    parser.add_argument("--keep", action="store_true", help="stay up until Ctrl-C")
    parser.add_argument("--bootstrap-server", help="a Kafka that runs already, instead of the embedded one")
    options = parser.parse_args()
    logging.getLogger("kafka_replica").setLevel(logging.CRITICAL)
    try:
        from kafka_replica_spark.demo.story import tell  # noqa: PLC0415 - what it needs may be missing

        tell(bootstrap_server=options.bootstrap_server, keep=options.keep)
    except KafkaReplicaError as error:
        sys.stderr.write(f"demo: {error}\n")
        return 1
    except KeyboardInterrupt:
        return 130
    except OSError as error:
        sys.stderr.write(f"demo: {error.filename or 'the system'}: {error.strerror or error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
