"""JSON values of PostgreSQL's values, from the text that the server writes. No I/O.

The text is exact and depends on few settings, which ``SETTINGS`` fixes. So the same value always gives the same JSON:

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
"""The settings of the session that the text of values depends on."""

_INFINITE: Final = frozenset({"NaN", "Infinity", "-Infinity"})


def number(text: str) -> Any:
    """Return a number with its digits as they are, or a string if JSON has no such number."""
    return text if text in _INFINITE else Raw(text.encode())


def timestamp(text: str) -> str:
    """Return a timestamp in ISO 8601. Infinite ones, and years before 1 (suffix BC), stay as the server writes them."""
    return text.replace(" ", "T", 1) if text[:1].isdigit() and not text.endswith("BC") else text


def timestamp_utc(text: str) -> str:
    """Return a timestamp with time zone, which the server has written in UTC, in ISO 8601."""
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
"""The number of the type boolean; the numbers of built-in types are constants of PostgreSQL (``pg_type.dat``)."""


def converter(oid: int, numeric: Numeric, element_oid: int | None = None) -> tuple[str, Convert]:
    """Return the name of the rule for a type, and its function.

    Args:
        oid: the number of the type; for a domain, that of its base type.
        numeric: the form of the type ``numeric``.
        element_oid: the number of the type of the elements, if the type is an array.
    """
    if element_oid is not None:
        rule, convert = converter(element_oid, numeric)
        return f"array of {rule}", lambda text: parse_array(text, convert)
    if oid == _NUMERIC:
        return (f"numeric as {numeric}", number if numeric == "number" else str)
    return _BY_OID.get(oid, ("text", str))
