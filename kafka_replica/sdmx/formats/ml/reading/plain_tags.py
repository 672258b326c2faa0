"""The contents of start tags in plain XML (see ``plain_xml``): names with namespaces, attributes, references.

Source: XML 1.0, fifth edition, and Namespaces in XML 1.0; the numbers are those of their productions and rules.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, Final

from kafka_replica.sdmx.messages.format import is_mistyped

_LONG_TAG: Final = 400
_MANY_TAGS: Final = 2000
_MANY_SHAPES: Final = 500
_XML: Final = "http://www.w3.org/XML/1998/namespace"

_NAME: Final = r"[A-Za-z_][A-Za-z0-9_.\-]*"
_is_tag: Final = re.compile(
    rf"{_NAME}(?::{_NAME})?(?:[ \t\n]+{_NAME}(?::{_NAME})?=(?:\"[^\"]*\"|'[^']*'))*[ \t\n]*/?"
).fullmatch
_attributes: Final = re.compile(rf"({_NAME}(?::{_NAME})?)=(?:\"([^\"]*)\"|'([^']*)')").findall
_is_namespace: Final = re.compile(r"https?://[A-Za-z0-9][A-Za-z0-9./_\-]{0,400}").fullmatch
"""A match for a namespace that libxml2 certainly accepts, and that is not overlong."""
_RESERVED: Final = frozenset({"xml", "xmlns", _XML, "http://www.w3.org/2000/xmlns/"})
_other_reference: Final = re.compile(r"&(?!(?:amp|lt|gt|quot|apos);)").search
_KNOWN: Final = (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&apos;", "'"), ("&amp;", "&"))


class NotPlainError(ValueError):
    """A signal that the document has to be parsed by libxml2."""


Tag = tuple[str, Callable[..., Any], str | None]
"""The name of an element, the function that looks up its attributes, and the tag that ends it unless it is empty."""
_Shape = tuple[str, tuple[str, ...], str | None, tuple[str, ...]]
"""A tag without values: the names of the element and its attributes, the end tag, declarations among the attributes."""


class Tags(dict[str, Tag]):
    """A cache of start tags: the text of a tag -> its contents, for one set of declared prefixes."""

    def __init__(self, namespaces: dict[str, str]) -> None:
        super().__init__()
        self._namespaces = {"xml": _XML, **namespaces}
        self._shapes: dict[tuple[str, ...], _Shape] = {}

    def __missing__(self, tag: str) -> Tag:
        # The text outside the values recurs, even if the values differ.
        pieces = tag.split('"')
        outside = tuple(pieces[::2])
        shape = self._shapes.get(outside) or self._shape(tag, outside)
        if shape is None:
            name, attributes = _taken_apart(tag)
            full, names, ending, declared = self._resolved(tag, name, attributes)
            values = list(attributes.values())
        elif len(pieces) % 2:
            full, names, ending, declared = shape
            values = pieces[1::2]
            if "&" in tag or "\n" in tag or "\t" in tag:
                values = [_normalised(value) for value in values]
        else:
            raise NotPlainError("a value without an end")
        attributes = dict(zip(names, values))  # noqa: B905 - equal lengths; checking them takes a tenth of the time
        for name in declared:
            if attributes.pop(name) != self._namespaces.get(name[6:]):
                raise NotPlainError(name)
        found = full, attributes.get, ending
        if "urn" not in attributes and len(tag) <= _LONG_TAG:
            if len(self) >= _MANY_TAGS:
                self.clear()
            self[tag] = found
        return found

    def _shape(self, tag: str, outside: tuple[str, ...]) -> _Shape | None:
        bare = '""'.join(outside)
        if "'" in bare:
            return None  # a value may hold text that looks like the end of another value
        found = self._resolved(bare, *_taken_apart(bare))
        if len(tag) <= _LONG_TAG:
            if len(self._shapes) >= _MANY_SHAPES:
                self._shapes.clear()
            self._shapes[outside] = found
        return found

    def _resolved(self, tag: str, name: str, attributes: Iterable[str]) -> _Shape:
        """Return names with their prefixes resolved, except for declarations. Raises NotPlainError."""
        prefix, _, local = name.rpartition(":")
        in_default = "" in self._namespaces
        full = local if not prefix and not in_default else self._in_braces(prefix, local)
        names: list[str] = []
        declared: list[str] = []
        for attribute in attributes:
            prefix, _, local = attribute.rpartition(":")
            if attribute == "xmlns" or prefix == "xmlns":
                declared.append(attribute)
                names.append(attribute)
            elif prefix == "xml" and local != "lang":
                raise NotPlainError(attribute)
            else:
                names.append(self._in_braces(prefix, local) if prefix else local)
        if len(set(names)) != len(names):
            raise NotPlainError("an attribute twice")
        return full, tuple(names), None if tag[-1] == "/" else f"/{name}", tuple(declared)

    def of_root(self, tag: str, name: str, attributes: dict[str, str]) -> Tag:
        """Return the contents of the root's tag without the declarations. Raises NotPlainError."""
        full, names, ending, _ = self._resolved(tag, name, attributes)
        found = dict(zip(names, attributes.values(), strict=True))
        return full, found.get, ending

    def _in_braces(self, prefix: str, local: str) -> str:
        namespace = self._namespaces.get(prefix)
        if namespace is None:
            raise NotPlainError("a prefix")
        return f"{{{namespace}}}{local}"


def _taken_apart(tag: str) -> tuple[str, dict[str, str]]:
    """Return the name in a start tag, and its attributes as written. Raises NotPlainError."""
    if not _is_tag(tag):
        raise NotPlainError("a tag")
    attributes: dict[str, str] = {}
    written = _attributes(tag)
    for name, double, single in written:
        attributes[name] = _normalised(double or single)
    if len(attributes) != len(written):
        raise NotPlainError("an attribute twice")
    # An empty tag ends with "/", which is not part of a name.
    return tag.split(maxsplit=1)[0].rstrip("/"), attributes


def _normalised(value: str) -> str:
    """Return the value of an attribute ([3.3.3] Attribute-Value Normalization). Raises NotPlainError."""
    value = value.replace("\n", " ").replace("\t", " ")
    return unescaped(value) if "&" in value else value


@lru_cache(maxsize=8)
def root_of(tag: str) -> tuple[Tags, Tag]:
    """Return the cache for tags below a root element, and the contents of the root's tag. Raises NotPlainError."""
    name, attributes = _taken_apart(tag)
    namespaces: dict[str, str] = {}
    for declared in [attribute for attribute in attributes if attribute == "xmlns" or attribute.startswith("xmlns:")]:
        prefix, value = declared[6:], attributes.pop(declared)
        if prefix == "xml" and value == _XML:
            continue
        if prefix in _RESERVED or not _is_namespace(value) or value in _RESERVED or is_mistyped(value):
            raise NotPlainError(declared)
        namespaces[prefix] = value
    tags = Tags(namespaces)
    return tags, tags.of_root(tag, name, attributes)


def unescaped(text: str) -> str:
    """Return the text with the five predefined references replaced. Raises NotPlainError for any other reference."""
    if _other_reference(text):
        raise NotPlainError("a reference")
    for reference, character in _KNOWN:
        text = text.replace(reference, character)
    return text
