"""A process that reads one data file within limits of memory, and prints the outcome as JSON.

    python -m support.datasets.hostile_reader KIND FILE

The outcome is the number of rows, or the class and message of the error. Anything else than an error of the package
ends the process with its traceback.
"""

from __future__ import annotations

import json
import resource
import sys
from pathlib import Path

from fuzz.data_files import rules_of_samples
from kafka_replica.data.jobs import Source, ValidationJob
from kafka_replica.errors import KafkaReplicaError
from support.datasets.whole_input import whole_input
from support.memory import peak_bytes

_MOST_BYTES = 3 << 30


def _main(kind: str, file: str) -> None:
    rules = rules_of_samples()
    before = peak_bytes()
    resource.setrlimit(resource.RLIMIT_DATA, (_MOST_BYTES, _MOST_BYTES))
    outcome: dict[str, object]
    try:
        source = Source(kind, file)  # type: ignore[arg-type]
        outcome = {"rows": whole_input(ValidationJob(sources=(source,), rules=rules, out=Path()))[1].height}
    except KafkaReplicaError as error:
        outcome = {"error": type(error).__name__, "message": str(error)[:2000], "length": len(str(error))}
    outcome["megabytes"] = (peak_bytes() - before) >> 20
    sys.stdout.write(json.dumps(outcome) + "\n")


if __name__ == "__main__":
    _main(*sys.argv[1:])
