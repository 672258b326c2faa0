"""The options of a run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

TOPIC = "chaos"


@dataclass(frozen=True)
class Options:
    """The options of a run.

    Attributes:
        seconds: how long faults continue; starting and checking come on top.
        least_commits: faults continue longer, up to two minutes, until so many transactions were committed: for a short
            run on a busy machine.
        least_faults: the same until so many faults were survived.
        seed: what is written, and which faults are drawn, follow from it; when things happen does not.
        brokers: 1, or 3 as a cluster.
        partitions: of the topic.
        boundaries: the replica's argument of that name, if given.
        writers: processes that write.
        replicas: processes that replicate; one more runs inside the harness.
        delete_retention_ms: how long Kafka keeps a tombstone that was compacted. Faults are shorter than the
            default; with a shorter time a replica may sleep through a deletion.
        store: where replicas in processes of their own keep their versions: ``memory``, or ``rocksdb`` in a folder that
            each life takes over from the last one.
        naive: whether the replica is the one that publishes after every poll, which the checker has to find out.
        folder: where histories and records are kept; None for a temporary folder, which stays if something is found.
    """

    seconds: float = 60.0
    least_commits: int = 0
    least_faults: int = 0
    seed: int = 1
    brokers: int = 1
    partitions: int = 1
    boundaries: str | None = None
    writers: int = 4
    replicas: int = 2
    delete_retention_ms: int = 30_000
    store: str = "memory"
    naive: bool = False
    folder: Path | None = None
