"""A record of the log itself: every batch and every marker, as they were before compaction.

Kafka itself may tear a transaction, and no reader can know. This record distinguishes such a transaction from one that
a replica tore. Two cases were seen on Kafka 4.3:

* *A late request.* A producer without KIP-890's epoch bump (librdkafka's, so far) uses one epoch for all its
  transactions. If a commit request reaches a broker late, after a freeze, and the producer has retried it meanwhile,
  it commits whatever the *next* transaction has written by then. Kafka answers without an error.
* *Missing markers.* A broker that was killed and restarted learns, when its old session expires, that its partitions
  have no leader. A transaction that was committed just before, and acknowledged, then gets no markers in those ("likely
  deleted already and hence can be skipped", says the broker's log). Its records there share the fate of what its
  producer writes next: aborted with it, or committed with it.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import defaultdict
from pathlib import Path
from typing import Any, TypeAlias

from chaos.history import History, Journal, Outcome, lines
from chaos.writers import BY
from kafka_replica.broker.reading.marker_reader import MarkerReader
from kafka_replica.errors import BrokerUnavailableError, TopicNotFoundError
from kafka_replica.transactions import Batch, Kind

Line: TypeAlias = dict[str, Any]

_log = logging.getLogger(__name__)
_PAUSE_S, _PATIENCE_S = 0.1, 60.0


class LogWitness:
    """A recorder of the batches of a topic, read directly from its brokers until closed."""

    def __init__(self, bootstrap: str, topic: str, path: Path) -> None:
        self._reader = MarkerReader({"bootstrap.servers": bootstrap}, [topic])
        self._open()
        self._journal = Journal(path)
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._read, name="witness of the log", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the recording."""
        self._closing.set()
        self._thread.join()
        self._reader.close()
        self._journal.close()

    def _open(self) -> None:
        """Wait until the brokers know a newly created topic, and it has leaders."""
        give_up_s = time.monotonic() + _PATIENCE_S
        while True:
            try:
                self._reader.open()
            except (BrokerUnavailableError, TopicNotFoundError):
                if time.monotonic() > give_up_s:
                    self._reader.close()
                    raise
                time.sleep(_PAUSE_S)
            else:
                return

    def _read(self) -> None:
        while not self._closing.is_set():
            try:
                batches = self._reader.read(0.1).reading.batches
            except BrokerUnavailableError:
                self._closing.wait(_PAUSE_S)
                continue
            except Exception:  # noqa: BLE001 - whatever it is: the run continues without
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
    """Return transactions that Kafka tore, or ended in another way than acknowledged; by name, with the proof."""
    ends = _Ends()
    for line in lines(path):
        ends.take(line)
    verdicts = ((name, ends.verdict(name, history)) for name in ends.youngest)
    return {name: verdict for name, verdict in verdicts if verdict is not None}


class _Ends:
    """Return where the parts of each transaction end, by what ended them."""

    def __init__(self) -> None:
        self.youngest: dict[str, Line] = {}  # the last data line of each transaction
        self._open: dict[tuple[int, int], dict[str, Line]] = defaultdict(dict)
        self._commits: dict[str, list[Line]] = defaultdict(list)
        self._aborts: dict[str, list[Line]] = defaultdict(list)
        self._foreign: dict[str, Line] = {}  # a marker that belonged to another transaction

    def take(self, line: Line) -> None:
        """Handle the next batch or marker, in the order of each partition."""
        place = line["partition"], line["producer"][0]
        if line["kind"] == Kind.DATA.name:
            for name in line["by"]:
                self._open[place][name] = line
                self.youngest[name] = max(self.youngest.get(name, line), line, key=_at_ms)
            return
        ended = list(self._open.pop(place, ()))
        self._foreign.update(dict.fromkeys(ended[:-1], line))
        for name in ended:
            (self._commits if line["kind"] == Kind.COMMIT.name else self._aborts)[name].append(line)

    def verdict(self, name: str, history: History) -> str | None:
        """Return what is wrong with how a transaction ended, or None."""
        written, late = history.find(name), self.youngest[name]
        commits, aborts = self._commits[name], self._aborts[name]
        if name in self._foreign:
            return f"it got no marker of its own before {_place(self._foreign[name])}"
        if commits and aborts:
            return f"committed at {_place(commits[0])}, and aborted at {_place(aborts[0])}"
        if aborts and written is not None and written.outcome is Outcome.COMMITTED:
            return f"aborted at {_place(aborts[0])}, after Kafka had said that it was committed"
        if commits and (early := min(commits, key=_at_ms))["at_ms"] < late["at_ms"]:
            early_ms = late["at_ms"] - early["at_ms"]
            return f"committed at {_place(early)}, {early_ms} ms before its record at {_place(late)}"
        if commits and (written is None or written.outcome is Outcome.ABORTED):
            return f"committed at {_place(commits[0])}, and nobody had asked for it"
        return None


def _at_ms(line: Line) -> int:
    """Compare times of the one clock of all files: a transaction's markers are younger than all its records."""
    return int(line["at_ms"])


def _place(line: Line) -> str:
    return f"{line['partition']}@{line['offsets'][0]}"
