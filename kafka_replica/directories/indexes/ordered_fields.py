"""The fields by which the objects of an ordered class are compared."""

from __future__ import annotations

from dataclasses import fields
from functools import lru_cache
from types import WrapperDescriptorType
from typing import Any, Final

_CLASSES: Final = 256  # in the cache


@lru_cache(maxsize=_CLASSES)
def ordered_fields(kind: type) -> tuple[str, ...] | None:
    """Return the names of the fields by which the objects of a class are compared, the most significant first.

    None is returned for a class whose order is not that of its fields. The class may be a dataclass, a class of attrs
    (since its version 25.4) or a msgspec struct, each declared with ``order=True``; msgspec and attrs are optional, so
    their classes are recognized by their attributes.
    """
    owner: Any = next(each for each in kind.__mro__ if "__lt__" in vars(each))  # at the latest, object
    members = vars(owner)
    if getattr(members.get("__dataclass_params__"), "order", False):
        return tuple(field.name for field in fields(owner) if field.compare)
    if getattr(members.get("__attrs_props__"), "added_ordering", False):
        attributes = [each for each in owner.__attrs_attrs__ if each.order]
        has_own_order = any(each.order_key for each in attributes)
        return None if has_own_order else tuple(each.name for each in attributes)
    is_own_code = not isinstance(members["__lt__"], WrapperDescriptorType)  # that of a struct is compiled
    if is_own_code or not getattr(getattr(kind, "__struct_config__", None), "order", False):
        return None
    names: tuple[str, ...] = getattr(kind, "__struct_fields__", ())
    return names
