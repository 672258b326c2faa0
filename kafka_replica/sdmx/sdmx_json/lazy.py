"""Items that are made of what was written when they are first asked for.

A codelist of 20,000 codes is mostly asked for a few of them, and making the model's objects takes longer than
parsing. All that can be wrong with the items must have been checked before.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

from kafka_replica.sdmx.containers import Items
from kafka_replica.sdmx.sdmx_json.wire import Wire

T = TypeVar("T")

_storing: Final = threading.Lock()
_are_ids: Final = re.compile(r"(?:[A-Za-z0-9_@$\-]{1,255}\n)*").fullmatch


def are_ids(texts: list[str]) -> bool:
    """Whether each of them is an id of SDMX and none is long: a look at all of them at once."""
    joined = "\n".join(texts) + "\n"
    return joined.count("\n") == len(texts) and _are_ids(joined) is not None


class LazyItems(Items[T]):
    """Items by id; each is made once it is asked for, and is then the same for all who ask."""

    __slots__ = ("_make",)

    def __init__(self, written: Mapping[str, Wire], make: Callable[[str, Any], T]) -> None:
        super().__init__()
        self._by_id: dict[str, Any] = dict(written)
        self._make = make

    def __getitem__(self, item_id: str) -> T:
        found = self._by_id[item_id]
        if isinstance(found, Wire):
            made = self._make(item_id, found)
            with _storing:
                # Another thread may have made it meanwhile: an item that was given out stays the one.
                found = self._by_id[item_id]
                if isinstance(found, Wire):
                    found = self._by_id[item_id] = made
        item: T = found
        return item

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Items):
            return NotImplemented
        return not other.is_stub and list(self.items()) == list(other.items())

    def __hash__(self) -> int:
        return super().__hash__()

    def __reduce__(self) -> tuple[Any, ...]:
        return Items, (dict(self.items()),)
