"""Record headers: stacks of pieces that transform records and describe this in headers, and headers of transactions.

This package may import ``records``, ``common`` and ``errors``. ``pieces`` has the pieces that come with the library;
the core imports only the interface. Read ``stacks.piece`` first, then ``stacks.stack``.
"""

from __future__ import annotations

from kafka_replica.headers.errors import PieceError, ServiceUnavailableError
from kafka_replica.headers.stacks.header_keys import PRIVATE, PUBLIC, RESERVED, HeaderKey, compact_key, identifier_of
from kafka_replica.headers.stacks.piece import Form, Piece, PieceInput, PieceOutput
from kafka_replica.headers.stacks.stack import Stack, TransformedRecord

__all__ = [
    "PRIVATE",
    "PUBLIC",
    "RESERVED",
    "Form",
    "HeaderKey",
    "Piece",
    "PieceError",
    "PieceInput",
    "PieceOutput",
    "ServiceUnavailableError",
    "Stack",
    "TransformedRecord",
    "compact_key",
    "identifier_of",
]
