"""The differences between two artefacts, or between parts of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kafka_replica.sdmx.containers import Items, StubTuple, are_one_kind, is_compound


def differences(value: Any, other: Any, path: str = "") -> Iterator[str]:
    """Yield the paths of unequal parts, such as ``codes['A'].annotations[0].value``; nothing if all are equal."""
    if not are_one_kind(value, other):
        yield path or "class"
    elif is_compound(value):
        for name in value.__struct_fields__:
            yield from differences(getattr(value, name), getattr(other, name), f"{path}.{name}" if path else name)
    elif isinstance(value, Items):
        yield from _of_items(value, other, path)
    elif isinstance(value, tuple) and not isinstance(value, StubTuple):
        if len(value) != len(other):
            yield path
        else:
            for number, (mine, theirs) in enumerate(zip(value, other, strict=True)):
                yield from differences(mine, theirs, f"{path}[{number}]")
    elif value != other:
        yield path


def _of_items(one: Items[Any], other: Items[Any], path: str) -> Iterator[str]:
    if one.is_stub or other.is_stub or list(one) != list(other):
        if one != other:
            yield path
        return
    for item_id, item in one.items():
        yield from differences(item, other[item_id], f"{path}[{item_id!r}]")
