"""A run: brokers, a database, recorders, instances, a replica; faults; the end; the check."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Final

from sqlalchemy import select

from chaos import independent
from chaos.children import Child
from chaos.cluster import Cluster, compacted_hard
from chaos.faults import FaultInjector, FreezeSettings, RestartedChild, Target, broker_targets, child_target
from chaos.history import lines
from chaos.outbox.checker import Flaw, Flaws, check_end, check_log, check_marks, check_versions
from chaos.outbox.expected import expected_of
from chaos.outbox.instance import settings_of
from chaos.outbox.operator import Operator
from chaos.outbox.options import PROGRESS_TOPIC, TOPIC, OutboxOptions
from chaos.outbox.report import OutboxReport
from chaos.outbox.store import Store, count_rows, make_table, opened, read_rows
from chaos.outbox.watch import Watch, read_log
from chaos.run import log_to
from kafka_replica import KafkaReplicaError, Partition
from kafka_replica.errors import BrokerError
from kafka_replica.producer import StructureProducer, TransactionalProducer
from kafka_replica.producer.outbox.tables import tx

_BEGIN_S: Final = 90.0
_LONGER_S: Final = 120.0
_GHOSTS: Final = {"ghost-1": "somebody else's", "ghost-2": "somebody else's"}
# Everything that was written stays, so that the log can be compared with the database.
_KEPT: Final = {"cleanup.policy": "compact", "min.compaction.lag.ms": "86400000"}


def run(options: OutboxOptions, say: Callable[[str], None], say_every_s: float = 5.0) -> OutboxReport:
    """Run, check, and report.

    Raises:
        KafkaReplicaError: the harness itself failed.
    """
    folder = options.folder or Path(tempfile.mkdtemp(prefix="kafka-replica-chaos-"))
    folder.mkdir(parents=True, exist_ok=True)
    report = _Run(options, folder, say, say_every_s).result()
    if options.folder is None and report.exit_status == 0:
        shutil.rmtree(folder)
        return report
    return replace(report, folder=folder)


class _Run:
    def __init__(self, options: OutboxOptions, folder: Path, say: Callable[[str], None], say_every_s: float) -> None:
        self._options, self._folder, self._say, self._say_every_s = options, folder, say, say_every_s
        self._places = [Partition(TOPIC, number) for number in range(options.partitions)]

    def result(self) -> OutboxReport:
        options, flaws = self._options, Flaws()
        with ExitStack() as stack:
            stack.enter_context(log_to(self._folder / "inside.log"))
            self._say(f"starting {options.brokers} broker{'s' * (options.brokers > 1)} and the database")
            store = stack.enter_context(opened(options.database, self._folder))
            if store.remark:
                self._say(store.remark)
            cluster = stack.enter_context(Cluster(options.brokers))
            self._make_topics(cluster)
            watch = Watch(cluster.bootstrap, TOPIC)
            stack.callback(watch.close)
            producer = StructureProducer(settings_of(cluster.bootstrap, store.url))  # controls, and never publishes
            stack.callback(producer.close)
            make_table(producer.engine)
            instances = [self._mortal(stack, self._instance(cluster, store, n)) for n in range(options.instances)]
            recorders = [self._mortal(stack, self._recorder(store, n)) for n in range(options.recorders)]
            operator = Operator(producer)
            stack.callback(operator.close)
            self._wait_for_sent(producer)
            survived = self._inject_faults(cluster, store, producer, operator, [*instances, *recorders])
            self._say("faults are over; what is pending is sent")
            for lives in recorders:
                lives.child.tell({"stop": True})
                lives.child.wait(30)
            if not operator.wait_until_sent(options.settle_s):
                flaws.add(Flaw.FAILED, f"not all is sent {options.settle_s:.0f} s later: {producer.status()}")
            for reason in operator.contradictions:
                flaws.add(Flaw.CONTRADICTED, reason)
            for lives in instances:
                lives.child.tell({"stop": True})
                lives.child.wait(30)
            self._say("checking")
            kinds = self._check(cluster, producer, watch, flaws)
        return OutboxReport(
            options, store.name, flaws, survived, self._notices(), operator.resumed, kinds, store.remark
        )

    # --- parts ---

    def _make_topics(self, cluster: Cluster) -> None:
        cluster.create_topic(TOPIC, self._options.partitions, _KEPT)
        cluster.create_topic(PROGRESS_TOPIC, 1, compacted_hard(200))
        former = TransactionalProducer({"bootstrap.servers": cluster.bootstrap, "log_level": 0}, TOPIC, "somebody else")
        with former.transaction() as transaction:
            for key, value in _GHOSTS.items():
                transaction.put(key, value.encode())

    def _mortal(self, stack: ExitStack, lives: RestartedChild) -> RestartedChild:
        stack.callback(lives.kill)
        return lives

    def _instance(self, cluster: Cluster, store: Store, number: int) -> RestartedChild:
        name = f"instance-{number}"

        def begin(life: int) -> Child:
            journal = str(self._folder / f"{name}.{life}.jsonl")
            arguments = {
                "bootstrap": cluster.bootstrap, "database": store.url, "journal": journal, "wrong": self._options.wrong,
            }  # fmt: skip
            return Child("chaos.outbox.instance", arguments, self._folder / f"{name}.log")

        return RestartedChild(name, begin)

    def _recorder(self, store: Store, number: int) -> RestartedChild:
        name = f"recorder-{number}"

        def begin(life: int) -> Child:
            arguments = {"database": store.url, "seed": f"{self._options.seed} {number} {life}"}
            return Child("chaos.outbox.recorder", arguments, self._folder / f"{name}.log")

        return RestartedChild(name, begin)

    def _wait_for_sent(self, producer: StructureProducer) -> None:
        """Wait until a record was sent, so that there is something to break."""
        give_up_s = time.monotonic() + _BEGIN_S
        while producer.status().sent < 5:
            if time.monotonic() > give_up_s:
                raise BrokerError(f"nothing was sent in {_BEGIN_S:.0f} s; see the logs in {self._folder}")
            time.sleep(0.2)

    def _inject_faults(
        self,
        cluster: Cluster,
        store: Store,
        producer: StructureProducer,
        operator: Operator,
        children: list[RestartedChild],
    ) -> Counter[str]:
        targets = [*broker_targets(cluster), *store.targets, *map(_child_target, children)]
        injector = FaultInjector(targets, self._options.seed, self._struck)
        began_s = time.monotonic()
        injector.start()
        try:
            while injector.error is None and not operator.contradictions:
                past_s = time.monotonic() - began_s
                rest_s = self._rest_s(past_s, injector, producer)
                if rest_s <= 0:
                    break
                time.sleep(min(self._say_every_s, rest_s))
                past_s, faults = time.monotonic() - began_s, injector.survived.total()
                self._say(f"{past_s:.0f} of {self._options.seconds:.0f} s, {faults} faults survived")
        finally:
            injector.stop()
        return injector.survived

    def _rest_s(self, past_s: float, injector: FaultInjector, producer: StructureProducer) -> float:
        options = self._options
        if past_s < options.seconds or past_s > _LONGER_S:
            return options.seconds - past_s
        try:
            few = count_rows(producer.engine) < options.least_recorded
        except Exception:  # noqa: BLE001 - the database is dead at the moment, by whichever error of its driver
            few = options.least_recorded > 0
        return 1.0 if few or injector.survived.total() < options.least_faults else 0.0

    def _struck(self, fault: str) -> None:
        with (self._folder / "faults.log").open("a", encoding="utf-8") as file:
            file.write(f"{time.monotonic():.3f} {fault}\n")

    # --- the end ---

    def _check(self, cluster: Cluster, producer: StructureProducer, watch: Watch, flaws: Flaws) -> Counter[str]:
        decided = independent.wait_decided(cluster.bootstrap, TOPIC, self._options.partitions, 60)
        ends = {place: decided[place.partition] for place in self._places}
        rows = read_rows(producer.engine)
        expected = expected_of(rows, _GHOSTS)
        with producer.engine.connect() as connection:
            found = connection.execute(select(tx.c.tx_id, tx.c.tx_status)).all()
        check_marks(expected, {row.tx_id: row.tx_status for row in found}, flaws)
        check_log(expected, read_log(cluster.bootstrap, TOPIC, ends), flaws)
        fresh = Watch(cluster.bootstrap, TOPIC)
        try:
            for one in (watch, fresh):
                check_end(expected, _GHOSTS, one.finish(ends, 90), flaws)
        except KafkaReplicaError as error:
            flaws.add(Flaw.FAILED, f"a replica did not come to the end: {error}")
        finally:
            fresh.close()
            watch.close()
        check_versions(expected, watch.versions, _GHOSTS, flaws)
        return Counter(row.kind for row in rows)

    def _notices(self) -> Counter[str]:
        files = self._folder.glob("instance-*.jsonl")
        return Counter(line["event"] for path in files for line in lines(path))


def _child_target(lives: RestartedChild) -> Target:
    """Return the durations of freezes, some of them longer than a lease."""
    kind = lives.name.partition("-")[0]
    share = 0.6 if kind == "instance" else 0.3
    # On a busy machine a process takes seconds to start.
    return child_target(
        lives, kind, share, FreezeSettings(0.5, (0.2, 1.0)), FreezeSettings(0.8, (2.5, 5.0)), rest_s=5.0
    )
