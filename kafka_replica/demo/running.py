"""Run a demonstration from the command line."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable

from kafka_replica.errors import KafkaReplicaError


def run_demo(demo: Callable[[], None]) -> int:
    """Run a demonstration; return the exit status, which is 0 only if every result was as expected."""
    logging.getLogger("kafka_replica").setLevel(logging.CRITICAL)
    try:
        demo()
    except KafkaReplicaError as error:
        sys.stderr.write(f"demo: {error}\n")
        return 1
    except KeyboardInterrupt:
        return 130
    except OSError as error:
        sys.stderr.write(f"demo: {error.filename or 'the system'}: {error.strerror or error}\n")
        return 1
    return 0
