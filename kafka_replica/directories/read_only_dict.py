"""A dict that its users cannot change, for look-ups at the speed of a dict."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Any, NoReturn, TypeVar

from kafka_replica.errors import UsageError

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


class ReadOnlyDict(dict[K, T]):
    """A dict that only its subclasses change. Two are equal only if they are the same object.

    A class that defines ``__getitem__`` in Python makes each look-up several times slower; a dict finds the keys that
    exist without it, and calls ``__missing__`` for all others.
    """

    def _held(self) -> Iterator[K]:
        """Iterate over the keys that the dict itself holds."""
        return super().__iter__()

    def _replace(self, gone: Iterable[K], alive: Mapping[K, T]) -> None:
        """Drop some keys, then put others in one step that no other thread interrupts."""
        for key in gone:
            super().pop(key, None)
        super().update(alive)

    def _forget(self) -> None:
        """Drop all keys."""
        super().clear()

    __hash__ = object.__hash__  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return self is other

    def __ne__(self, other: object) -> bool:
        return self is not other

    def __reduce__(self) -> NoReturn:
        raise UsageError("a directory cannot be pickled, because it follows a replica; create one in the other process")

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise UsageError("a directory cannot be changed: it shows a topic, and only records written there change it")

    __setitem__ = __delitem__ = __ior__ = update = setdefault = _refuse
    pop = popitem = clear = copy = _refuse
