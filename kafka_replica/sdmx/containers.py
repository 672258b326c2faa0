"""The small containers of the model: texts in several languages, and items by id in document order."""

from __future__ import annotations

import gc
import re
from collections.abc import Callable, ItemsView, Iterable, Iterator, Mapping, Sequence, ValuesView
from contextlib import contextmanager
from threading import Lock
from typing import Any, Final, NoReturn, Protocol, TypeVar

from kafka_replica.errors import UnreadableContentError
from kafka_replica.sdmx.urn import Urn

T = TypeVar("T")


class WrittenText(Protocol):
    """A text in a language, as a message has it."""

    locale: str
    value: str


class InternationalString(Mapping[str, str]):
    """A text in several languages: language -> text, in the order of the message. Immutable.

    Languages compare without regard to case, as BCP 47 says. Of two texts in one language a look-up gives
    the first; ``texts`` has both.
    """

    __slots__ = ("_written", "texts")
    _written: Sequence[WrittenText]
    texts: tuple[tuple[str, str], ...]

    def __init__(self, texts: Iterable[tuple[str, str]] | Mapping[str, str] = ()) -> None:
        # A list first: asking an abstract class costs a microsecond, and codelists are long.
        pairs = texts if type(texts) is list or not isinstance(texts, Mapping) else texts.items()
        _set_texts(self, tuple(pairs))

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError("an InternationalString cannot be changed")

    def __getattr__(self, name: str) -> Any:
        # Asked where a slot is empty: the texts have not been made of what is written yet. Two threads make the same.
        if name != "texts":
            raise AttributeError(name)
        written = self._written
        if written is _TAKEN:
            return self.texts
        made = tuple([(one.locale, one.value) for one in written])
        _set_texts(self, made)
        _set_written(self, _TAKEN)
        return made

    def __getitem__(self, language: str) -> str:
        for known, text in self.texts:
            if known == language:
                return text
        lowered = language.lower()
        for known, text in self.texts:
            if known.lower() == lowered:
                return text
        raise KeyError(language)

    def __iter__(self) -> Iterator[str]:
        return iter(dict(self.texts))

    def __len__(self) -> int:
        return len(dict(self.texts))

    def __hash__(self) -> int:
        return hash(self.texts)

    def __eq__(self, other: object) -> bool:
        return self.texts == other.texts if isinstance(other, InternationalString) else NotImplemented

    def __repr__(self) -> str:
        return f"InternationalString({dict(self.texts)!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.texts,)

    def in_language(self, language: str | None = None) -> str | None:
        """The text in that language or None; without a language the English one, else the first."""
        if language is not None:
            return self.get(language)
        found = self.get("en")
        return found if found is not None or not self.texts else self.texts[0][1]


_set_texts: Final = InternationalString.__dict__["texts"].__set__

_TAKEN: Final[Sequence[WrittenText]] = ()
_set_written: Final = InternationalString.__dict__["_written"].__set__
_new_string: Final = InternationalString.__new__


def international(texts: tuple[tuple[str, str], ...]) -> InternationalString:
    """The same as ``InternationalString(texts)``, in less time: codelists are long."""
    made = _new_string(InternationalString)
    _set_texts(made, texts)
    return made


def written_texts(written: Sequence[WrittenText]) -> InternationalString:
    """The texts as they are written; pairs are made of them when they are first asked for."""
    made = _new_string(InternationalString)
    _set_written(made, written)
    return made


NO_TEXT: Final = InternationalString()


class Items(Mapping[str, T]):
    """Items or components by id, in the order of the message; iterating gives ids. Read-only."""

    __slots__ = ("_by_id",)

    def __init__(self, by_id: Mapping[str, T] | None = None) -> None:
        self._by_id = dict(by_id) if by_id else {}

    def __getitem__(self, item_id: str) -> T:
        return self._by_id[item_id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_id)

    def __len__(self) -> int:
        return len(self._by_id)

    def __contains__(self, item_id: object) -> bool:
        return item_id in self._by_id

    def __eq__(self, other: object) -> bool:
        """Equal when ids, their order and the items are."""
        if not isinstance(other, Items):
            return NotImplemented
        return not other.is_stub and list(self._by_id.items()) == list(other.items())

    def __hash__(self) -> int:
        return hash(tuple(self._by_id))

    def __repr__(self) -> str:
        shown = ", ".join(list(self._by_id)[:5])
        return f"<{len(self)} items: {shown}{', ...' if len(self) > 5 else ''}>"

    @property
    def is_stub(self) -> bool:
        """Whether the items are not here but elsewhere; then asking for any raises."""
        return False


_keeping: Final = Lock()


