"""Keys of series and observations, and their locations in a message for errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import repeat
from typing import Any, overload

from kafka_replica.common.wording import counted
from kafka_replica.data.files.messages.json.component_values import ValueReader, values_counted
from kafka_replica.data.files.messages.json.decoding import message_error


class Paths(Sequence[str]):
    """The locations of the members of an object, such as ``dataSets[0].series["0:5"]``, formatted only on access.

    Args:
        prefix: the location of the object.
        keys: the keys of the members.
        write: appends a key to a location; None means :func:`member_path`.
    """

    def __init__(self, prefix: str, keys: Sequence[str], write: Callable[[str, str], str] | None = None) -> None:
        self._prefix = prefix
        self._keys = keys
        self._write = write or member_path

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return map(self._write, repeat(self._prefix), self._keys)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> Paths: ...
    def __getitem__(self, index: int | slice) -> str | Paths:
        if isinstance(index, slice):
            return Paths(self._prefix, self._keys[index], self._write)
        return self._write(self._prefix, self._keys[index])


def member_path(prefix: str, key: str) -> str:
    """Return the location of a member of an object, for errors; a long key is shortened to 60 characters."""
    shown = key if len(key) <= 60 else f"{key[:57]}..."
    return f'{prefix}["{shown}"]'


def json_pointer(prefix: str, *keys: str) -> str:
    """Return the JSON Pointer of a member: ``prefix`` followed by the escaped keys. Source: RFC 6901, section 3."""
    for key in keys:
        # Most keys contain neither character, and searching is faster than replacing.
        escaped = key.replace("~", "~0").replace("/", "~1") if "~" in key or "/" in key else key
        prefix = f"{prefix}/{escaped}"
    return prefix


def key_columns(
    dimensions: Sequence[ValueReader], keys: Sequence[str], paths: Sequence[str], where: str
) -> dict[str, Sequence[Any]]:
    """Return the values of each dimension, one per key.

    A key has an index for each dimension, separated by colons. ``~`` switches a dimension off; an empty part, which
    deletions may have, means no value.

    Raises:
        DatasetError: a key has more or fewer parts than there are dimensions, or a part is not an index.
    """
    if not dimensions:
        parts: list[Sequence[str]] = []
        wrong = next((index for index, key in enumerate(keys) if ":" in key), None)
    elif len(dimensions) == 1:
        parts, wrong = [keys], None
    else:
        split = [key.split(":") for key in keys]
        wrong = next((index for index, one in enumerate(split) if len(one) != len(dimensions)), None)
        parts = [] if wrong is not None else [*zip(*split, strict=True)]
    if wrong is not None:
        raise message_error(
            where, f"{paths[wrong]}: the key has {counted(keys[wrong].count(':') + 1, 'part')}, and there are "
            f"{counted(len(dimensions), 'dimension')} at its level"
        )  # fmt: skip
    return {
        dimension.id: _column(dimension, part, paths, where) for dimension, part in zip(dimensions, parts, strict=False)
    }


def _column(dimension: ValueReader, parts: Sequence[str], paths: Sequence[str], where: str) -> Sequence[Any]:
    by_key = dimension.by_key
    try:
        return [*map(by_key.__getitem__, parts)]
    except KeyError:
        index, part = next((index, part) for index, part in enumerate(parts) if part not in by_key)
        if part in map(str, range(len(dimension.listed))):
            raise message_error(
                where, f"{paths[index]}: {part} is the index of an empty value of {dimension.id}, so it is unknown "
                "what is deleted"
            ) from None  # fmt: skip
        raise message_error(
            where, f"{paths[index]}: {part[:40]!r} is not an index of {dimension.id}, which has "
            f"{values_counted(len(dimension.listed))}"
        ) from None  # fmt: skip
