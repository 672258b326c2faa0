"""Texts in several languages."""

from __future__ import annotations

from collections.abc import Callable, ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
from typing import TYPE_CHECKING, Any, Final, NoReturn, Protocol, TypeVar, cast, overload

import msgspec

if TYPE_CHECKING:
    from abc import ABCMeta

D = TypeVar("D")


if TYPE_CHECKING:  # it is registered as a Mapping below, which a type checker does not see

    class _TextStruct(Mapping[str, str]):
        def __init_subclass__(cls, *, frozen: bool, gc: bool) -> None: ...

else:
    _TextStruct = msgspec.Struct


class WrittenText(Protocol):
    """A text and its language, as in a message."""

    locale: str
    value: str


class InternationalString(_TextStruct, frozen=True, gc=False):
    """A text in several languages: language -> text, in the order of the message. Immutable; a ``Mapping``.

    Languages compare case-insensitively, as BCP 47 defines. If a language has two texts, a look-up returns
    the first; ``texts`` has both.
    """

    # A struct takes a third of the memory of a plain object, and the collector skips it; long lists have many.

    texts: tuple[tuple[str, str], ...] = ()

    if TYPE_CHECKING:

        def __init__(self, texts: Iterable[tuple[str, str]] | Mapping[str, str] = ()) -> None: ...

    def __post_init__(self) -> None:
        texts: Any = self.texts
        if type(texts) is not tuple:
            # Check for a list first: a check against an abstract class costs a microsecond, and codelists are long.
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
        """Return the languages."""
        return KeysView(self)

    def values(self) -> ValuesView[str]:
        """Return the texts, one per language."""
        return ValuesView(self)

    def items(self) -> ItemsView[str, str]:
        """Return the languages and texts, one per language."""
        return ItemsView(self)

    @overload
    def get(self, language: str) -> str | None: ...
    @overload
    def get(self, language: str, default: D) -> str | D: ...
    def get(self, language: str, default: Any = None) -> Any:
        """Return the text in that language, or the default."""
        try:
            return self[language]
        except KeyError:
            return default

    def __hash__(self) -> int:
        return hash(self.texts)

    def __eq__(self, other: object) -> bool:
        return self.texts == other.texts if isinstance(other, InternationalString) else NotImplemented

    def __ne__(self, other: object) -> bool:
        # A struct has its own method, which checks the type of the other object.
        return self.texts != other.texts if isinstance(other, InternationalString) else NotImplemented

    def __repr__(self) -> str:
        return f"InternationalString({dict(self.texts)!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return InternationalString, (self.texts,)

    def in_language(self, language: str | None = None) -> str | None:
        """Return the text in that language or None; without a language, the English text, else the first."""
        try:
            return self["en" if language is None else language]
        except KeyError:
            return self.texts[0][1] if language is None and self.texts else None


cast("ABCMeta", Mapping).register(InternationalString)

_held: Final = InternationalString.__dict__["texts"].__get__
_set_texts: Final = InternationalString.__dict__["texts"].__set__


class _Nothing:
    """A placeholder for a method of the base class that hides it, so that msgspec does not call it."""

    def __get__(self, value: object, owner: type | None = None) -> NoReturn:
        raise AttributeError("it has none")

    def __call__(self, *_: object) -> None:
        """Do nothing, for callers that look the method up in another way."""


class _WrittenTexts(InternationalString, frozen=True, gc=False):
    """An international string from the texts of a message; pairs are created on first access."""

    if not TYPE_CHECKING:  # a type checker requires that a method stays a method, and a field a field
        __post_init__ = _Nothing()

        @property
        def texts(self) -> tuple[tuple[str, str], ...]:
            """All texts with their languages."""
            held = _held(self)
            if type(held) is tuple:
                return held
            # Two threads create equal values.
            made = tuple(held.items()) if type(held) is dict else tuple([(one.locale, one.value) for one in held])
            _set_texts(self, made)
            return made


international: Final[Callable[[tuple[tuple[str, str], ...]], InternationalString]] = InternationalString
"""An equivalent of ``InternationalString(texts)`` for texts that are in a tuple."""

written_texts: Final[Callable[[Any], InternationalString]] = _WrittenTexts
"""The texts as written: a list of ``WrittenText``, or a dict of languages; they must not be changed afterwards."""

NO_TEXT: Final = InternationalString()
