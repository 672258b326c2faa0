"""Parse small documents of plain XML, the kind registries write: elements, attributes and text.

lxml creates an element object on each access, which for a small message takes longer than parsing it. So XML without
comments, CDATA, instructions, numeric references and nested namespace declarations is parsed here, by splitting it at
its angle brackets; the results for recurring tags are cached. Any other document, valid or not, is declined and left to
libxml2. An accepted document is well-formed, and libxml2 would read the same from it.

Source: XML 1.0, fifth edition, and Namespaces in XML 1.0; the numbers are those of their productions and rules.
"""

from __future__ import annotations

import re
from collections.abc import Callable, ItemsView, Iterator
from typing import Any, Final, NoReturn

from kafka_replica.sdmx.formats.ml.reading.plain_tags import NotPlainError, Tag, Tags, root_of, unescaped

_DEPTH: Final = 100
_LONG_ROOT: Final = 4000
_NO_MORE: Final = ("", "")
_declaration: Final = re.compile(
    rb"<\?xml version=([\"'])1\.0\1(?: encoding=([\"'])[Uu][Tt][Ff]-8\2)?"
    rb"(?: standalone=([\"'])(?:yes|no)\3)?[ \t\n]?\?>[ \t\r\n]*"
).match
_ALLOWED: Final = bytes(code for code in range(256) if code >= 0x20 or code in b"\t\n\r")
"""[2] Char, except for U+FFFE and U+FFFF."""
_NO_MARKS: Final = bytes(code for code in _ALLOWED if code not in b"<>")


class Element(list["Element"]):
    """An element with the part of lxml's interface that readers use; its children are the list items. Read-only."""

    __slots__ = ("get", "tag", "tail", "text")
    get: Callable[..., Any]
    tag: str
    tail: str
    text: str

    def items(self) -> ItemsView[str, str]:
        """Return the attributes with their values."""
        found: ItemsView[str, str] = self.get.__self__.items()  # type: ignore[attr-defined]
        return found

    def keys(self) -> list[str]:
        """Return the names of the attributes."""
        return [name for name, _ in self.items()]

    def itertext(self) -> Iterator[str]:
        """Yield all text in the element."""
        if self.text:
            yield self.text
        for child in self:
            yield from child.itertext()
            if child.tail:
                yield child.tail

    @property
    def sourceline(self) -> NoReturn:
        """The line is only needed for errors, which libxml2 reports."""
        raise NotPlainError("the line of an element")


def is_plain(element: object) -> bool:
    """Return True if an element was parsed here."""
    return isinstance(element, Element)


def parsed(data: bytes) -> Element:
    """Return the root of a document. Raises NotPlainError or UnicodeDecodeError if libxml2 has to parse it."""
    marks = data.translate(None, _NO_MARKS)
    text = data.decode()
    if marks != b"<>" * (len(marks) // 2) or "\ufffe" in text or "\uffff" in text:
        raise NotPlainError("a character")
    if "\r" in text:  # [2.11] End-of-Line Handling
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    # Opening and closing brackets alternate, and so do the pieces between them: text, tag, text, tag, ...
    parts = text.replace(">", "<").split("<")
    at = 2 if _declaration(data) else 0
    if len(parts) < at + 3 or _has_text(parts[at]) or _has_text(parts[-1]) or len(parts[at + 1]) > _LONG_ROOT:
        raise NotPlainError("no root")
    if "&" in text:
        parts[2::2] = [unescaped(part) if "&" in part else part for part in parts[2::2]]
    tags, root = root_of(parts[at + 1])
    return _built(root, parts[at + 2], zip(parts[at + 3 :: 2], parts[at + 4 :: 2], strict=True), tags)


def _has_text(text: str) -> bool:
    """Return True if the text has anything but blanks ([3] S)."""
    return text.strip(" \t\n") != ""


def _built(root: Tag, first: str, pairs: Iterator[tuple[str, str]], tags: Tags) -> Element:
    """Build the root element from its first text and all following tags with their texts. Raises NotPlainError."""
    top = made = Element()
    made.tag, made.get, end = root
    made.text = first
    if end is None:
        raise NotPlainError("an empty root")
    ended: list[tuple[Element, str | None]] = [(made, None)]
    for tag, text in pairs:
        while tag != end:
            if end is None:
                raise NotPlainError("an element after the root")
            one = Element()
            one.tag, one.get, ending = tags[tag]
            top.append(one)
            if ending is None:
                one.text, one.tail = "", text
                break
            one.text = text
            # Most elements hold a text and nothing else.
            tag, text = next(pairs, _NO_MORE)  # noqa: PLW2901
            if tag == ending:
                one.tail = text
                break
            ended.append((top, end))
            top, end = one, ending
            if len(ended) > _DEPTH:
                raise NotPlainError("too deep")
        else:
            top.tail = text
            top, end = ended.pop()
    if end is not None:
        raise NotPlainError("an element without an end")
    made.tail = ""
    return made
