"""Parsing SDMX-ML with every door shut, and finding header and artefacts in it.

No DTD, no entities, no network; libxml2's own limits on depth and on the size of a text stay on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NoReturn

from lxml import etree

from kafka_replica.errors import MessageError, UnreadableContentError
from kafka_replica.sdmx.formats import Format, of_namespace
from kafka_replica.sdmx.identity import artefact_urn
from kafka_replica.sdmx.urn import Urn

READABLE = (Format.SDMX_ML_2_1, Format.SDMX_ML_3_0, Format.SDMX_ML_3_1)

_skip_misc = re.compile(rb"(?:\s+|<\?.*?\?>|<!--.*?-->)*", re.DOTALL).match


def _is_element(node: etree._Element) -> bool:
    """Whether it is an element, not a comment or a processing instruction."""
    return isinstance(node.tag, str)


class Names(dict[object, str]):
    """Tag -> local name if it is in one of the namespaces of this SDMX-ML, else the empty text.

    Comments, and elements of other namespaces, so read as nothing.
    """

    def __init__(self, format_: Format) -> None:
        super().__init__()
        self._format = format_

    def __missing__(self, tag: object) -> str:
        found = ""
        if isinstance(tag, str) and tag[:1] == "{":
            namespace, _, local = tag[1:].partition("}")
            if of_namespace(namespace) is self._format:
                found = local
        elif tag in {"Ref", "URN"}:
            # The schemas of 2.1 leave the parts of a reference unqualified.
            found = str(tag)
        self[tag] = found
        return found


def fail(element: etree._Element, reason: str) -> NoReturn:
    """Raise MessageError that names the element and its line."""
    local = etree.QName(element).localname[:80]
    raise MessageError(f"reading SDMX-ML, <{local}> at line {element.sourceline}: {reason}")


def parse(data: bytes, *, comments: bool = False) -> tuple[Format, etree._Element]:
    """The format and the root of a document.

    Raises:
        MessageError: not well-formed, has a DTD, or is not an SDMX structure message.
        UnreadableContentError: SDMX-ML of an edition that is not read.
    """
    _refuse_dtd(data)
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, remove_comments=not comments,
        remove_pis=not comments, collect_ids=False,
    )  # fmt: skip
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        raise MessageError(
            f"reading SDMX-ML: not well-formed XML at line {error.lineno}: {error.msg}; have it published again"
        ) from None
    except (ValueError, LookupError) as error:
        raise MessageError(f"reading SDMX-ML: this XML cannot be parsed: {error}") from None
    if root.getroottree().docinfo.internalDTD is not None:
        raise MessageError(_DTD)
    return _format_of(root), root


_DTD = "reading SDMX-ML: the document has a DOCTYPE, and none is allowed in SDMX (entities can do harm); remove it"


def _refuse_dtd(data: bytes) -> None:
    found = _skip_misc(data)
    start = found.end() if found else 0
    if data[start : start + 9].upper() == b"<!DOCTYPE":
        raise MessageError(_DTD)
    if data[start : start + 1] != b"<" or data[start : start + 2] == b"<!":
        line = data.count(b"\n", 0, start) + 1
        raise MessageError(f"reading SDMX-ML: no element where one must begin, at line {line}")


def _format_of(root: etree._Element) -> Format:
    for element in root.iter():
        # The first element of SDMX tells; a SOAP envelope may stand around it.
        found = of_namespace(etree.QName(element).namespace or "") if _is_element(element) else None
        if found in READABLE:
            return found
        if found is not None:
            raise UnreadableContentError(
                f"reading {found.title}: this version reads SDMX-ML 2.1, 3.0 and 3.1; the bytes are kept"
            )
    raise MessageError(
        f"reading XML with root {str(root.tag)[:200]!r}: it is not SDMX-ML; no namespace of SDMX is in it"
    )


def header_of(root: etree._Element, names: Names) -> etree._Element | None:
    """The message's Header, if it has one."""
    return next((element for element in root.iter("{*}Header") if names[element.tag]), None)


def structures_of(root: etree._Element, names: Names) -> list[etree._Element]:
    """The elements that hold the containers of artefacts.

    Raises MessageError where there is none: a data message, say.
    """
    found = [element for element in root.iter("{*}Structures") if names[element.tag]]
    if not found:
        fail(root, "there is no <Structures>, so this is not a structure message")
    for element in found:
        if any(names[above.tag] == "Structures" for above in element.iterancestors()):
            fail(element, "<Structures> in <Structures>")
    return found


def artefacts_of(root: etree._Element, names: Names) -> Iterator[tuple[Urn, etree._Element]]:
    """Each maintainable artefact with its URN, in document order. Raises MessageError."""
    for structures in structures_of(root, names):
        for container in structures:
            if not _is_element(container):
                continue
            if container.get("id") is not None:
                fail(container, "artefacts must stand in a container, such as <Codelists>")
            for element in container:
                if _is_element(element):
                    yield urn_of(element), element


def urn_of(element: etree._Element) -> Urn:
    """The URN of an artefact, by what it says of itself. Raises MessageError."""
    return artefact_urn(
        etree.QName(element).localname,
        element.get("agencyID"),
        element.get("id"),
        element.get("version"),
        element.get("urn"),
        f"at line {element.sourceline}",
    )
