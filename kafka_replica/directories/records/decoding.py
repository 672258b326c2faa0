"""Decode the value of a record to an object of a type, from JSON or with a function."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import is_dataclass
from typing import Any, TypeVar

from kafka_replica.errors import ConfigurationError, MissingExtraError
from kafka_replica.records import Record

__all__ = ["Decode", "decoder_for", "record_validator"]

T = TypeVar("T")

Decode = Callable[[bytes], T]
"""A function from the value of a record to an object; it raises an exception if the value is invalid."""


def decoder_for(of: type[T], decode: Callable[[bytes], T] | None = None) -> Decode[T]:
    """Return the function that decodes values of a type.

    Args:
        of: the type: a msgspec struct, a dataclass, an attrs class, a ``TypedDict``, or a model or a dataclass of
            pydantic. Values are decoded from JSON (RFC 8259).
        decode: a function to use instead, for any other serialisation.

    Raises:
        ConfigurationError: values of the type cannot be decoded from JSON, or ``decode`` cannot be called.
        MissingExtraError: msgspec is not installed.
    """
    if decode is not None:
        if not callable(decode):
            raise ConfigurationError(f"decode={decode!r} is not a function from bytes to an object")
        return decode
    validate: Decode[T] | None = getattr(of, "model_validate_json", None)  # a model of pydantic 2
    if validate is None and is_dataclass(of) and hasattr(of, "__pydantic_validator__"):
        validate = _validation_by_pydantic(of)
    if validate is not None:
        return validate
    try:
        from msgspec.inspect import CustomType, type_info  # noqa: PLC0415 - only users of directories need msgspec

        from kafka_replica.common.json_decoders import json_decoder  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtraError("decoding records into objects", "directories") from error
    try:
        decoder, why = json_decoder(of), "it is a class without fields that msgspec knows"
        if not isinstance(type_info(of), CustomType):
            return decoder.decode
    except TypeError as error:
        why = str(error)
    raise ConfigurationError(
        f"values of the type {of!r} cannot be decoded from JSON: {why}; give decode= a function of the bytes"
    )


def _validation_by_pydantic(of: type[T]) -> Decode[T]:
    """Return pydantic's function for a dataclass of pydantic, whose rules msgspec would ignore.

    Raises:
        ConfigurationError: pydantic refuses the type, for example because it has no validation for a field.
    """
    try:
        validate: Decode[T] = sys.modules["pydantic"].TypeAdapter(of).validate_json  # pydantic made the class
    except Exception as error:
        raise ConfigurationError(
            f"values of the type {of!r} cannot be decoded from JSON by pydantic: {error}; correct the type, or give "
            "decode= a function of the bytes"
        ) from error
    return validate


def record_validator(of: type[Any], decode: Callable[[bytes], Any] | None = None) -> Callable[[Record], object]:
    """Return a validator for ``Replica(validator=...)`` that makes records bad if they cannot be decoded.

    Depending on the replica's ``on_bad_record``, such a record stops the replica, is set aside or becomes a dead
    letter, so that no version contains it. Use this if all records of the topic have the same type.

    The arguments and errors are those of ``Directory``'s ``of`` and ``decode``: see :func:`decoder_for`.
    """
    decoded = decoder_for(of, decode)
    return lambda record: decoded(record.value or b"")
