"""Numbers and booleans where a text is expected: some writers send ``"version": 1.0``, or codes with numbers as ids."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from functools import lru_cache
from types import UnionType
from typing import Any, Final, NoReturn, Union, get_args, get_origin

import msgspec

is_of_literal: Final = re.compile(r"Expected `[^`]*\bstr\b[^`]*`, got `(int|float|bool)`").search
"""Find out whether a message of a decoder is about a number or boolean where a text is expected."""

_NUMBERS: Final = {int, float, Decimal}


class _Number(str):
    """A number as written."""

    __slots__ = ()


def with_texts(data: bytes, kind: Any) -> bytes:
    """Return JSON in which numbers and booleans are texts, as written, where the type has only a text.

    Raises ValueError or RecursionError if the JSON is damaged.
    """
    tree = json.loads(data, parse_int=_Number, parse_float=_Number, parse_constant=_refuse)
    return msgspec.json.encode(_mended(tree, kind))


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def _mended(value: Any, kind: Any) -> Any:
    kinds = get_args(kind) if get_origin(kind) in {Union, UnionType} else (kind,)
    if isinstance(value, _Number):
        return str(value) if str in kinds and _NUMBERS.isdisjoint(kinds) else msgspec.Raw(value.encode())
    if isinstance(value, bool):
        return str(value).lower() if str in kinds and bool not in kinds else value
    if isinstance(value, list):
        inner = next((get_args(one)[0] for one in kinds if get_origin(one) is list), Any)
        return [_mended(one, inner) for one in value]
    if isinstance(value, dict):
        fields, others = _members(kinds)
        return {name: _mended(one, fields.get(name, others)) for name, one in value.items()}
    return value


@lru_cache(maxsize=512)
def _members(kinds: tuple[Any, ...]) -> tuple[dict[str, Any], Any]:
    """Return the types of an object's members: by name, and that of all others."""
    for kind in kinds:
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
            return {field.encode_name: field.type for field in msgspec.structs.fields(kind)}, Any
        if get_origin(kind) is dict:
            return {}, get_args(kind)[1]
    return {}, Any
