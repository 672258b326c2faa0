"""The cost of a header stack for a reader: an empty one for a whole bootstrap, and each piece for a record.

    headers BOOTSTRAP TOPIC TURNS RECORDS

The bootstraps without a stack and with an empty one take turns in this process; the least processor time of each
counts. Each piece then undoes records with
values of 1 KB of JSON, without a broker; the processor time of the best of three passes counts.
"""

from __future__ import annotations

import gc
import json
import sys
import time
from collections.abc import Mapping

from benchmarks.programs.common import key_of, tell
from kafka_replica import Replica
from kafka_replica.headers import Stack
from kafka_replica.headers.pieces import (
    Compression,
    ContentType,
    Ed25519Signer,
    Encryption,
    HmacKey,
    KeyRing,
    RoutingTrail,
    Signing,
    TraceContext,
)

_PASSES = 3
_TOPIC = "bench"
_JSON = "application/json"


def _bootstrap_s(bootstrap: str, topic: str, stack: Stack | None) -> float:
    gc.collect()
    began_s = time.process_time()  # other programs on the machine do not count
    with Replica({"bootstrap.servers": bootstrap}, topic, header_stack=stack) as replica:
        replica.wait_ready(300)
        return time.process_time() - began_s


def stacks() -> Mapping[str, Stack]:
    """Return the stacks to measure, by the end of their figure's name."""
    types = ContentType({_JSON: json.loads}, default=_JSON)
    signing = Signing(HmacKey("hmac-1", bytes(32)))
    encryption = Encryption(KeyRing({"aes-1": bytes(32)}))
    alone = {
        "content_type": types,
        "gzip": Compression("gzip"),
        "zstd": Compression("zstd"),
        "lz4": Compression("lz4"),
        "encryption": encryption,
        "hmac": signing,
        "ed25519": Signing(Ed25519Signer("ed-1", bytes(32))),
        "routing": RoutingTrail("bench", "bench", "bench"),
        "trace": TraceContext(),
    }
    together = Stack([types, Compression("zstd"), encryption, signing])
    return {**{name: Stack([piece]) for name, piece in alone.items()}, "together": together}


def _value(number: int) -> bytes:
    items = [{"id": f"C{number % 97}{item}", "name": f"Code {number * item % 8191}"} for item in range(24)]
    return json.dumps(items).encode()


def _records_per_s(stack: Stack, records: int) -> float:
    keys = [key_of(number) for number in range(records)]
    written = [stack.outgoing(key, _value(number), topic=_TOPIC) for number, key in enumerate(keys)]
    best_s = float("inf")
    for _ in range(_PASSES):
        began_s = time.thread_time()
        for key, (value, headers) in zip(keys, written, strict=True):
            stack.incoming(key, value, headers, topic=_TOPIC)
        best_s = min(best_s, time.thread_time() - began_s)
    return records / best_s


def main() -> None:
    """Measure, and print the ratio of the bootstraps and the records per second of each piece."""
    bootstrap, topic, turns, records = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    without_s, empty_s = float("inf"), float("inf")
    _bootstrap_s(bootstrap, topic, None)  # the first one also imports, and allocates memory
    for _ in range(turns):
        without_s = min(without_s, _bootstrap_s(bootstrap, topic, None))
        empty_s = min(empty_s, _bootstrap_s(bootstrap, topic, Stack()))
    rates = {name: _records_per_s(stack, records) for name, stack in stacks().items()}
    tell(what="header stacks", without_s=without_s, empty=empty_s / without_s, rates=rates)


if __name__ == "__main__":
    main()
