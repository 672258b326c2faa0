"""Conversion of PostgreSQL's values to JSON, from the text that the server writes. No I/O.

The text is exact, and depends on a few settings that ``SETTINGS`` fixes. So equal values always result in equal JSON:

=============================  ==============================================================================
type                           JSON
=============================  ==============================================================================
boolean                        ``true``, ``false``
smallint, integer, bigint      number
real, double precision         number (the shortest that gives the same value); "NaN", "Infinity", "-Infinity"
numeric                        string with all digits; or number, if so configured
timestamp with time zone       string, ISO 8601 in UTC: "2026-05-01T10:00:00.5Z"
timestamp                      string, ISO 8601: "2026-05-01T10:00:00.5"
date                           string, ISO 8601: "2026-05-01"
bytea                          string, base64 (RFC 4648, section 4)
json, jsonb                    the JSON itself
arrays                         array; several dimensions are nested
all others                     string, as the server writes it: uuid, text, enums, ranges, intervals, inet, ...
=============================  ==============================================================================
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from typing import Any, Final, Literal

from msgspec import Raw

from kafka_replica.producer.postgres.arrays import parse_array

Numeric = Literal["string", "number"]
Convert = Callable[[str], Any]
"""A function from the text of a value to an object that msgspec encodes."""

SETTINGS: Final[Mapping[str, str]] = {
    "TimeZone": "UTC",
    "DateStyle": "ISO, YMD",
    "IntervalStyle": "iso_8601",
    "bytea_output": "hex",
    "extra_float_digits": "1",
    "client_encoding": "UTF8",
}
"""The settings of the session on which the text of values depends."""

_INFINITE: Final = frozenset({"NaN", "Infinity", "-Infinity"})


def number(text: str) -> Any:
    """Return a number with unchanged digits; a string if JSON cannot represent the number."""
    return text if text in _INFINITE else Raw(text.encode())


def timestamp(text: str) -> str:
    """Return a timestamp in ISO 8601; infinite timestamps and years before 1 (suffix BC) stay unchanged."""
    return text.replace(" ", "T", 1) if text[:1].isdigit() and not text.endswith("BC") else text


def timestamp_utc(text: str) -> str:
    """Return a timestamp with time zone in ISO 8601; the server has written it in UTC."""
    return timestamp(text).replace("+00", "Z") if text.endswith("+00") else text


_BY_OID: Final[Mapping[int, tuple[str, Convert]]] = {
    16: ("boolean", lambda text: text == "t"),
    17: ("bytes", lambda text: base64.b64encode(bytes.fromhex(text.removeprefix(r"\x"))).decode()),
    **dict.fromkeys((20, 21, 23, 26), ("integer", number)),  # int8, int2, int4, oid
    **dict.fromkeys((700, 701), ("float", number)),
    **dict.fromkeys((114, 3802), ("json", lambda text: Raw(text.encode()))),
    1114: ("timestamp", timestamp),
    1184: ("timestamp in UTC", timestamp_utc),
}
_NUMERIC: Final = 1700
BOOLEAN: Final = 16
"""The oid of the type boolean; the oids of built-in types are constants of PostgreSQL (``pg_type.dat``)."""


def converter(oid: int, numeric: Numeric, element_oid: int | None = None) -> tuple[str, Convert]:
    """Return the name of the rule for a type, and its function.

    Args:
        oid: the oid of the type; for a domain, of its base type.
        numeric: the JSON form of the type ``numeric``.
        element_oid: the oid of the elements' type if the type is an array; otherwise None.
    """
    if element_oid is not None:
        rule, convert = converter(element_oid, numeric)
        return f"array of {rule}", lambda text: parse_array(text, convert)
    if oid == _NUMERIC:
        return (f"numeric as {numeric}", number if numeric == "number" else str)
    return _BY_OID.get(oid, ("text", str))
