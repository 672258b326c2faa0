"""A run: brokers, writers, replicas; faults; the end; the check."""

from __future__ import annotations

import logging
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from chaos import independent
from chaos.checker import INDEPENDENT, check
from chaos.cluster import Cluster, compacted_hard
from chaos.crew import ProcessFactory, writer_name
from chaos.faults import (
    FaultInjector,
    FreezeSettings,
    RestartedChild,
    Target,
    broker_targets,
    child_target,
    network_targets,
)
from chaos.history import History, lines
from chaos.log_witness import LogWitness, cut_by_kafka
from chaos.options import TOPIC, Options
from chaos.replicas import Watch, write_end
from chaos.report import Report
from chaos.witness import Witness, shown_though_aborted
from chaos.writers import TRANSACTION_TIMEOUT_MS
from kafka_replica import KafkaReplicaError, Partition
from kafka_replica.errors import BrokerError

_END_S = 60.0
_BEGIN_S = 60.0
_LONGER_S = 120.0


def run(options: Options, say: Callable[[str], None], say_every_s: float = 5.0) -> Report:
    """Run, check, and report.

    Args:
        options: the options of the run.
        say: called with one line of progress now and then.
        say_every_s: the interval, while faults continue.

    Raises:
        KafkaReplicaError: the harness itself failed, for example because a broker did not come up again.
    """
    folder = options.folder or Path(tempfile.mkdtemp(prefix="kafka-replica-chaos-"))
    folder.mkdir(parents=True, exist_ok=True)
    try:
        report = _Run(options, folder, say, say_every_s).result()
    except KeyboardInterrupt:
        if options.folder is None:
            shutil.rmtree(folder)
        raise
    if options.folder is None and report.exit_status == 0:
        shutil.rmtree(folder)
        return report
    return replace(report, folder=folder)


@contextmanager
def log_to(path: Path) -> Iterator[None]:
    """Log messages of the inner replica to a file, not to the screen."""
    log, handler = logging.getLogger("kafka_replica"), logging.FileHandler(path)
    log.addHandler(handler)
    try:
        yield
    finally:
        log.removeHandler(handler)
        handler.close()


def _mortal(stack: ExitStack, lives: RestartedChild) -> RestartedChild:
    """A process that does not outlive the run."""
    stack.callback(lives.kill)
    return lives


