"""Find the first difference between two artefacts, as a readable path."""

from __future__ import annotations

from typing import Any

import msgspec

from kafka_replica.sdmx.containers import InternationalString, Items, StubTuple, are_one_kind


def difference(one: Any, other: Any) -> str | None:
    """Return the path of the first field that differs, such as ``codes[A].parent``, or None if all are equal."""
    if one == other:
        return None
    return _path(one, other).removeprefix(".") or "the whole"


def _path(one: Any, other: Any) -> str:
    if not are_one_kind(one, other):
        is_other = isinstance(one, msgspec.Struct) and isinstance(other, msgspec.Struct)
        return f" ({type(one).__name__})" if is_other else ""
    if isinstance(one, msgspec.Struct) and not isinstance(one, InternationalString):
        return _in_struct(one, other)
    if isinstance(one, Items) and not one.is_stub and not other.is_stub:
        return _in_items(one, other)
    if isinstance(one, tuple) and not isinstance(one, StubTuple) and not isinstance(other, StubTuple):
        for number, (left, right) in enumerate(zip(one, other, strict=False)):
            if left != right:
                return f"[{number}]{_path(left, right)}"
    return ""


def _in_struct(one: Any, other: Any) -> str:
    for name in one.__struct_fields__:
        left, right = getattr(one, name), getattr(other, name)
        if left != right:
            return f".{name}{_path(left, right)}"
    return ""


def _in_items(one: Items[Any], other: Items[Any]) -> str:
    if list(one) != list(other):
        return ""
    return next((f"[{id_}]{_path(item, other[id_])}" for id_, item in one.items() if item != other[id_]), "")
