"""The pieces of header stacks that come with the library; read ``compression`` for a small one.

This package may import the rest of ``headers``, ``records``, ``common`` and ``errors``. Optional libraries are imported
when a piece is created. ``protection`` has the canonical form to which signatures and ciphertexts are bound.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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
from kafka_replica.headers.pieces.usage import OriginUsage, Usage
from kafka_replica.headers.pieces.version_spans import VersionSpans

if TYPE_CHECKING:
    from kafka_replica.headers.pieces.schema_cache import CachedRegistryClient
    from kafka_replica.headers.pieces.schemas import RegistrySchemas

__all__ = [
    "CachedRegistryClient",
    "Compression",
    "ContentType",
    "Ed25519Signer",
    "Ed25519Verifier",
    "Encryption",
    "HmacKey",
    "Hop",
    "KeyProvider",
    "KeyRing",
    "OriginUsage",
    "RegistrySchemas",
    "RoutingTrail",
    "Signing",
    "SigningKey",
    "TraceContext",
    "Usage",
    "VerifyingKey",
    "VersionSpans",
    "hops_of",
]


def __getattr__(name: str) -> Any:
    if name == "RegistrySchemas":
        from kafka_replica.headers.pieces.schemas import RegistrySchemas  # noqa: PLC0415 - imports Kafka's client

        return RegistrySchemas
    if name == "CachedRegistryClient":
        from kafka_replica.headers.pieces.schema_cache import CachedRegistryClient  # noqa: PLC0415 - needs an extra

        return CachedRegistryClient
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