@contextmanager
def collector_paused() -> Iterator[None]:
    """For tens of thousands of objects, none of which can be in a cycle: the collector would walk them for nothing.

    It is for the whole process, so for moments only; where it is off already, it stays so.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


class LazyItems(Items[T]):
    """Items that are made when they are first asked for: of a long list mostly a few are.

    Until then an item is a number, by which ``make`` finds what was read. All that can be wrong with it was
    checked before.
    """

    __slots__ = ("_make",)

    def __init__(self, read: dict[str, Any], make: Callable[[str, int], T]) -> None:
        # What the class above does would be undone here.
        self._by_id, self._make = read, make

    def __getitem__(self, item_id: str) -> T:
        found: Any = self._by_id[item_id]
        if type(found) is not int:
            item: T = found
            return item
        made = self._make(item_id, found)
        with _keeping:  # another thread may have made it meanwhile: what was given out first stays the one
            known: Any = self._by_id[item_id]
            if type(known) is int:
                self._by_id[item_id] = known = made
        given: T = known
        return given

    def values(self) -> ValuesView[T]:
        """All items, made."""
        self._make_all()
        return self._by_id.values()

    def items(self) -> ItemsView[str, T]:
        """All items by id, made."""
        self._make_all()
        return self._by_id.items()

    def _make_all(self) -> None:
        make = self._make
        by_id: dict[str, Any] = self._by_id
        with collector_paused():
            made = [(item_id, make(item_id, found)) for item_id, found in list(by_id.items()) if type(found) is int]
        with _keeping:
            for item_id, item in made:
                if type(by_id[item_id]) is int:
                    by_id[item_id] = item

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Items):
            return NotImplemented
        return not other.is_stub and list(self.items()) == list(other.items())

    def __hash__(self) -> int:
        return super().__hash__()

    def __reduce__(self) -> tuple[Any, ...]:
        return Items, (dict(self.items()),)


_are_ids: Final = re.compile(r"(?:[A-Za-z0-9_@$\-]{1,255}\n)*").fullmatch


_SHORT: Final = 256


def numbered(ids: Sequence[str]) -> dict[str, int] | None:
    """The ids, each with its number from 0; None where one comes twice, or is none, or is very long."""
    numbers = {item_id: number for number, item_id in enumerate(ids)}
    if len(numbers) != len(ids) or "" in numbers:
        return None
    # A look or two at all of them together: for one at a time there are too many.
    joined = "".join(ids)
    if len(joined) < _SHORT and joined.isascii() and joined.replace("_", "").isalnum():
        return numbers
    joined = "\n".join(ids) + "\n"
    return numbers if joined.count("\n") == len(ids) and _are_ids(joined) else None


NO_ITEMS: Final[Items[Any]] = Items()


def stub_error(urn: Urn) -> UnreadableContentError:
    """The error for asking a stub for its content."""
    return UnreadableContentError(
        f"asking {urn} for its content: this record is a stub (isExternalReference is true), the content "
        "is kept elsewhere; see its structure_url or service_url, or have the whole artefact published"
    )


class StubItems(Items[T]):
    """The items of a stub: every question about them raises UnreadableContentError."""

    __slots__ = ("_urn",)

    def __init__(self, urn: Urn) -> None:
        super().__init__()
        self._urn = urn

    def _refuse(self) -> NoReturn:
        raise stub_error(self._urn)

    def __getitem__(self, item_id: str) -> T:
        self._refuse()

    def __iter__(self) -> Iterator[str]:
        self._refuse()

    def __len__(self) -> int:  # noqa: PLE0303 - it raises
        self._refuse()

    def __contains__(self, item_id: object) -> bool:
        self._refuse()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StubItems) and self._urn == other._urn

    def __hash__(self) -> int:
        return hash(self._urn)

    def __repr__(self) -> str:
        return "<items of a stub>"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._urn,)

    @property
    def is_stub(self) -> bool:
        """Always true."""
        return True


class StubTuple(tuple[T, ...]):
    """The parts of a stub that have no ids: every question about them raises UnreadableContentError."""

    urn: Urn

    def __new__(cls, urn: Urn) -> StubTuple[T]:
        """The parts of this artefact."""
        made = super().__new__(cls)
        made.urn = urn
        return made

    def _refuse(self, *_: object) -> NoReturn:
        raise stub_error(self.urn)

    __iter__ = __len__ = __getitem__ = __contains__ = __add__ = __mul__ = index = count = _refuse

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StubTuple) and self.urn == other.urn

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self.urn)

    def __repr__(self) -> str:
        return "<parts of a stub>"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.urn,)


def items_of(urn: Urn, found: Mapping[str, T], *, is_stub: bool) -> Items[T]:
    """The items that were found; those of a stub if there are none and the artefact is an external reference."""
    if found:
        return Items(found)
    return StubItems(urn) if is_stub else NO_ITEMS


def parts_of(urn: Urn, found: Iterable[T], *, is_stub: bool) -> tuple[T, ...]:
    """The same for parts without ids."""
    parts = tuple(found)
    return StubTuple(urn) if is_stub and not parts else parts
