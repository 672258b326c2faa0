"""Parse SDMX-ML securely: no DTD, no entities, no network access; libxml2's own limits of depth and text size apply."""

from __future__ import annotations

import re
import threading
from functools import lru_cache
from typing import Final, NamedTuple
from xml.parsers.expat import ExpatError, ParserCreate

from lxml import etree

from kafka_replica.sdmx.errors import MessageError
from kafka_replica.sdmx.formats.ml.reading.declared_namespaces import declared_namespaces
from kafka_replica.sdmx.messages.format import Format, of_namespace

_skip_misc = re.compile(rb"(?:\s+|<\?.*?\?>|<!--.*?-->)*", re.DOTALL).match
_starts_plainly = re.compile(
    rb"(?:<\?xml version=[\"']1\.0[\"'](?: encoding=[\"'][Uu][Tt][Ff]-8[\"'])?"
    rb"(?: standalone=[\"'](?:yes|no)[\"'])?\s?\?>)?\s*<[A-Za-z]"
).match
"""A match for a document in UTF-8 with the root element right after the declaration."""

_start_of_root = re.compile(rb"(<[^\s/>]+)[^>]*").match
_XSI: Final = b' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'
_AGAIN: Final = "publish it again"
MAX_NAMESPACE: Final = 2000
"""The maximum length of a namespace, in characters: it is part of the name of each of its elements."""


class ParsedDocument(NamedTuple):
    """A document: its format, its root, its size in bytes, and the namespaces that it declares, as written.

    ``namespaces`` is None if the encoding prevents that all declarations are found by searching the document.
    """

    format: Format
    root: etree._Element
    size: int
    namespaces: frozenset[bytes] | None


def parse(data: bytes, *, comments: bool = False) -> ParsedDocument:
    """Return a document with its format; comments and instructions are left out unless ``comments`` is set.

    Raises:
        MessageError: the data is not well-formed, has a DTD or an overlong namespace, or is not SDMX.
    """
    is_surely_without = _refuse_dtd(data)
    try:
        root = _root_of(data, comments=comments)
    except (ValueError, LookupError) as error:
        raise MessageError(f"reading SDMX-ML: this XML cannot be parsed: {error}") from None
    if not is_surely_without and root.getroottree().docinfo.internalDTD is not None:
        raise MessageError(_DTD)
    namespaces = declared_namespaces(data, root.getroottree().docinfo.encoding)
    _refuse_long_namespaces(root, namespaces)
    return ParsedDocument(_format_of(root), root, len(data), namespaces)


def _refuse_long_namespaces(root: etree._Element, declared: frozenset[bytes] | None) -> None:
    if declared is not None and not any(len(written) > MAX_NAMESPACE for written in declared):
        return
    for _, (_, namespace) in etree.iterwalk(root, events=("start-ns",)):
        if len(namespace) > MAX_NAMESPACE:
            raise MessageError(
                f"reading SDMX-ML: the namespace {namespace[:80]!r}... has {len(namespace):,} characters, more than "
                f"{MAX_NAMESPACE:,}; correct it"
            )


def _root_of(data: bytes, *, comments: bool) -> etree._Element:
    """Parse a document; names of namespaces need not be URIs.

    libxml2 rejects such names (those of SDMX 2.0 contain brackets), which XML does not: the document is parsed again
    by a parser that continues after errors, and accepted if another parser finds none. The prefix xsi is declared if
    it is not: SOAP envelopes declare it, and some structures were cut out of them.
    """
    usual = _parsers.of(comments=comments)
    try:
        return etree.fromstring(data, usual)
    except etree.XMLSyntaxError as error:
        if any(map(_is_about_xsi, usual.error_log)) and (declared := _with_xsi(data)) is not None:
            return _root_of(declared, comments=comments)
        # The log of the exception has the errors of other documents, too.
        _refuse_other_faults(usual.error_log, error)
    if (fault := _fault_by_expat(data)) is not None:
        raise _malformed(fault.lineno, str(fault))
    lenient = _new_parser(comments=comments, recover=True)
    root = etree.fromstring(data, lenient)
    _refuse_other_faults(lenient.error_log)
    return root


