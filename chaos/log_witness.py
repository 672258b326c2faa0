"""What the log itself said: every batch and every marker, as they stood there before compaction.

A producer without KIP-890's bump of the epoch (librdkafka's, so far) gives all its transactions one epoch. A request of
it to commit that a broker finds late, after a freeze or a restart, and that the producer had sent again meanwhile, then
commits whatever its *next* transaction has written by that time. Kafka answers without an error, and the producer's own
commit ends the rest: Kafka itself has cut the transaction in two. No reader can know. This tells such a cut from
one that a replica made.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from chaos.history import History, Journal, Outcome, lines
from chaos.writers import BY
from kafka_replica.broker.markers import MarkerReader
from kafka_replica.cuts import Batch, Kind
from kafka_replica.errors import BrokerUnavailableError

_log = logging.getLogger(__name__)
_PAUSE_S, _TRIES = 0.1, 100


class LogWitness:
    """Reads the batches of a topic, straight from its brokers, until closed, and writes them down."""

    def __init__(self, bootstrap: str, topic: str, path: Path) -> None:
        self._reader = MarkerReader({"bootstrap.servers": bootstrap}, [topic])
        self._open()
        self._journal = Journal(path)
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._read, name="witness of the log", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Ends."""
        self._closing.set()
        self._thread.join()
        self._reader.close()
        self._journal.close()

    def _open(self) -> None:
        """Waits for leaders of a topic that was made just now."""
        for _ in range(_TRIES):
            try:
                self._reader.open()
            except BrokerUnavailableError:
                time.sleep(_PAUSE_S)
            else:
                return
        self._reader.open()

    def _read(self) -> None:
        while not self._closing.is_set():
            try:
                batches = self._reader.read(0.1).reading.batches
            except BrokerUnavailableError:
                self._closing.wait(_PAUSE_S)
                continue
            except Exception:  # noqa: BLE001 - whatever it is: the run goes on without
                _log.exception("the log is not witnessed any more")
                return
            for batch in batches:
                self._journal.write("batch", **_facts(batch))


def _facts(batch: Batch) -> dict[str, Any]:
    records = [(record[4], record[3]) for record in batch.content.records()]
    return {
        "partition": batch.partition.partition,
        "offsets": [batch.first, batch.end],
        "kind": batch.kind.name,
        "producer": [batch.producer_id, batch.producer_epoch],
        "by": sorted({(value or b"").decode() for headers, _ in records for name, value in headers if name == BY}),
        "at_ms": max((at_ms for _, at_ms in records), default=0),
    }


def cut_by_kafka(path: Path, history: History) -> dict[str, str]:
    """Transactions that Kafka cut in two, or committed though nobody asked it to; by name, with what shows it.

    A transaction's first commit marker is written after all its records: where a record is younger than a marker that
    counts for others of the same transaction, that marker was not meant for it. All clocks here are one.
    """
    committed: dict[str, dict[str, Any]] = {}
    youngest: dict[str, dict[str, Any]] = {}
    for line, names in _marked(path):
        for name in names:
            if line["kind"] == Kind.DATA.name:
                if name not in youngest or youngest[name]["at_ms"] < line["at_ms"]:
                    youngest[name] = line
            elif name not in committed or committed[name]["at_ms"] > line["at_ms"]:
                committed[name] = line
    cut = {}
    for name, marker in committed.items():
        late, written = youngest[name], history.find(name)
        if late["at_ms"] > marker["at_ms"]:
            early_ms = late["at_ms"] - marker["at_ms"]
            cut[name] = f"committed at {_place(marker)}, {early_ms} ms before its record at {_place(late)}"
        elif written is None or written.outcome is Outcome.ABORTED:
            cut[name] = f"committed at {_place(marker)}, and nobody had asked for it"
    return cut


def _marked(path: Path) -> Iterator[tuple[dict[str, Any], list[str]]]:
    """Each line of data with its transactions, and each commit marker with those that it ends there."""
    open_there: dict[tuple[int, int], set[str]] = defaultdict(set)
    for line in lines(path):
        place = line["partition"], line["producer"][0]
        if line["kind"] == Kind.DATA.name:
            open_there[place].update(line["by"])
            yield line, line["by"]
            continue
        ended = open_there.pop(place, set())
        if line["kind"] == Kind.COMMIT.name:
            yield line, sorted(ended)


def _place(line: dict[str, Any]) -> str:
    return f"{line['partition']}@{line['offsets'][0]}"
