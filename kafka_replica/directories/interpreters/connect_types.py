"""Convert values of Kafka Connect's logical types, such as decimals and dates, to their usual form in JSON.

JsonConverter writes the base type of a logical type: a Decimal as its unscaled number in base64, a Date as a number of
days. With the schema, these become what JSON decoders expect: numbers, and dates and times in ISO 8601. Sources:
``org.apache.kafka.connect.data`` (Decimal, Date, Time, Timestamp) and the page of Debezium's connector for PostgreSQL,
section "Temporal types" (``io.debezium.time``), the classes of this package, and
``io.debezium.data.VariableScaleDecimal``.

No digit is lost: nanoseconds that are not whole microseconds remain in the text.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final, TypeAlias

from msgspec.json import Encoder

from kafka_replica.common.json_decoders import json_decoder

Convert: TypeAlias = Callable[[Any], Any]

_SCHEMAS: Final = 256  # the number of compiled schemas in the cache; a topic has one for each version of its table
_TIMES: Final = "io.debezium.time."
_ROUNDED_TO_MIDNIGHT: Final = 86_399_999_999_500  # nanoseconds
_EPOCH: Final = datetime(1970, 1, 1)  # noqa: DTZ001 - "without time zone"
_schema_decoder: Final = json_decoder()
_value_decoder: Final = json_decoder(float_hook=Decimal)  # so that no digit of a number is lost
_encoder: Final = Encoder(decimal_format="number")


def convert_logical_types(payload: bytes, schema: bytes | None, *path: str) -> bytes:
    """Return a value with its logical types converted to their usual form in JSON.

    Args:
        payload: the value as JSON.
        schema: the schema of the value, or of a struct that contains it; None returns the payload unchanged.
        path: the fields that lead from the struct to the value.

    Raises:
        ValueError: the schema is malformed or has an unknown type of Debezium for times, the value does not match it,
            or a date is outside the years 1 to 9999.
    """
    if schema is None:
        return payload
    try:
        convert = _compiled(schema, path)
        return payload if convert is None else _encoder.encode(convert(_value_decoder.decode(payload)))
    except (ArithmeticError, AttributeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"the value does not match its schema: {type(error).__name__}: {error}") from error


@lru_cache(maxsize=_SCHEMAS)
def _compiled(text: bytes, path: tuple[str, ...]) -> Convert | None:
    schema = _schema_decoder.decode(text)
    for name in path:
        schema = next((field for field in schema["fields"] if field["field"] == name), None)
        if schema is None:
            raise ValueError(f"the schema has no field {name}")
    return None if schema is None else _converter(schema)


def _converter(schema: Mapping[str, Any]) -> Convert | None:
    """Return the function that converts values of a schema; None if the values need no conversion."""
    name = schema.get("name") or ""
    if name in _UNCHANGED:
        return None
    make = _NAMED.get(name) or _STRUCTURED.get(schema["type"])
    if name.startswith(_TIMES) and name not in _NAMED:
        raise ValueError(
            f"the type {name} of Debezium is unknown, so its unit is, too; set the connector's time.precision.mode to "
            "another one, or exclude the column"
        )
    convert = None if make is None else make(schema)
    return None if convert is None else lambda value: None if value is None else convert(value)


def _struct(schema: Mapping[str, Any]) -> Convert | None:
    fields = [(field["field"], convert) for field in schema["fields"] if (convert := _converter(field)) is not None]
    if not fields:
        return None

    def convert_struct(value: dict[str, Any]) -> dict[str, Any]:
        for name, convert in fields:
            if name in value:
                value[name] = convert(value[name])
        return value

    return convert_struct


def _array(schema: Mapping[str, Any]) -> Convert | None:
    convert = _converter(schema["items"])
    return None if convert is None else lambda values: [convert(value) for value in values]


def _map(schema: Mapping[str, Any]) -> Convert | None:
    convert = _converter(schema["values"])
    if convert is None:
        return None

    def convert_map(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: convert(each) for name, each in value.items()}
        return [[name, convert(one)] for name, one in value]  # a map whose keys are not texts is an array of pairs

    return convert_map


def _decimal(schema: Mapping[str, Any]) -> Convert:
    scale = int(schema["parameters"]["scale"])
    return lambda value: _scaled(value, scale) if isinstance(value, str) else value  # with decimal.format=NUMERIC


def _variable_scale_decimal(_: Mapping[str, Any]) -> Convert:
    return lambda value: _scaled(value["value"], value["scale"])


def _scaled(unscaled: str, scale: int) -> Decimal:
    number = int.from_bytes(b64decode(unscaled, validate=True), "big", signed=True)
    return Decimal((number < 0, tuple(map(int, str(abs(number)))), -scale))


def _date(_: Mapping[str, Any]) -> Convert:
    return lambda days: date(1970, 1, 1) + timedelta(days=days)


def _time_of_day(microseconds: int) -> Callable[[Mapping[str, Any]], Convert]:
    def convert(value: int) -> Any:
        since = timedelta(microseconds=value * microseconds)
        if not timedelta() <= since < timedelta(days=1):
            raise ValueError(f"{since} is not a time of day")
        return (_EPOCH + since).time()

    return lambda _: convert


def _timestamp(microseconds: int, of: datetime) -> Callable[[Mapping[str, Any]], Convert]:
    return lambda _: lambda value: of + timedelta(microseconds=value * microseconds)


def _nano_time(_: Mapping[str, Any]) -> Convert:
    time_of_day = _time_of_day(1)({})

    def convert(value: int) -> Any:
        microseconds, rest = divmod(value, 1000)
        found = time_of_day(microseconds)
        if value >= _ROUNDED_TO_MIDNIGHT and rest:
            raise ValueError(f"{value} nanoseconds are so close to midnight that decoders round them to 00:00:00")
        return _with_nanoseconds(found, rest)

    return convert


def _nano_timestamp(_: Mapping[str, Any]) -> Convert:
    def convert(value: int) -> Any:
        microseconds, rest = divmod(value, 1000)
        return _with_nanoseconds(_EPOCH + timedelta(microseconds=microseconds), rest)

    return convert


def _with_nanoseconds(value: datetime | time, rest: int) -> Any:
    """Return a time with nanoseconds as text, or unchanged if there are none."""
    return f"{value.isoformat(timespec='microseconds')}{rest:03}" if rest else value


def _iso_date(_: Mapping[str, Any]) -> Convert:
    return lambda value: date.fromisoformat(value.removesuffix("Z"))  # Debezium writes all of them in UTC


_STRUCTURED: Final[Mapping[str, Callable[[Mapping[str, Any]], Convert | None]]] = {
    "struct": _struct,
    "array": _array,
    "map": _map,
}
_NAMED: Final[Mapping[str, Callable[[Mapping[str, Any]], Convert]]] = {
    "org.apache.kafka.connect.data.Decimal": _decimal,
    "org.apache.kafka.connect.data.Date": _date,
    "org.apache.kafka.connect.data.Time": _time_of_day(1000),
    "org.apache.kafka.connect.data.Timestamp": _timestamp(1000, _EPOCH.replace(tzinfo=UTC)),
    "io.debezium.data.VariableScaleDecimal": _variable_scale_decimal,
    "io.debezium.time.Date": _date,
    "io.debezium.time.Time": _time_of_day(1000),
    "io.debezium.time.MicroTime": _time_of_day(1),
    "io.debezium.time.Timestamp": _timestamp(1000, _EPOCH),  # of a column without time zone
    "io.debezium.time.MicroTimestamp": _timestamp(1, _EPOCH),
    "io.debezium.time.NanoTime": _nano_time,
    "io.debezium.time.NanoTimestamp": _nano_timestamp,
    "io.debezium.time.IsoDate": _iso_date,
}
_UNCHANGED: Final = frozenset(  # texts in ISO 8601, durations as numbers, and years
    f"{_TIMES}{name}"
    for name in (
        "Interval", "IsoTime", "IsoTimestamp", "MicroDuration", "NanoDuration", "Year", "ZonedTime", "ZonedTimestamp",
    )
)  # fmt: skip
