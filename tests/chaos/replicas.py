"""An observed replica: two listeners, one of them slow, and a reader; in this process or in a separate one."""

from __future__ import annotations

import json
import random
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

from chaos.children import Orders
from chaos.history import Journal
from chaos.naive import NaiveReplica
from chaos.plan import all_keys
from chaos.streams import Stream
from kafka_replica import (
    Change,
    KafkaReplicaError,
    Partition,
    Replica,
    RocksStore,
    Snapshot,
    State,
    Status,
    WaitTimeoutError,
)

STALLED_AFTER_S = 3.0


class Watched(Protocol):
    """The parts of a replica that are observed."""

    def start(self) -> object: ...  # noqa: D102 - as Replica says
    def close(self) -> None: ...  # noqa: D102
    def status(self) -> Status: ...  # noqa: D102
    def snapshot(self) -> Snapshot: ...  # noqa: D102
    def wait_for(self, positions: Mapping[Partition, int], timeout_s: float | None = None) -> Snapshot: ...  # noqa: D102
    def subscribe(self, listener: Callable[[Change], object], *, max_pending: int = 100) -> object: ...  # noqa: D102


def make(bootstrap: str, topic: str, boundaries: str | None, *, naive: bool, store: str | None = None) -> Watched:
    """Return a replica with the options of the run; ``store`` is a folder of RocksDB."""
    config: dict[str, Any] = {"bootstrap.servers": bootstrap, "log_level": 0, "reconnect.backoff.max.ms": 500}
    if naive:
        return NaiveReplica(config, topic)
    more: dict[str, Any] = {} if boundaries is None else {"boundaries": boundaries}
    kept = None if store is None else RocksStore(store)
    return Replica(config, topic, kept, stalled_after_s=STALLED_AFTER_S, **more)


class Watch:
    """An observer of a replica from its start to its end, which records its observations.

    Files: ``<name>.<what>.jsonl`` for the streams ``every`` (each version), ``slow`` (a listener that lets versions
    pile up) and ``reads`` (snapshots taken at random, read again later), and ``<name>.end.json``.
    """

    def __init__(
        self, replica: Watched, folder: Path, name: str, writers: int, seed: int, *, slow: bool, resumes: bool = False
    ) -> None:
        keys = all_keys(writers)
        self._replica, self._path = replica, folder / name
        self._dice = random.Random(seed)
        self._ending = threading.Event()
        # Before the replica starts: the content of that time has to be in its first version, unless that is an old one.
        self._every, self._slow, self._reads = (
            Stream(folder / f"{name}.{what}.jsonl", keys, resumes=resumes) for what in ("every", "slow", "reads")
        )
        self._states = Journal(folder / f"{name}.states.jsonl")
        replica.subscribe(self._every.hear, max_pending=1_000_000)
        self._listeners = [self._every]
        if slow:
            replica.subscribe(self._hear_slowly, max_pending=3)
            self._listeners.append(self._slow)
        replica.start()
        self._reader = threading.Thread(target=self._read, name=f"reader of {name}", daemon=True)
        self._reader.start()

    def finish(self, positions: Mapping[Partition, int], timeout_s: float) -> None:
        """Wait until the replica and its listeners have reached these positions; record its last state, and close it.

        Raises:
            KafkaReplicaError: they did not reach them in time, or the replica failed.
        """
        give_up_s = time.monotonic() + timeout_s
        try:
            snapshot = self._replica.wait_for(positions, timeout_s)
            while any(listener.version < snapshot.version for listener in self._listeners):
                if time.monotonic() > give_up_s:
                    raise WaitTimeoutError(f"a listener has not heard of version {snapshot.version} in {timeout_s} s")
                time.sleep(0.02)
            write_end(self._path, end_of(snapshot))
        except KafkaReplicaError as error:
            write_end(self._path, {"error": f"{type(error).__name__}: {error}"})
            raise
        finally:
            self.close()

    def close(self) -> None:
        """End observing."""
        self._ending.set()
        self._reader.join()
        self._replica.close()
        for file in (self._every, self._slow, self._reads, self._states):
            file.close()

    def _hear_slowly(self, change: Change) -> None:
        self._slow.hear(change)
        self._ending.wait(self._dice.uniform(0, 0.5))

    def _read(self) -> None:
        """Take snapshots at random moments; read each again when some newer ones were taken."""
        held: deque[tuple[Snapshot, dict[bytes, Any]]] = deque()
        state: State | None = None
        while not self._ending.wait(self._dice.uniform(0, 0.1)):
            status = self._replica.status()
            if status.state is not state:
                state = status.state
                self._states.write("state", state=str(state), error=status.last_error)
            try:
                snapshot = self._replica.snapshot()
            except KafkaReplicaError:  # not ready, or failed, as its state shows
                continue
            held.append((snapshot, self._reads.look(snapshot)))
            if len(held) > self._dice.randrange(2, 20):
                self._reads.again(*held.popleft())


def end_of(snapshot: Snapshot) -> dict[str, Any]:
    """Return a state as JSON: for each key its bytes, partition and offset."""
    return {
        "version": snapshot.version,
        "state": {
            key.hex(): [(record.value or b"").hex(), record.partition, record.offset]
            for key, record in snapshot.items()
        },
    }


def write_end(path: Path, end: dict[str, Any]) -> None:
    """Write ``<path>.end.json``, completely or not at all."""
    written = path.with_name(f"{path.name}.end.part")
    written.write_text(json.dumps(end), encoding="utf-8")
    written.replace(path.with_name(f"{path.name}.end.json"))


def main() -> int:
    """Run a replica in a separate process, until the harness gives the positions to reach."""
    settings = json.loads(sys.argv[1])
    orders = Orders()
    replica = make(
        settings["bootstrap"], settings["topic"], settings["boundaries"], naive=settings["naive"],
        store=settings["store"],
    )  # fmt: skip
    watch = Watch(
        replica, Path(settings["folder"]), settings["name"], settings["writers"], settings["seed"],
        slow=not settings["naive"], resumes=settings["store"] is not None,
    )  # fmt: skip
    orders.came.wait()
    positions = {Partition(settings["topic"], int(number)): end for number, end in orders.last["positions"].items()}
    try:
        watch.finish(positions, orders.last["timeout_s"])
    except KafkaReplicaError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
