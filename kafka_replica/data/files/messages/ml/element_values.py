"""Read values that are elements, because a component has several values, several languages, or markup.

Source: SDMX-ML 3.1, ``CompType`` of the structure-specific namespace, ``ValueType`` and ``TextType`` of common.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias
from xml.sax.saxutils import escape, quoteattr

from kafka_replica.data.errors import DatasetError
from kafka_replica.data.files.messages.ml.events import Events

Value: TypeAlias = str | dict[str, str]

_LANGUAGE: Final = "http://www.w3.org/XML/1998/namespace}lang"
_DEFAULT_LANGUAGE: Final = "en"
"""The default of ``xml:lang`` in the schemas."""
_TEXTS: Final = frozenset({"Text", "StructuredText"})
_DEEPEST: Final = 200
_LONGEST: Final = 16 << 20


class ElementValueReader:
    """A reader of the content of one element, which calls ``take`` with its value at the end of the element.

    An empty value is only passed on if ``takes_empty``.
    """

    def __init__(self, events: Events, take: Callable[[Value], None], *, takes_empty: bool = False) -> None:
        self._events, self._take, self._takes_empty = events, take, takes_empty
        self._depth = 0
        self._length = 0
        self._parts: list[str] = []
        self._texts: dict[str, str] = {}
        self._language: str | None = None
        events.hand_over(self._start, self._end, self._text)

    def _start(self, name: str, attributes: Mapping[str, str]) -> None:
        local = name.rpartition("}")[2]
        self._depth += 1
        if self._depth > _DEEPEST:
            raise DatasetError(f"a value has more than {_DEEPEST} nested elements")
        if self._depth == 1 and local in _TEXTS:
            self._language = attributes.get(_LANGUAGE, _DEFAULT_LANGUAGE)
            self._parts.clear()
            return
        own = "".join(f" {one.rpartition('}')[2]}={quoteattr(value)}" for one, value in attributes.items())
        self._add(f"<{local}{own}>")

    def _text(self, text: str) -> None:
        self._add(text if self._depth <= (self._language is not None) else escape(text))

    def _end(self, name: str) -> None:
        self._depth -= 1
        if self._depth < 0:
            self._finish()
        elif self._depth == 0 and self._language is not None:
            self._texts.setdefault(self._language, "".join(self._parts))
            self._language = None
            self._parts.clear()
        else:
            self._add(f"</{name.rpartition('}')[2]}>")

    def _add(self, text: str) -> None:
        self._length += len(text)
        if self._length > _LONGEST:
            raise DatasetError(f"a value has more than {_LONGEST:,} characters")
        self._parts.append(text)

    def _finish(self) -> None:
        self._events.hand_back()
        value: Value = self._texts or "".join(self._parts)
        if value or self._takes_empty:
            self._take(value)
