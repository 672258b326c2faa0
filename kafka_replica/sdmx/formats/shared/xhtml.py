"""XHTML in metadata sets: as SDMX-ML has it, in the namespace of XHTML.

SDMX-JSON has XHTML as text, mostly without a namespace, which SDMX-ML requires (``XHTMLType`` of SDMXCommon.xsd).
"""

from __future__ import annotations

from copy import deepcopy
from html import escape  # that of xml.sax.saxutils imports an HTTP client
from typing import Final

from lxml import etree

from kafka_replica.sdmx.errors import UnwritableError

_NAMESPACE: Final = "http://www.w3.org/1999/xhtml"


def content_of(element: etree._Element) -> str:
    """Return the content of an element as XML that is complete by itself, without namespaces that it does not use."""
    parts = [escape(element.text or "", quote=False)]
    for child in element.iterchildren(etree.Element):
        alone = deepcopy(child)
        alone.tail = None
        etree.cleanup_namespaces(alone)
        parts.extend((etree.tostring(alone, encoding="unicode"), escape(child.tail or "", quote=False)))
    return "".join(parts)


def is_xhtml(text: str) -> bool:
    """Return whether a text is well-formed XHTML."""
    try:
        as_xhtml(text)
    except UnwritableError:
        return False
    return True


def as_xhtml(text: str) -> str:
    """Return a text of SDMX-JSON in the form in which it is read from SDMX-ML.

    Raises:
        UnwritableError: it is not well-formed, or has an element of another namespace, which SDMX-ML does not allow.
    """
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True, remove_pis=True
    )
    try:
        element = etree.fromstring(f'<a xmlns="{_NAMESPACE}">{text}</a>', parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        reason = getattr(error, "msg", error)
        raise UnwritableError(f"the structured text {text[:40]!r} is not well-formed XHTML: {reason}") from None
    for child in element.iterchildren(etree.Element):
        if etree.QName(child).namespace != _NAMESPACE:
            raise UnwritableError(f"the structured text {text[:40]!r} has an element that is not one of XHTML")
    return content_of(element)