def _is_about_xsi(entry: etree._LogEntry) -> bool:
    is_prefix = entry.type == etree.ErrorTypes.NS_ERR_UNDEFINED_NAMESPACE
    return is_prefix and str(entry.message).startswith("Namespace prefix xsi for ")


def _with_xsi(data: bytes) -> bytes | None:
    """Return the document with a declaration of the prefix xsi on its root; None if it has one there."""
    misc = _skip_misc(data)
    root = _start_of_root(data, misc.end() if misc else 0)
    if root is None or b"xmlns:xsi" in root[0]:
        return None
    return data[: root.end(1)] + _XSI + data[root.end(1) :]


def _refuse_other_faults(log: etree._BaseErrorLog, error: etree.XMLSyntaxError | None = None) -> None:
    """Reject a document with errors other than invalid namespace names; ``error`` is what the parser has raised."""
    others = [entry for entry in log if entry.type != etree.ErrorTypes.WAR_NS_URI]
    advice = _AGAIN
    if others and all(entry.type == etree.ErrorTypes.NS_ERR_UNDEFINED_NAMESPACE for entry in others):
        advice = "declare the prefix, by an attribute xmlns:PREFIX"
    if error is not None and len(others) == len(log):
        raise _malformed(error.lineno, error.msg, advice)
    if others:
        raise _malformed(others[0].line, others[0].message, advice)


def _malformed(line: int | None, reason: str | None, advice: str = _AGAIN) -> MessageError:
    return MessageError(f"reading SDMX-ML: not well-formed XML at line {line}: {reason}; {advice}")


def _fault_by_expat(data: bytes) -> ExpatError | None:
    """Return what Expat finds: after an error libxml2 ignores content after the root, and logs 100 errors at most."""
    parser = ParserCreate(namespace_separator="\n")
    parser.StartDoctypeDeclHandler = _refuse_doctype
    try:
        parser.Parse(data, True)
    except ExpatError as error:
        return error
    return None


def _refuse_doctype(*_: object) -> None:
    raise MessageError(_DTD)


def _new_parser(*, comments: bool, recover: bool = False) -> etree.XMLParser:
    return etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, remove_comments=not comments,
        remove_pis=not comments, collect_ids=False, recover=recover,
    )  # fmt: skip


class _Parsers(threading.local):
    """The parsers of one thread: creating a parser takes as long as parsing a small message."""

    def __init__(self) -> None:
        self._made: dict[bool, etree.XMLParser] = {}

    def of(self, *, comments: bool) -> etree.XMLParser:
        """Return the parser that keeps comments and instructions, or the parser that does not."""
        found = self._made.get(comments)
        if found is None:
            found = self._made[comments] = _new_parser(comments=comments)
        return found


_parsers: Final = _Parsers()

_DTD = "reading SDMX-ML: the document has a DOCTYPE, which SDMX does not allow (entities can do harm); remove it"


def _refuse_dtd(data: bytes) -> bool:
    """Reject a DTD; return False if the encoding may hide a DTD, so that the parser has to look for one."""
    if _starts_plainly(data):
        return True
    found = _skip_misc(data)
    start = found.end() if found else 0
    if data[start : start + 9].upper() == b"<!DOCTYPE":
        raise MessageError(_DTD)
    if data[start : start + 1] != b"<" or data[start : start + 2] == b"<!":
        line = data.count(b"\n", 0, start) + 1
        raise MessageError(f"reading SDMX-ML: an element is missing at line {line}")
    return False


@lru_cache(maxsize=64)
def format_of_tag(tag: object) -> Format | None:
    """Return the SDMX-ML format of an element with this tag, if any."""
    # A comment's tag is not a text and has no namespace.
    return of_namespace(str(tag)[1:].partition("}")[0])


def _format_of(root: etree._Element) -> Format:
    found = format_of_tag(root.tag)
    if found is not None:
        return found
    for element in root.iter():
        # The first element of SDMX decides; a SOAP envelope may surround it.
        found = format_of_tag(element.tag)
        if found is not None:
            return found
    raise MessageError(f"reading XML with root {str(root.tag)[:200]!r}: it is not SDMX-ML; it has no SDMX namespace")
