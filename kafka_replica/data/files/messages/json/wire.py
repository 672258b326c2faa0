"""Decode SDMX-JSON data messages: numbers keep their text, and series are left undecoded.

Source: SDMX-JSON data message, field guides 1.0, 2.0 and 2.1 of the SDMX Technical Working Group, and their schemas.
"""

from __future__ import annotations

import json
from typing import Any, Final, TypeAlias, TypeVar

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType, field

from kafka_replica.data.errors import DatasetError

T = TypeVar("T")
Values: TypeAlias = list[Any] | None

TOO_DEEP: Final = "is nested too deeply for a message of data; have it written again"
_WRITTEN: Final = {"NaN": "NaN", "Infinity": "INF", "-Infinity": "-INF"}
"""Numbers that JSON lacks, as some programs write them, with their form in SDMX (XML Schema, ``double``)."""


class Component(Struct):
    """A dimension, measure or attribute, with the values that indexes refer to."""

    id: str
    values: Values = None
    default: Any = None
    position: int | None = field(default=None, name="keyPosition")


class Levels(Struct):
    """Components by the level at which the message presents them."""

    data_set: list[Component] | None = field(default=None, name="dataSet")
    group: list[Component] | None = field(default=None, name="dimensionGroup")
    series: list[Component] | None = None
    observation: list[Component] | None = None


class Structure(Struct):
    """The meaning of the indexes of data sets."""

    dimensions: Levels
    measures: Levels | None = None
    attributes: Levels | None = None
    links: list[dict[str, Any]] | None = None
    data_sets: list[int] | None = field(default=None, name="dataSets")


class Series(Struct):
    """A series. An absent member is UNSET, so that members can be counted."""

    attributes: Values | UnsetType = UNSET
    annotations: Values | UnsetType = UNSET
    observations: dict[str, Values] | UnsetType | None = UNSET


class DataSet(Struct):
    """A data set, flat or with series. Members that are not read are declared so that their keys can be counted."""

    action: str | UnsetType | None = UNSET
    structure: int | UnsetType | None = UNSET
    links: list[dict[str, Any]] | UnsetType | None = UNSET
    attributes: Values | UnsetType = UNSET
    groups: dict[str, Values] | UnsetType | None = field(default=UNSET, name="dimensionGroupAttributes")
    series: dict[str, Raw] | UnsetType | None = UNSET
    observations: dict[str, Values] | UnsetType | None = UNSET
    annotations: Any = UNSET
    reporting_begin: Any = field(default=UNSET, name="reportingBegin")
    reporting_end: Any = field(default=UNSET, name="reportingEnd")
    valid_from: Any = field(default=UNSET, name="validFrom")
    valid_to: Any = field(default=UNSET, name="validTo")
    publication_year: Any = field(default=UNSET, name="publicationYear")
    publication_period: Any = field(default=UNSET, name="publicationPeriod")


class Body(Struct):
    """The data of a message: in 1.0 with one structure, in 2.x with several."""

    structure: Any = UNSET
    structures: list[Any] | UnsetType | None = UNSET
    data_sets: list[DataSet] | UnsetType | None = field(default=UNSET, name="dataSets")


class Message(Body):
    """A message. Its data is in ``data``, in drafts of 1.0 in the message itself."""

    data: Body | UnsetType | None = UNSET
    meta: Any = UNSET
    header: Any = UNSET
    errors: Any = UNSET
    schema: Any = field(default=UNSET, name="$schema")


_SERIES: Final = msgspec.json.Decoder(Series, float_hook=str)
_MESSAGE: Final = msgspec.json.Decoder(Message, float_hook=str)


def given(value: T | UnsetType | None) -> T | None:
    """Return the value of a member; None if it is absent or null."""
    return None if value is UNSET else value


def decoded_message(data: bytes, where: str) -> tuple[Message, bytes]:
    """Decode a message, except its series.

    Returns:
        The message, and its text in UTF-8 without a byte order mark, in which NaN and infinity, which JSON lacks, are
        texts.

    Raises:
        DatasetError: the text is not JSON, or not an SDMX-JSON data message.
    """
    try:
        encoding = json.detect_encoding(data)
        if encoding != "utf-8":
            data = data.decode(encoding).encode()
    except ValueError as error:
        raise _damaged(where, error) from error
    try:
        return _decoded(_MESSAGE, data, where, ""), data
    except DatasetError:
        # Most messages have no such numbers, and searching each for them takes longer than this second attempt.
        replaced = _with_texts_for_numbers(data, where)
        if replaced is None:
            raise
    return _decoded(_MESSAGE, replaced, where, ""), replaced


def decoded_series(data: Raw, where: str, path: str) -> Series:
    """Decode a series. Raises DatasetError."""
    return _decoded(_SERIES, data, where, path)


def decoded_structure(data: Any, where: str, path: str) -> Structure:
    """Convert plain objects to a structure. Raises DatasetError."""
    try:
        return msgspec.convert(data, Structure)
    except msgspec.ValidationError as error:
        raise failure(where, _described(error, path)) from error


def failure(where: str, reason: str) -> DatasetError:
    """Return the error for a message that violates the standard."""
    return DatasetError(f"reading {where} as an SDMX-JSON data message: {reason}")


def _decoded(decoder: msgspec.json.Decoder[T], data: bytes | Raw, where: str, path: str) -> T:
    try:
        return decoder.decode(data)
    except msgspec.ValidationError as error:
        raise failure(where, _described(error, path)) from error
    except RecursionError as error:
        raise failure(where, f"{path or 'the text'} {TOO_DEEP}") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise failure(where, f"{path or 'the text'} is damaged: {error}") from error


def _described(error: msgspec.ValidationError, path: str) -> str:
    """Return the text of an error with the whole path, because msgspec's path begins (``$``) at the decoded part."""
    problem, _, place = str(error).replace("Object missing required field", "missing field").partition(" - at `")
    place = f"{path}{place.strip('`')[1:]}".lstrip(".")
    return f"{place or 'the message'}: {problem[:1].lower()}{problem[1:]}"


def _with_texts_for_numbers(data: bytes, where: str) -> bytes | None:
    """Return a text in which NaN and infinity are texts; None if they are not what makes it invalid."""
    if (b"NaN" not in data and b"Infinity" not in data) or _is_json(data):
        return None
    try:
        return msgspec.json.encode(json.loads(data, parse_float=str, parse_constant=_WRITTEN.__getitem__))
    except RecursionError as error:
        raise failure(where, f"the text {TOO_DEEP}") from error
    except ValueError as error:
        raise _damaged(where, error) from error


def _damaged(where: str, error: Exception) -> DatasetError:
    return failure(where, f"the text is damaged: {error}")


def _is_json(data: bytes) -> bool:
    try:
        msgspec.json.decode(data, type=Raw)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True
