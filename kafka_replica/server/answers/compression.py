"""Compression of answers. Source: RFC 9110, section 12.5.3 (Accept-Encoding)."""

from __future__ import annotations

import gzip
import re
from functools import lru_cache
from typing import Final

from kafka_replica.common.quality_values import accepted_in

_LEAST_BYTES: Final = 1000  # smaller answers fit into one packet
_LEVEL: Final = 5
_COMPRESSIBLE: Final = re.compile(r"(text/|application/[^;]*(json|xml))", re.IGNORECASE)


@lru_cache(maxsize=256)
def accepts_gzip(header: str) -> bool:
    """Return whether a request with this header ``Accept-Encoding`` accepts gzip."""
    qualities = {one.name.removeprefix("x-"): one.quality for one in accepted_in(header)}
    return qualities.get("gzip", qualities.get("*", 0.0)) > 0


def is_worth_compressing(content_type: str, size: int) -> bool:
    """Return whether compression makes an answer noticeably smaller; the size is in bytes."""
    return size >= _LEAST_BYTES and _COMPRESSIBLE.match(content_type) is not None


def compress(body: bytes) -> bytes:
    """Return the body in gzip format; equal bodies give equal bytes."""
    return gzip.compress(body, _LEVEL, mtime=0)
