"""The pieces of header stacks that come with the library; read ``compression`` for a small one.

May import the rest of ``headers``, ``records``, ``common`` and ``errors``. Optional libraries are imported when a piece
is made. ``protection`` has the canonical form that signatures and ciphertexts are bound to.
"""

from __future__ import annotations

from kafka_replica.headers.pieces.compression import Compression
from kafka_replica.headers.pieces.content_type import ContentType
from kafka_replica.headers.pieces.encryption import Encryption
from kafka_replica.headers.pieces.encryption_keys import KeyProvider, KeyRing
from kafka_replica.headers.pieces.routing import Hop, RoutingTrail, hops_of
from kafka_replica.headers.pieces.signing import Signing
from kafka_replica.headers.pieces.signing_keys import (
    Ed25519Signer,
    Ed25519Verifier,
    HmacKey,
    SigningKey,
    VerifyingKey,
)
from kafka_replica.headers.pieces.trace_context import TraceContext
from kafka_replica.headers.pieces.usage import Usage, Used

__all__ = [
    "Compression",
    "ContentType",
    "Ed25519Signer",
    "Ed25519Verifier",
    "Encryption",
    "HmacKey",
    "Hop",
    "KeyProvider",
    "KeyRing",
    "RoutingTrail",
    "Signing",
    "SigningKey",
    "TraceContext",
    "Usage",
    "Used",
    "VerifyingKey",
    "hops_of",
]
