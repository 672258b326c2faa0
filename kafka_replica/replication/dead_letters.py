"""Where records go that cannot be replicated, so that somebody can look after them."""

from __future__ import annotations

import json
import os
from base64 import b64encode
from pathlib import Path
from typing import Any, Protocol

from kafka_replica.errors import BadRecordError, StoreError
from kafka_replica.records import Record, key_text

__all__ = ["DeadLetterFile", "DeadLetters"]


class DeadLetters(Protocol):
    """Takes records that were set aside. Each comes at least once; after a restart some may come again."""

    def put(self, bad_records: list[BadRecordError]) -> None:
        """Keeps them, before the version is shown that they were left out of.

        Raises:
            KafkaReplicaError: they could not be kept; it ends the replica.
        """


class DeadLetterFile:
    """A file with one JSON object a line: where the record was, why it was set aside, and the record itself.

    Args:
        path: the file; appended to.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path)

    def __repr__(self) -> str:
        return f"<DeadLetterFile {str(self._path)!r}>"

    def put(self, bad_records: list[BadRecordError]) -> None:
        """Appends them, and waits until the disk has them."""
        try:
            with self._path.open("a", encoding="utf-8") as file:
                for bad in bad_records:
                    file.write(json.dumps(as_json(bad), ensure_ascii=False) + "\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise StoreError(
                f"writing dead letters to {self._path}: {error.strerror}; name a file that can be written"
            ) from error


def as_json(bad: BadRecordError) -> dict[str, Any]:
    """A record that was set aside, in plain values; bytes in base64, and the key as text, too."""
    plain: dict[str, Any] = {
        "topic": bad.topic,
        "partition": bad.partition,
        "offset": bad.offset,
        "key": None if bad.key is None else key_text(bad.key),
        "reason": bad.reason,
    }
    record = bad.record
    if isinstance(record, Record):
        plain["timestamp_ms"] = record.timestamp_ms
        plain["headers"] = [[name, _base64(value)] for name, value in record.headers]
        plain["key_base64"] = _base64(None if bad.key is None else record.key)
        plain["value_base64"] = _base64(record.value)
    return plain


def _base64(data: bytes | None) -> str | None:
    return None if data is None else b64encode(data).decode()
