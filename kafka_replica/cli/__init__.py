"""The command kafka-replica: thin words over the library.

Commands exit 0 only when they did their job: 1 when it could not be done, 2 when they were called
wrongly, 130 when interrupted before it was done.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from kafka_replica.errors import MissingExtraError


def main(arguments: Sequence[str] | None = None) -> None:
    """The command's entry: runs it, and turns every failure into a sentence and an exit status."""
    try:
        from kafka_replica.cli.run import run  # noqa: PLC0415 - the library may be installed without the commands
    except KeyboardInterrupt:
        sys.exit(130)
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in {"click", "rich"}:
            raise
        sys.exit(f"kafka-replica: {MissingExtraError('the command', 'cli')}")
    sys.exit(run(arguments))
