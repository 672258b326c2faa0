"""The fast path for codelists: ids are read and checked at once, the rest on first access to a code.

Requesting elements from libxml2 takes several times as long as parsing, and a service needs few or no codes of most
long codelists. Only a code's id can be invalid, so no error is deferred. Until the first access, the parsed document
stays in memory.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import TypeAlias

from lxml import etree

from kafka_replica.sdmx.containers import NO_TEXT, InternationalString, Items, LazyItems, numbered
from kafka_replica.sdmx.formats.ml.reading.tree import Names
from kafka_replica.sdmx.formats.ml.reading.values import XML_LANG
from kafka_replica.sdmx.model import Code
from kafka_replica.sdmx.urns.urn import Urn

LongWay: TypeAlias = "Callable[[etree._Element, str], Code]"  # noqa: SLF001 - the only name lxml gives this type


def lazy_codes(ids: list[str], first: etree._Element, urn: Urn, names: Names, long_way: LongWay) -> Items[Code] | None:
    """Return the codes from the first one on, or None if an id is invalid: ``long_way`` then reports the error.

    ``long_way`` builds a code from its element and id.
    """
    numbers = numbered(ids)
    if numbers is None:
        return None
    return LazyItems(numbers, _CodeElements(first, len(ids), urn, names, long_way).code)


class _PlainCodes:
    """The contents of the plain codes, as long flat lists: few objects, because the garbage collector visits each.

    Code number n has the names from ``ends[n]`` to ``ends[n + 1]``.
    """

    __slots__ = ("descriptions", "ends", "languages", "names", "others", "parents", "uris")

    def __init__(self) -> None:
        self.names: list[str] = []
        self.languages: list[str] = []
        self.ends: list[int] = [0]
        self.descriptions: dict[int, list[tuple[str, str]]] = {}
        self.parents: dict[int, str] = {}
        self.uris: dict[int, str] = {}
        self.others: dict[int, Code] = {}

    def code(self, urn: Urn, id_: str, number: int) -> Code:
        """Return a code: a plain code is built here, and any other code was built when the elements were read."""
        other = self.others.get(number)
        if other is not None:
            return other
        run = slice(self.ends[number], self.ends[number + 1])
        texts = list(zip(self.languages[run], self.names[run], strict=True))
        descriptions = self.descriptions.get(number)
        return Code(
            urn=Urn(urn.package, "Code", urn.agency, urn.id, urn.version, id_),
            uri=self.uris.get(number),
            names=InternationalString(texts) if texts else NO_TEXT,
            descriptions=InternationalString(descriptions) if descriptions else NO_TEXT,
            parent=self.parents.get(number),
        )


class _CodeElements:
    """The elements of the codes until the first access to a code, and the contents read from them afterwards."""

    __slots__ = ("_count", "_first", "_lock", "_long_way", "_names", "_plain", "_urn")

    def __init__(self, first: etree._Element, count: int, urn: Urn, names: Names, long_way: LongWay) -> None:
        self._first: etree._Element | None = first
        self._count, self._urn, self._names, self._long_way = count, urn, names, long_way
        self._lock = threading.Lock()
        self._plain: _PlainCodes | None = None

    def code(self, id_: str, number: int) -> Code:
        """Return the code of a number."""
        plain = self._plain
        if plain is None:
            with self._lock:
                plain = self._plain
                if plain is None and self._first is not None:
                    plain = self._plain = self._read(self._first)
                    self._first = None
        if plain is None:
            raise ValueError("codes without elements")  # the first caller always had them
        return plain.code(self._urn, id_, number)

    def _read(self, first: etree._Element) -> _PlainCodes:
        parent, plain = first.getparent(), _PlainCodes()
        # Codes nested in codes are not in the list, and a walk through all elements cannot distinguish them.
        elements = iter(()) if parent is None or _count_codes(parent) != self._count else parent.iter()
        if not _walk(elements, first, self._names, plain, self._long_way):
            codes = [first, *(element for element in first.itersiblings() if self._names[element.tag] == "Code")]
            plain = _PlainCodes()
            plain.others = {n: self._long_way(code, code.get("id", "")) for n, code in enumerate(codes)}
        return plain


def _count_codes(element: etree._Element) -> int:
    """Return the number of codes in an element at any depth, in the namespaces of all editions."""
    return sum(1 for _ in element.iter("{*}Code"))


def _walk(  # noqa: C901, PLR0912 - one loop, for speed
    elements: Iterator[etree._Element], first: etree._Element, names: Names, plain: _PlainCodes, long_way: LongWay
) -> bool:
    """Read the codes by walking all elements in document order; return False if the first code was not found."""
    for element in elements:
        if element is first:
            break
    else:
        return False
    add_name, add_language = plain.names.append, plain.languages.append
    code: etree._Element | None = first
    number, code_tag, name_tag = 0, first.tag, ""
    while code is not None:
        following: etree._Element | None = None
        is_plain = True
        for element in elements:
            tag = element.tag
            if tag == name_tag:
                add_name(element.text or "")
                add_language(element.get(XML_LANG, "en").strip())
                if len(element):
                    is_plain = False
            elif tag == code_tag:
                following = element
                break
            elif (kind := names[tag]) == "Name":
                name_tag = tag
                add_name(element.text or "")
                add_language(element.get(XML_LANG, "en").strip())
                is_plain = is_plain and not len(element)
            elif kind == "Code":  # in the namespace of another edition
                following = element
                break
            elif kind == "Description" and not len(element):
                plain.descriptions.setdefault(number, []).append(
                    (element.get(XML_LANG, "en").strip(), element.text or "")
                )
            elif (
                kind == "Parent" and ":" not in (found := (element.text or "").strip()) and not (found and len(element))
            ):
                plain.parents[number] = found
            elif kind == "Ref" and plain.parents.get(number) == "" and not len(element):
                plain.parents[number] = element.get("id", "")
            elif kind or isinstance(tag, str):
                is_plain = False
        # Elements of the list itself may come between its codes, or after them.
        if not is_plain or plain.parents.get(number) == "" or code.getnext() is not following:
            plain.others[number] = long_way(code, code.get("id", ""))
        uri = code.get("uri")
        if uri is not None:
            plain.uris[number] = uri.strip()
        plain.ends.append(len(plain.names))
        number += 1
        code = following
    return True
