"""Interpret rows that have a flag which shows whether they are active."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final

from kafka_replica.common.json_decoders import json_decoder
from kafka_replica.directories.interpreters.connect_json import ConnectJson, key_of
from kafka_replica.directories.records.interpretation import DeleteAll, Interpretation, Interpreter, Put
from kafka_replica.records import Record

_decode: Final = json_decoder(dict[str, Any], float_hook=Decimal).decode  # so that no digit of a key is lost


@dataclass(frozen=True, slots=True)
class ActiveRows:
    """An interpreter of rows that are deactivated, not deleted: ``{"terminalId": "T1", "isActive": false}``.

    ::

        Directory(replica, Terminal, interpreter=ActiveRows(key="terminalId"))

    A row whose flag is false puts nothing. Several rows may have the same key, for example in a table with history: the
    newest active row takes effect.

    Args:
        key: the field with the directory's key; the key of several fields is their JSON array, ``'["T1",7]'``. None
            means the key that ``rows`` returns.
        active: the field with the flag: true or false, or 1 or 0. A row without the flag, or with null, is active.
        rows: the interpreter that finds the rows; by default, JSON with or without schemas.
    """

    key: str | Sequence[str] | None = None
    active: str = "isActive"
    rows: Interpreter = field(default_factory=ConnectJson)

    def __call__(self, record: Record) -> Interpretation:
        """Return the active rows that a record puts."""
        found = self.rows(record)
        if found is None or isinstance(found, DeleteAll):
            return found
        puts = (found,) if isinstance(found, Put) else found
        return [active for put in puts if (active := self._active(put)) is not None]

    def _active(self, put: Put) -> Put | None:
        row = _decode(put.value)
        flag = row.get(self.active)
        if flag not in (None, False, True):
            raise ValueError(f"its field {self.active} is {flag!r}, not true or false")
        if flag is not None and not flag:
            return None
        return put if self.key is None else put._replace(key=self._key(row, self.key))

    def _key(self, row: dict[str, Any], key: str | Sequence[str]) -> str:
        names = (key,) if isinstance(key, str) else tuple(key)
        missing = next((name for name in names if row.get(name) is None), None)
        if missing is not None:
            raise ValueError(f"it has no field {missing}, the key")
        values = [row[name] for name in names]
        return key_of(values[0] if isinstance(key, str) else values)
