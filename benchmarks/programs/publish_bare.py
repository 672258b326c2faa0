"""A bare transactional loop of confluent-kafka, the baseline for publishing.

    publish_bare BOOTSTRAP TOPIC TRANSACTIONS

TRANSACTIONS is the number per turn. Records and headers are those that the relay sends, with the same settings of
librdkafka. The program reads nothing, records nothing, and has no state after a failure.
"""

from __future__ import annotations

import os
import sys
import time
from itertools import count
from typing import Any

from confluent_kafka import Producer

from benchmarks.programs.structures import TRANSACTION_RECORDS, structures
from benchmarks.programs.turns import take_turns
from kafka_replica.broker.writing.writer import DEFAULTS
from kafka_replica.headers.transactions import TransactionHeaders, transaction_headers_by_number

_NOW_MS = 1_795_291_687_184


def main() -> None:
    """Send transactions in turns."""
    bootstrap, topic, transactions = sys.argv[1], sys.argv[2], int(sys.argv[3])
    producer = Producer({**DEFAULTS, "bootstrap.servers": bootstrap, "transactional.id": topic})
    producer.init_transactions(60)
    numbers = count(1)

    def turn() -> dict[str, Any]:
        todo = [(tx_id, list(structures(tx_id))) for tx_id in (next(numbers) for _ in range(transactions))]
        began_s, began_cpu_s = time.perf_counter(), time.process_time()
        for tx_id, records in todo:
            headers = transaction_headers_by_number(
                TransactionHeaders(f"structures/{tx_id}", 1, TRANSACTION_RECORDS, _NOW_MS)
            )
            producer.begin_transaction()
            for number, (key, value) in enumerate(records, 1):
                producer.produce(topic, key=key, value=value, headers=list(headers(number)))
            producer.commit_transaction(30)
        return {"s": time.perf_counter() - began_s, "cpu_s": time.process_time() - began_cpu_s}

    take_turns(turn)
    os._exit(0)


if __name__ == "__main__":
    main()
