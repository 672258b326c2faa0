"""The mapping of rows to records, with a key, and the row as JSON. No I/O."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from msgspec.json import encode

from kafka_replica.errors import ConfigurationError
from kafka_replica.producer.errors import SourceError
from kafka_replica.producer.postgres.values import Convert

CONTENT_TYPE: Final = "application/json"
_WORD: Final = re.compile(r"(?<=[^_])_+(\w)")

Texts = Sequence[str | None]
"""The values of a row in text form; None for NULL."""


class Column(NamedTuple):
    """A column to copy."""

    name: str
    rule: str
    """The name of the rule that converts the column's values to JSON."""
    convert: Convert


def camel_case(name: str) -> str:
    """Return a name in camel case: ``terminalId`` for ``terminal_id``."""
    return _WORD.sub(lambda match: match[1].upper(), name)


class RowMapping:
    """Converts rows to records.

    Args:
        table: the name of the table, for messages.
        columns: the columns, in the order of the values.
        key: the column whose value is the record's key.
        camel_case_names: whether fields are named in camel case.
        origin: what else determines which records the topic should have, as JSON; it is part of the digest.

    Raises:
        ConfigurationError: two columns would have the same field name.
    """

    def __init__(
        self, table: str, columns: Sequence[Column], key: str, *, camel_case_names: bool, origin: Sequence[Any] = ()
    ) -> None:
        self._table = table
        self._key = key
        names = [camel_case(each.name) if camel_case_names else each.name for each in columns]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ConfigurationError(f"table {table}: several columns would be the field {twice[0]}; unset camel_case")
        self._key_index = [each.name for each in columns].index(key)
        self._fields = [(name, each.convert) for name, each in zip(names, columns, strict=True)]
        described = [table, key, [(name, each.rule) for name, each in zip(names, columns, strict=True)], *origin]
        self.digest = hashlib.sha256(json.dumps(described).encode()).hexdigest()[:16]
        """A digest of everything that determines the records of rows."""

    def key(self, row: Texts) -> bytes:
        """Return the key of a row: the text of a string, otherwise the JSON of the value.

        Raises:
            SourceError: the value is NULL.
        """
        text = row[self._key_index]
        if text is None:
            raise SourceError(
                f"table {self._table}: a row has no value in its key, {self._key}; set it, "
                "and declare the column NOT NULL"
            )
        value = self._fields[self._key_index][1](text)
        return value.encode() if isinstance(value, str) else encode(value)

    def value(self, row: Texts) -> bytes:
        """Return a row as a JSON object, with a field for each column in the order of the columns."""
        return encode(
            {
                name: None if text is None else convert(text)
                for (name, convert), text in zip(self._fields, row, strict=True)
            }
        )
