"""Answers to pages of other origins (CORS). Source: Fetch Standard, section 3.2 (HTTP CORS protocol)."""

from __future__ import annotations

from typing import Final

from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware

from kafka_replica.server.access.gate import METHODS
from kafka_replica.server.answers.versions import HEADERS
from kafka_replica.server.data.answers import ROW_HEADERS
from kafka_replica.server.data.fmr import REQUEST_HEADERS
from kafka_replica.server.operation.observation import REQUEST_ID
from kafka_replica.server.rest.answer_query import OMITTED

_SENT: Final = (
    "Authorization", "Content-Encoding", "Content-Type", "If-Modified-Since", "If-None-Match", "Last-Event-ID",
    REQUEST_ID,
)  # fmt: skip
_READ: Final = (*HEADERS, *ROW_HEADERS, OMITTED, REQUEST_ID, "ETag", "Retry-After")


def cross_origin(allowed_origins: tuple[str, ...]) -> list[Middleware]:
    """Return the layer with which scripts of allowed origins may read answers; empty if none is allowed.

    It is around everything that refuses requests, so that scripts can read the reason, too.
    """
    if not allowed_origins:
        return []
    return [
        Middleware(
            CORSMiddleware,
            allow_origins=allowed_origins,
            allow_methods=(*METHODS, "POST"),
            allow_headers=(*_SENT, *REQUEST_HEADERS),
            expose_headers=_READ,
        )
    ]
