"""The brokers of a run, each reachable directly, and behind a proxy for replicas."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Self

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient, NewTopic

from chaos.proxy import Network, Proxy
from kafka_replica.embedded import LocalKafka
from kafka_replica.embedded.ports import choose_port
from kafka_replica.errors import BrokerError, KafkaReplicaError

_HOST = "127.0.0.1"
_CLUSTER_ID = "Y2hhb3MtY2hhb3MtY2hhbw"
_START_S = 120.0

_RESTLESS = {
    "log.cleaner.backoff.ms": 50,
    # A writer that hangs is aborted soon after its timeout.
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": 500,
}
_OF_THREE = {
    "default.replication.factor": 3,
    "min.insync.replicas": 2,
    "offsets.topic.replication.factor": 3,
    "transaction.state.log.replication.factor": 3,
    "transaction.state.log.min.isr": 2,
    "replica.lag.time.max.ms": 3_000,
}


def compacted_hard(delete_retention_ms: int) -> dict[str, str]:
    """Return the settings of a topic that is compacted as aggressively as Kafka allows."""
    return {
        "cleanup.policy": "compact",
        "segment.ms": "100",
        "segment.bytes": str(1 << 20),
        "min.cleanable.dirty.ratio": "0",
        "min.compaction.lag.ms": "0",
        "max.compaction.lag.ms": "100",
        "delete.retention.ms": str(delete_retention_ms),
        "file.delete.delay.ms": "1000",
    }


class Cluster:
    """The brokers of a run: one, or three with everything replicated three times.

    Args:
        brokers: 1 or 3.
        make_proxy: makes the proxy in front of a broker, of the port to listen on and the one it leads to.

    Attributes:
        brokers: the brokers, to be killed and frozen.
        network: the proxies in front of them, in the same order.
    """

    def __init__(self, brokers: int, make_proxy: Callable[[int, int], Proxy] = Proxy) -> None:
        ports: list[int] = []
        while len(ports) < 4 * brokers:
            ports.append(choose_port(but=tuple(ports)))
        places = [ports[at : at + 4] for at in range(0, len(ports), 4)]
        voters = ",".join(f"{number}@{_HOST}:{place[1]}" for number, place in enumerate(places, 1))
        self.brokers = [_broker(number, place, voters, brokers) for number, place in enumerate(places, 1)]
        self.network = Network([(behind, before) for _, _, before, behind in places], make_proxy)
        self.bootstrap = ",".join(f"{_HOST}:{place[0]}" for place in places)
        self.proxied_bootstrap = ",".join(f"{_HOST}:{place[3]}" for place in places)

    def __enter__(self) -> Self:
        """Start the brokers and proxies.

        Raises:
            KafkaReplicaError: a broker did not come up.
        """
        self.network.start()
        try:
            at_once([broker.start for broker in self.brokers], "starting the brokers")
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop; no data is kept."""
        at_once([broker.stop for broker in self.brokers], "stopping the brokers")
        self.network.stop()

    def create_topic(self, topic: str, partitions: int, settings: dict[str, str], replication_factor: int = -1) -> None:
        """Create the topic, by default with a replica of each partition on every broker.

        Raises:
            BrokerError: Kafka refused.
        """
        admin = AdminClient({"bootstrap.servers": self.bootstrap, "log_level": 0})
        new = NewTopic(topic, num_partitions=partitions, replication_factor=replication_factor, config=settings)
        try:
            admin.create_topics([new], operation_timeout=30)[topic].result(60)
        except KafkaException as error:
            raise BrokerError(f"creating topic {topic}: {error}; correct its settings in chaos.cluster") from error


def at_once(tasks: Iterable[Callable[[], object]], doing: str) -> None:
    """Run several functions at the same time, because brokers of a cluster wait for each other.

    Raises:
        KafkaReplicaError: the error of the first function that failed.
    """
    errors: list[KafkaReplicaError] = []

    def run(task: Callable[[], object]) -> None:
        try:
            task()
        except KafkaReplicaError as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(task,), name=doing) for task in tasks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def _broker(number: int, place: list[int], voters: str, brokers: int) -> LocalKafka:
    """A broker with one listener for all, and another (``BEHIND``) that advertises the proxy's address to clients."""
    client, controller, behind, proxy = place
    return LocalKafka(
        port=client,
        heap_mb=256 if brokers == 1 else 192,
        start_timeout_s=_START_S,
        # All brokers share one id; LocalKafka would give each its own.
        format_options=["--cluster-id", _CLUSTER_ID],
        settings={
            **_RESTLESS,
            **(_OF_THREE if brokers > 1 else {}),
            "node.id": number,
            "controller.quorum.voters": voters,
            "listeners": f"PLAINTEXT://{_HOST}:{client},CONTROLLER://{_HOST}:{controller},BEHIND://{_HOST}:{behind}",
            "advertised.listeners": f"PLAINTEXT://{_HOST}:{client},BEHIND://{_HOST}:{proxy}",
            "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,BEHIND:PLAINTEXT",
            "inter.broker.listener.name": "PLAINTEXT",
        },
    )
