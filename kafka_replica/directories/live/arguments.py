"""Check the arguments of a directory, and make its schema from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from kafka_replica.directories.contents.schema import BadRecordPolicy, Schema
from kafka_replica.directories.indexes import Index, check_indexes, extractor
from kafka_replica.directories.records.decoding import decoder_for
from kafka_replica.directories.records.interpretation import Interpreter
from kafka_replica.errors import ConfigurationError

T = TypeVar("T")


def check_arguments(
    key: object,
    where: object,
    indexes: Mapping[str, Any] | None,
    interpreter: object,
    *,
    on_demand: bool,
    on_bad_record: str,
) -> None:
    """Check that the arguments of a directory can be combined; see ``Directory`` for their meaning.

    Raises:
        ConfigurationError: ``on_demand`` is combined with an argument that needs every record, or ``where`` or the
            interpreter is not a function.
    """
    functions = (key, where, interpreter)
    if on_demand and (functions != (None, None, None) or indexes or on_bad_record != "stop"):
        raise ConfigurationError(
            "on_demand=True cannot be combined with key, where, indexes, interpreter or on_bad_record, which need "
            "every record"
        )
    if interpreter is not None and not callable(interpreter):
        raise ConfigurationError(f"interpreter={interpreter!r} is not a function of a record")
    if where is not None and not callable(where):
        raise ConfigurationError(
            f"where={where!r} is not a function of the object; give where=lambda found: found.is_active, for example"
        )


def schema_of(
    of: type[T],
    key: str | Callable[[T], Any] | None,
    where: Callable[[T], bool] | None,
    indexes: Mapping[str, Index[T]] | None,
    decode: Callable[[bytes], T] | None,
    interpreter: Interpreter | None,
    policy: BadRecordPolicy,
    topics: Sequence[str],
) -> Schema[T]:
    """Return the functions that convert records of topics to objects; see ``Directory`` for the other arguments.

    Raises:
        ConfigurationError: the type cannot be decoded from JSON, or an argument is not a function or index.
        MissingExtraError: msgspec is not installed.
    """
    return Schema(
        decoder_for(of, decode),
        None if key is None else extractor(key, "key="),
        where,
        check_indexes(indexes or {}),
        interpreter,
        policy,
        f"the directory of {type_name(of)} ({'topic' if len(topics) == 1 else 'topics'} {', '.join(topics)})",
    )


def type_name(of: object) -> str:
    """Return the name of the type of a directory's objects, for errors and the log."""
    return getattr(of, "__name__", repr(of))
