"""Codelists of SDMX-ML 1.0 and 2.0."""

from __future__ import annotations

from threading import Lock

from lxml import etree

from kafka_replica.common.garbage_collector import collector_paused
from kafka_replica.sdmx.containers import LazyItems, items_of, numbered
from kafka_replica.sdmx.formats.ml.reading.tree import Names
from kafka_replica.sdmx.formats.ml.reading.values import named
from kafka_replica.sdmx.formats.ml.writing.values import write_texts
from kafka_replica.sdmx.formats.ml.writing.xml import el
from kafka_replica.sdmx.formats.ml20.reading.message_context import MessageContext, stated
from kafka_replica.sdmx.formats.ml20.reading.values import id_of, item_urn, read_maintained
from kafka_replica.sdmx.formats.ml20.writing.values import Edition, write_annotations, write_maintained
from kafka_replica.sdmx.model import Code, Codelist
from kafka_replica.sdmx.urns.urn import Urn

# Reading


def read_codelist(urn: Urn, elements: list[etree._Element], context: MessageContext) -> Codelist:
    """Read a <CodeList>. The name of a code is in its Description.

    Ids are read and checked at once, the rest on access: only the id of a code can be invalid.
    """
    ids: list[str] = []
    base, _ = read_maintained(elements[0], context, ids)
    numbers = numbered([id_.strip() for id_ in ids]) if ids else None
    if numbers is not None:
        return Codelist(urn=urn, codes=LazyItems(numbers, _Codes(urn, elements[0], context.names).code), **base)
    codes: dict[str, Code] = {}
    for element in [one for one in elements[0] if context.names[one.tag] == "Code"] if ids else ():
        value = id_of(element, codes, "value")
        codes[value] = _read_code(item_urn(urn, "Code", element, value), element, context.names)
    return Codelist(urn=urn, codes=items_of(urn, codes, is_stub=base["is_external_reference"]), **base)


class _Codes:
    """The elements of the codes of a list, until the first access to a code."""

    __slots__ = ("_codelist", "_lock", "_names", "_read", "_urn")

    def __init__(self, urn: Urn, codelist: etree._Element, names: Names) -> None:
        self._urn, self._names = urn, names
        self._codelist: etree._Element | None = codelist
        self._lock = Lock()
        self._read: list[Code] = []

    def code(self, _: str, number: int) -> Code:
        """Return the code of a number; the first access builds all codes and releases the document."""
        with self._lock:
            if self._codelist is not None:
                # libxml2 reaches the hundredth child only by way of the others.
                elements = [one for one in self._codelist if self._names[one.tag] == "Code"]
                with collector_paused():
                    self._read = [_read_code(self._own(element), element, self._names) for element in elements]
                self._codelist = None
            return self._read[number]

    def _own(self, element: etree._Element) -> Urn:
        urn = self._urn
        return Urn(urn.package, "Code", urn.agency, urn.id, urn.version, element.get("value", "").strip())


def _read_code(own: Urn, element: etree._Element, names: Names) -> Code:
    arguments, _ = named(element, names)
    if "names" not in arguments and "descriptions" in arguments:
        arguments["names"] = arguments.pop("descriptions")
    parent = stated(element, "parentCode")
    if parent:
        arguments["parent"] = parent
    return Code(urn=own, **arguments)


# Writing


def write_codelist(codelist: Codelist, edition: Edition) -> str:
    """Write a <CodeList>; the name of a code is in its Description."""
    codes = [] if codelist.codes.is_stub else [_write_code(each, edition) for each in codelist.codes.values()]
    return write_maintained("str:CodeList", codelist, edition, *codes)


def _write_code(code: Code, edition: Edition) -> str:
    edition.since_20(code.parent is not None, "the parents of codes")
    content = write_texts("str:Description", code.names) + write_annotations(code.annotations)
    return el("str:Code", content, value=code.id, parentCode=code.parent)
