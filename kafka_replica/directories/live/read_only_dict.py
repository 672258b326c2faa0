"""A dict that only its subclasses can change, for look-ups at the speed of a dict."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Any, NoReturn, TypeVar, cast

from kafka_replica.errors import UsageError

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


class ReadOnlyDict(dict[K, T]):
    """A dict that only its subclasses can change. It equals only itself.

    ``copy`` and ``|`` take all pairs from one call of ``items``, so that a subclass whose ``items`` belong to one
    version returns copies of one version. CPython's ``dict(d)``, ``{**d}``, ``other.update(d)`` and ``other |= d`` call
    ``keys`` and then look up each key in the dict itself (``dict_merge`` in Objects/dictobject.c), because a subclass
    overrides ``__iter__``. A look-up in C cannot be tied to these keys, so such copies may mix versions.

    Defining ``__getitem__`` in Python would make each look-up several times slower. A dict finds existing keys without
    it, and calls ``__missing__`` only for others.
    """

    def _present_keys(self) -> Iterator[K]:
        """Iterate over the keys in the dict itself, even if a subclass overrides ``__iter__``."""
        return super().__iter__()

    def _replace(self, gone: Iterable[K], alive: Mapping[K, T]) -> None:
        """Drop some keys, and then put others in a single step that no other thread can interrupt."""
        for key in gone:
            super().pop(key, None)
        super().update(alive)

    def _drop_all(self) -> None:
        """Drop all keys."""
        super().clear()

    def copy(self) -> dict[K, T]:
        """Return the objects of one version as a dict that does not change with the topic."""
        return dict(self.items())

    def __or__(self, other: Any) -> Any:
        return self.copy() | other if isinstance(other, dict) else NotImplemented

    def __ror__(self, other: Any) -> Any:
        return other | self.copy() if isinstance(other, dict) else NotImplemented

    __hash__ = object.__hash__  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return self is other

    def __ne__(self, other: object) -> bool:
        return self is not other

    def __reduce__(self) -> NoReturn:
        raise UsageError("a directory cannot be pickled, because it follows a replica; create one in the other process")

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise UsageError("a directory cannot be changed: it shows a topic, and only records written there change it")

    __setitem__ = __delitem__ = __ior__ = update = setdefault = cast("Any", _refuse)
    pop = popitem = clear = _refuse
