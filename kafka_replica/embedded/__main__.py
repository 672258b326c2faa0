"""``python -m kafka_replica.embedded fetch``: prepare everything before the first start."""

from __future__ import annotations

import argparse
import sys

from kafka_replica.embedded.class_archive import class_archive_options
from kafka_replica.embedded.faststart import format_template
from kafka_replica.embedded.install import ensure_kafka
from kafka_replica.embedded.java import find_java
from kafka_replica.embedded.lockfile import KAFKA_VERSION
from kafka_replica.errors import KafkaReplicaError


def main() -> int:
    """Fetch Kafka and prepare a quick start; return 0 if everything is ready."""
    parser = argparse.ArgumentParser(prog="python -m kafka_replica.embedded")
    commands = parser.add_subparsers(required=True, metavar="fetch")
    commands.add_parser("fetch", help=f"fetch Apache Kafka {KAFKA_VERSION} into the cache, unless it is there")
    parser.parse_args()
    try:
        java = find_java()
        print(f"Java {java.version} from {java.source}: {java.path}")
        kafka = ensure_kafka(_say)
        format_template(java, kafka)
        class_archive_options(java, kafka, _say)
    except KafkaReplicaError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted; incomplete downloads are not used, so you can start again at any time", file=sys.stderr)
        return 130
    how = f"{kafka.download_count} jars fetched" if kafka.download_count else "in the cache already"
    print(f"Apache Kafka {KAFKA_VERSION} is ready in {kafka.folder} ({how})")
    return 0


def _say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main())
