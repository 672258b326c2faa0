"""Pieces with fixed keys, and every order in which they can be stacked."""

from __future__ import annotations

import json
from functools import cache
from itertools import permutations

from kafka_replica import ConfigurationError
from kafka_replica.headers import Piece, Stack
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

HMAC = HmacKey("hmac-1", bytes(range(32)))
ED25519 = Ed25519Signer("ed-1", bytes(range(1, 33)))
KEYS = KeyRing({"aes-1": bytes(range(2, 34)), "aes-2": bytes(range(3, 35))}, current="aes-2")


def as_json(value: object) -> bytes:
    """Return a value as JSON in UTF-8."""
    return json.dumps(value).encode()


def all_pieces() -> list[Piece]:
    """Return one piece of each kind."""
    return [
        ContentType({"application/json": json.loads, "application/octet-stream": bytes}, default="application/json"),
        Compression("zstd", min_bytes=0),
        Encryption(KEYS, bind_topic=True),
        Signing(ED25519, accepts=[HMAC], headers=["mine"], bind_topic=True),
        RoutingTrail("registry-1", "PostgreSQL", "eu"),
        TraceContext(),
    ]


@cache
def valid_orders() -> list[Stack]:
    """Return a stack for each possible order of all pieces."""
    found = []
    for order in permutations(all_pieces()):
        try:
            found.append(Stack(order))
        except ConfigurationError:
            continue
    return found
