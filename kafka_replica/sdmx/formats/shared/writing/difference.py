"""Find the first difference between two artefacts, as a readable path."""

from __future__ import annotations

from typing import Any

import msgspec

from kafka_replica.sdmx.containers import InternationalString, Items, StubTuple, are_one_kind


def difference(value: Any, other: Any) -> str | None:
    """Return the path of the first field that differs, such as ``codes[A].parent``, or None if all are equal."""
    if value == other:
        return None
    return _path(value, other).removeprefix(".") or "the whole"


def _path(value: Any, other: Any) -> str:
    if not are_one_kind(value, other):
        is_other = isinstance(value, msgspec.Struct) and isinstance(other, msgspec.Struct)
        return f" ({type(value).__name__})" if is_other else ""
    if isinstance(value, msgspec.Struct) and not isinstance(value, InternationalString):
        return _in_struct(value, other)
    if isinstance(value, Items) and not value.is_stub and not other.is_stub:
        return _in_items(value, other)
    if isinstance(value, tuple) and not isinstance(value, StubTuple) and not isinstance(other, StubTuple):
        for number, (left, right) in enumerate(zip(value, other, strict=False)):
            if left != right:
                return f"[{number}]{_path(left, right)}"
    return ""


def _in_struct(value: Any, other: Any) -> str:
    for name in value.__struct_fields__:
        left, right = getattr(value, name), getattr(other, name)
        if left != right:
            return f".{name}{_path(left, right)}"
    return ""


def _in_items(one: Items[Any], other: Items[Any]) -> str:
    if list(one) != list(other):
        return ""
    return next((f"[{id_}]{_path(item, other[id_])}" for id_, item in one.items() if item != other[id_]), "")
