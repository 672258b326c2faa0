"""Destinations for records that cannot be replicated, so that they can be examined and repaired."""

from __future__ import annotations

import json
import os
from base64 import b64encode
from pathlib import Path
from typing import Any, Final, Protocol

from kafka_replica.errors import BadRecordError, ConfigurationError, StoreError
from kafka_replica.records import Record, key_text

__all__ = ["DeadLetterFile", "DeadLetters", "check_policy"]

_POLICIES: Final = ("stop", "skip", "dead-letter")


class DeadLetters(Protocol):
    """A receiver of records that were set aside. Each arrives at least once; after some restarts it arrives again."""

    def put(self, bad_records: list[BadRecordError]) -> None:
        """Keep records, before the version that lacks them is shown.

        Raises:
            KafkaReplicaError: the records could not be kept; the error ends the replica.
        """


class DeadLetterFile:
    """A file with one JSON object per line: the record's offset, the reason why it was set aside, and the record.

    Args:
        path: the file, to which lines are appended.

    Raises:
        ConfigurationError: the path is a folder, or its folder does not exist, so that the first bad record would end
            the replica.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path)
        if self._path.is_dir() or not self._path.parent.is_dir():
            raise ConfigurationError(f"{self._path} cannot hold dead letters: name a file in an existing folder")

    def __repr__(self) -> str:
        return f"<DeadLetterFile {str(self._path)!r}>"

    def put(self, bad_records: list[BadRecordError]) -> None:
        """Append records, and wait until they are written to disk."""
        try:
            # A lone surrogate, of a byte that is not UTF-8, becomes an escape of JSON.
            with self._path.open("a", encoding="utf-8", errors="backslashreplace") as file:
                for bad in bad_records:
                    file.write(json.dumps(as_json(bad), ensure_ascii=False) + "\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise StoreError(f"writing dead letters to {self._path}: {error.strerror}; use a writable file") from error


def check_policy(on_bad_record: str, dead_letters: DeadLetters | None) -> None:
    """Check the policy for bad records that a user has set.

    Raises:
        ConfigurationError: there is no such policy, or it conflicts with ``dead_letters``.
    """
    if on_bad_record not in _POLICIES:
        raise ConfigurationError(
            f"on_bad_record={on_bad_record!r} is not possible; it is 'stop', 'skip' or 'dead-letter'"
        )
    if (dead_letters is not None) != (on_bad_record == "dead-letter"):
        raise ConfigurationError("on_bad_record='dead-letter' and dead_letters= go together")


def as_json(bad: BadRecordError) -> dict[str, Any]:
    """Return a record that was set aside as plain JSON values: bytes in base64, and the key also as text."""
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
