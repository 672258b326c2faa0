"""Texts in several languages."""

from __future__ import annotations

from collections.abc import Callable, ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
from typing import TYPE_CHECKING, Any, Final, NoReturn, Protocol, TypeVar, overload

import msgspec

D = TypeVar("D")


class WrittenText(Protocol):
    """A text in a language, as a message has it."""

    locale: str
    value: str


class InternationalString(msgspec.Struct, frozen=True, gc=False):
    """A text in several languages: language -> text, in the order of the message. Immutable; a ``Mapping``.

    Languages compare without regard to case, as BCP 47 says. Of two texts in one language a look-up gives
    the first; ``texts`` has both.
    """

    # A struct costs a third of another object, and the collector need not look at it: a long list has many.

    texts: tuple[tuple[str, str], ...] = ()

    if TYPE_CHECKING:

        def __init__(self, texts: Iterable[tuple[str, str]] | Mapping[str, str] = ()) -> None: ...

    def __post_init__(self) -> None:
        texts: Any = self.texts
        if type(texts) is not tuple:
            # A list first: asking an abstract class costs a microsecond, and codelists are long.
            pairs = texts if type(texts) is list or not isinstance(texts, Mapping) else texts.items()
            _set_texts(self, tuple(pairs))

    def __getitem__(self, language: str) -> str:
        texts = self.texts
        for known, text in texts:
            if known == language:
                return text
        lowered = language.lower()
        for known, text in texts:
            if known.lower() == lowered:
                return text
        raise KeyError(language)

    def __iter__(self) -> Iterator[str]:
        return iter(dict(self.texts))

    def __len__(self) -> int:
        return len(dict(self.texts))

    def __contains__(self, language: object) -> bool:
        return isinstance(language, str) and self.get(language, self) is not self

    def keys(self) -> KeysView[str]:
        """The languages."""
        return KeysView(self)

    def values(self) -> ValuesView[str]:
        """The texts, one a language."""
        return ValuesView(self)

    def items(self) -> ItemsView[str, str]:
        """Languages and texts, one a language."""
        return ItemsView(self)

    @overload
    def get(self, language: str) -> str | None: ...
    @overload
    def get(self, language: str, default: D) -> str | D: ...
    def get(self, language: str, default: Any = None) -> Any:
        """The text in that language, or the default."""
        try:
            return self[language]
        except KeyError:
            return default

    def __hash__(self) -> int:
        return hash(self.texts)

    def __eq__(self, other: object) -> bool:
        return self.texts == other.texts if isinstance(other, InternationalString) else NotImplemented

    def __ne__(self, other: object) -> bool:
        # A struct has its own, for which it counts what kind of it the other is.
        return self.texts != other.texts if isinstance(other, InternationalString) else NotImplemented

    def __repr__(self) -> str:
        return f"InternationalString({dict(self.texts)!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return InternationalString, (self.texts,)

    def in_language(self, language: str | None = None) -> str | None:
        """The text in that language or None; without a language the English one, else the first."""
        if language is not None:
            return self.get(language)
        found, texts = self.get("en"), self.texts
        return found if found is not None or not texts else texts[0][1]


Mapping.register(InternationalString)

_held: Final = InternationalString.__dict__["texts"].__get__
_set_texts: Final = InternationalString.__dict__["texts"].__set__


class _Nothing:
    """In the place of a method of the class above: as if there were none, so that msgspec calls none."""

    def __get__(self, one: object, owner: type | None = None) -> NoReturn:
        raise AttributeError("it has none")

    def __call__(self, *_: object) -> None:
        """Does nothing, for whoever looks it up in another way."""


class _WrittenTexts(InternationalString, frozen=True, gc=False):
    """The same, of what a message has; pairs are made of it when they are first asked for."""

    if not TYPE_CHECKING:  # which wants a method to stay one, and a field a field
        __post_init__ = _Nothing()

        @property
        def texts(self) -> tuple[tuple[str, str], ...]:
            """All texts with their languages."""
            held = _held(self)
            if type(held) is tuple:
                return held
            # Two threads make the same.
            made = tuple(held.items()) if type(held) is dict else tuple([(one.locale, one.value) for one in held])
            _set_texts(self, made)
            return made


international: Final[Callable[[tuple[tuple[str, str], ...]], InternationalString]] = InternationalString
"""The same as ``InternationalString(texts)`` for texts that are in a tuple."""

written_texts: Final[Callable[[Any], InternationalString]] = _WrittenTexts
"""The texts as they are written: a list of ``WrittenText``, or a dict of languages; nobody may change it then."""

NO_TEXT: Final = InternationalString()