class _Run:
    def __init__(self, options: Options, folder: Path, say: Callable[[str], None], say_every_s: float) -> None:
        self._options, self._folder, self._say, self._say_every_s = options, folder, say, say_every_s
        self._journals = [folder / f"{writer_name(number)}.jsonl" for number in range(options.writers)]

    def result(self) -> Report:
        options = self._options
        self._say(f"starting {options.brokers} broker{'s' * (options.brokers > 1)}")
        with ExitStack() as stack:
            stack.enter_context(log_to(self._folder / "inside.log"))
            cluster = stack.enter_context(Cluster(options.brokers))
            cluster.create_topic(TOPIC, options.partitions, compacted_hard(options.delete_retention_ms))
            path = self._folder / "witness.jsonl"
            stack.callback(Witness(cluster.proxied_bootstrap, TOPIC, options.partitions, path).close)
            log = self._folder / "log.jsonl"
            stack.callback(LogWitness(cluster.bootstrap, TOPIC, log).close)
            crew = ProcessFactory(options, self._folder, cluster)
            inside = crew.watch("inside")
            stack.callback(inside.close)
            writers = [_mortal(stack, crew.writer(number)) for number in range(options.writers)]
            replicas = [_mortal(stack, crew.replica(number)) for number in range(options.replicas)]
            self._wait_for_commits()
            survived = self._inject_faults(cluster, writers, replicas)
            self._say("faults are over; writers end")
            self._end_writers(writers)
            ends = independent.wait_decided(
                cluster.bootstrap, TOPIC, options.partitions, _END_S, abort_after_s=3 * TRANSACTION_TIMEOUT_MS / 1000
            )
            self._say("replicas come to the end")
            self._end_replicas(crew, inside, replicas, ends)
            found = independent.read(cluster.bootstrap, TOPIC, options.partitions)
            write_end(self._folder / INDEPENDENT, found)
        self._say("checking")
        history = History.read(self._journals)
        position = cut_by_kafka(log, history)
        findings = check(self._folder, history, frozenset(position))
        lives = len(list(self._folder.glob("*.states.jsonl")))
        written = sum(ends.values())
        aborted = shown_though_aborted(path, history)
        return Report(
            options, history, findings, survived, self._states(), lives, written, found["records"], aborted, position
        )

    def _wait_for_commits(self) -> None:
        """Wait until every writer has committed, so that there is something to break."""
        give_up_s = time.monotonic() + _BEGIN_S
        for path in self._journals:
            while not (path.exists() and any(line["event"] == "committed" for line in lines(path))):
                if time.monotonic() > give_up_s:
                    raise BrokerError(f"{path.stem} committed nothing in {_BEGIN_S:.0f} s; see its log beside {path}")
                time.sleep(0.1)

    def _inject_faults(
        self, cluster: Cluster, writers: list[RestartedChild], replicas: list[RestartedChild]
    ) -> Counter[str]:
        targets: list[Target] = [
            *broker_targets(cluster),
            *network_targets(cluster.network, self._options.brokers),
            *_frozen_at_times(writers, "writer", TRANSACTION_TIMEOUT_MS / 1000),
            *_frozen_at_times(replicas, "replica", 6.0),
        ]
        injector = FaultInjector(targets, self._options.seed, self._struck)
        began_s = time.monotonic()
        injector.start()
        try:
            while (rest_s := self._rest_s(time.monotonic() - began_s, injector)) > 0 and injector.error is None:
                time.sleep(min(self._say_every_s, rest_s))
                past_s, faults = time.monotonic() - began_s, injector.survived.total()
                self._say(f"{past_s:.0f} of {self._options.seconds:.0f} s, {faults} faults survived")
        finally:
            injector.stop()
        return injector.survived

    def _rest_s(self, past_s: float, injector: FaultInjector) -> float:
        """Return how long faults continue from here."""
        options = self._options
        if past_s < options.seconds or past_s > _LONGER_S:
            return options.seconds - past_s
        few = len(self._committed()) < options.least_commits or injector.survived.total() < options.least_faults
        return 1.0 if few else 0.0

    def _committed(self) -> list[Any]:
        return [line for path in self._journals for line in lines(path) if line["event"] == "committed"]

    def _struck(self, fault: str) -> None:
        with (self._folder / "faults.log").open("a", encoding="utf-8") as file:
            file.write(f"{time.monotonic():.3f} {fault}\n")

    def _end_writers(self, writers: list[RestartedChild]) -> None:
        """Let every writer end by itself, so that nothing stays open; a writer that cannot is restarted to clean up."""
        for writer in writers:
            writer.child.tell({"stop": True})
        give_up_s = time.monotonic() + _END_S
        for writer in writers:
            while not writer.child.wait(max(0.1, give_up_s - time.monotonic())) or writer.child.exit_status:
                if time.monotonic() > give_up_s:
                    raise BrokerError(f"{writer.name} did not end in {_END_S:.0f} s; see its log in {self._folder}")
                writer.begin_anew()
                writer.child.tell({"stop": True})

    def _end_replicas(
        self, crew: ProcessFactory, inside: Watch, replicas: list[RestartedChild], ends: dict[int, int]
    ) -> None:
        for replica in replicas:
            replica.child.tell({"positions": ends, "timeout_s": _END_S})
        positions = {Partition(TOPIC, number): end for number, end in ends.items()}
        for watch in (inside, crew.watch("fresh")):
            try:
                watch.finish(positions, _END_S)
            except KafkaReplicaError as error:
                self._say(f"a replica did not come to the end: {error}")
        for replica in replicas:
            if not replica.child.wait(_END_S):
                write_end(self._folder / f"{replica.name}.{replica.life}", {"error": "it does not end"})
                replica.child.kill()
            elif not (self._folder / f"{replica.name}.{replica.life}.end.json").exists():
                write_end(self._folder / f"{replica.name}.{replica.life}", {"error": "it ended, see its log"})

    def _states(self) -> Counter[str]:
        files = self._folder.glob("*.states.jsonl")
        return Counter(line["state"] for path in files for line in lines(path) if line["event"] == "state")


def _frozen_at_times(children: list[RestartedChild], kind: str, too_long_s: float) -> list[Target]:
    """Return the durations of freezes, few of them long enough for a timeout."""
    shortly, too_long = FreezeSettings(1.0, (0.2, 3.0)), FreezeSettings(0.1, (too_long_s, too_long_s + 2))
    return [child_target(child, kind, 1 / len(children), shortly, too_long) for child in children]
