"""An instance of the producer in a separate process, which records its notices."""

from __future__ import annotations

import json
import logging
import sys
import time
from pathlib import Path

from chaos.children import Orders
from chaos.history import Journal
from chaos.outbox.options import PRODUCER_ID, PROGRESS_TOPIC, TOPIC
from chaos.outbox.wrong import WAYS
from kafka_replica.producer import ProducerSettings, StructureProducer
from kafka_replica.producer.errors import OutboxError
from kafka_replica.producer.notices.notices import Notice, Retry, Suspension, Takeover

LEASE_S = 2.0


def settings_of(bootstrap: str, database: str) -> ProducerSettings:
    """Settings for a fast takeover, running from the start."""
    kafka = {
        "bootstrap.servers": bootstrap, "log_level": 0, "reconnect.backoff.max.ms": 500, "socket.timeout.ms": 5_000,
        "transaction.timeout.ms": 10_000,
    }  # fmt: skip
    return ProducerSettings(
        TOPIC, kafka, database, id=PRODUCER_ID, progress_topic=PROGRESS_TOPIC, first_start="resume", lease_s=LEASE_S,
        poll_s=0.02, timeout_s=10.0,
    )  # fmt: skip


def main() -> None:
    """Publish, or stand by, until the harness ends the process."""
    logging.Formatter.formatTime = lambda *_: f"{time.monotonic():.3f}"  # type: ignore[method-assign]  # as faults.log
    logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s", stream=sys.stderr)
    logging.getLogger("kafka_replica").setLevel(logging.INFO)
    arguments = json.loads(sys.argv[1])
    orders, journal = Orders(), Journal(Path(arguments["journal"]))

    def tell(notice: Notice) -> None:
        if isinstance(notice, (Takeover, Retry, Suspension)):
            journal.write(type(notice).__name__, **notice._asdict())

    kind = WAYS[arguments["wrong"]] if arguments["wrong"] else StructureProducer
    settings = settings_of(arguments["bootstrap"], arguments["database"])
    producer: StructureProducer | None = None
    while producer is None:
        try:
            producer = kind(settings, observers=[tell])
        except OutboxError as error:  # started again until the database is available, as a service manager would do
            sys.stderr.write(f"{error}\n")
            if orders.came.wait(0.5):
                return
    with producer:
        orders.came.wait()


if __name__ == "__main__":
    main()
