"""The answer when the disk for temporary files is full: status 507. Source: RFC 4918, section 11.5."""

from __future__ import annotations

import errno
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from kafka_replica.common.error_causes import causes
from kafka_replica.errors import KafkaReplicaError
from kafka_replica.server.errors.problems import Problem

_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT})
_TEXTS: Final = ("no space left on device", "disk quota exceeded")
"""The texts by which errors of libraries that do not keep the error number are recognized; Rust uses those of C."""


@contextmanager
def disk_problems(headers: Mapping[str, str] | None = None) -> Iterator[None]:
    """Translate the errors of a full disk within the block.

    Args:
        headers: additional headers of the answer.

    Raises:
        Problem: 507 if the disk is full.
    """
    try:
        yield
    except Exception as error:
        if not any(map(_is_full, causes(error, with_context=True))):
            raise
        text = "the disk for temporary files of this service is full; try again later, or ask its operator for space"
        raise Problem(507, text, dict(headers or {})) from error


def _is_full(error: BaseException) -> bool:
    """Return whether the cause of an error is a full disk."""
    if isinstance(error, OSError) and error.errno in _FULL:
        return True
    if isinstance(error, KafkaReplicaError | Problem):
        return False  # our own errors may quote names in the data
    return any(text in str(error).lower() for text in _TEXTS)
