"""The small containers of the model: texts in several languages, and items by id in document order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NoReturn, TypeVar

from kafka_replica.errors import UnreadableContentError
from kafka_replica.sdmx.urn import Urn

T = TypeVar("T")


class InternationalString(Mapping[str, str]):
    """A text in several languages: language -> text, in the order of the message. Immutable.

    Languages compare without regard to case, as BCP 47 says. Of two texts in one language a look-up gives
    the first; ``texts`` has both.
    """

    __slots__ = ("texts",)
    texts: tuple[tuple[str, str], ...]

    def __init__(self, texts: Iterable[tuple[str, str]] | Mapping[str, str] = ()) -> None:
        # A list first: asking an abstract class costs a microsecond, and codelists are long.
        pairs = texts if isinstance(texts, list) or not isinstance(texts, Mapping) else texts.items()
        object.__setattr__(self, "texts", tuple(pairs))

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError("an InternationalString cannot be changed")

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


NO_TEXT: Final = InternationalString()


class Items(Mapping[str, T]):
    """Items or components by id, in the order of the message; iterating gives ids. Read-only."""

    __slots__ = ("_by_id",)

    def __init__(self, by_id: Mapping[str, T] | None = None) -> None:
        self._by_id = dict(by_id or {})

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
