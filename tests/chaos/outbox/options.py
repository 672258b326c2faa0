"""The options of a run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

TOPIC, PROGRESS_TOPIC, PRODUCER_ID = "chaos", "chaos.progress", "chaos"


@dataclass(frozen=True)
class OutboxOptions:
    """The options of a run.

    Attributes:
        seconds: how long faults continue.
        least_recorded: faults continue longer, up to two minutes, until so many transactions were recorded.
        least_faults: the same until so many faults were survived.
        seed: which faults are drawn, and what is recorded, follow from it; when things happen does not.
        brokers: 1, or 3 as a cluster.
        partitions: of the topic.
        instances: of the producer, on one configuration.
        recorders: processes that record.
        database: ``postgresql``, ``sqlite``, or ``auto``: PostgreSQL if it is found.
        wrong: a rule that the producer breaks on purpose; see ``wrong.WAYS``.
        settle_s: how long the producer may take to send what is left when faults are over.
        folder: where everything is kept; None for a temporary folder, which stays if something is found.
    """

    seconds: float = 60.0
    least_recorded: int = 0
    least_faults: int = 0
    seed: int = 1
    brokers: int = 1
    partitions: int = 1
    instances: int = 2
    recorders: int = 2
    database: str = "auto"
    wrong: str | None = None
    settle_s: float = 150.0
    folder: Path | None = None
