"""The parts of an XLSX file, read securely: sizes are limited before decompression, and DTDs are rejected.

Source: ECMA-376 Part 2 (Open Packaging Conventions) and Part 1, "SpreadsheetML". A spreadsheet library would also read
styles, charts and formulas, which are not needed; the needed part is small.
"""

from __future__ import annotations

import posixpath
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import IO, Final

from lxml import etree

from kafka_replica.sdmx.errors import MessageError
from kafka_replica.sdmx.formats.xlsx import old_workbooks, zip_methods

MAX_PART: Final = 64 << 20
"""The maximum decompressed size of a part in bytes; all parts together may have twice as many."""

_MAX_PARTS: Final = 10_000
_DOCTYPES: Final = (b"<!DOCTYPE", b"<\0!\0D\0O\0C", b"\0<\0!\0D\0O\0C")
_DOCTYPE_BYTES: Final = max(map(len, _DOCTYPES))
_WORKSHEET: Final = "/worksheet"
_RELATION: Final = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_STRICT_RELATION: Final = "{http://purl.oclc.org/ooxml/officeDocument/relationships}id"
_ESCAPE: Final = re.compile("_x([0-9A-Fa-f]{4})_")
"""A character as its code in UTF-16 (ECMA-376 Part 1, 22.9.2.19 "ST_Xstring")."""
_DAMAGE: Final = (
    zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, RuntimeError, NotImplementedError, LookupError,
)  # fmt: skip


def failed(what: str) -> MessageError:
    """Return the error for a file that cannot be read."""
    return MessageError(f"reading an XLSX file: {what}; have it written again")


def _damaged(name: str, error: Exception) -> MessageError:
    return failed(f"its part {name[:80]!r} is damaged ({str(error)[:200]})")


class _PackagePart:
    """A part of a package, read in pieces by a parser, which never sees a DOCTYPE.

    Args:
        file: the part.
        name: its name, for errors.
        size: its decompressed size according to the directory, which may be wrong on purpose.
        report: is called with the size of each piece.
    """

    def __init__(self, file: IO[bytes], name: str, size: int, report: Callable[[int], object]) -> None:
        self._file, self._name, self._left, self._report = file, name, size, report
        self._end = b""

    def read(self, size: int) -> bytes:
        """Return the next piece. Raises MessageError if the part is damaged, or has a DOCTYPE."""
        try:
            piece = self._file.read(size)
        except _DAMAGE as error:
            raise _damaged(self._name, error) from None
        self._report(len(piece))
        self._left -= len(piece)
        if self._left < 0 or (size and not piece and self._left):
            raise failed(f"its part {self._name[:80]!r} does not have the stated size")
        seen = self._end + piece
        if any(mark in seen for mark in _DOCTYPES):
            raise failed(f"its part {self._name[:80]!r} has a DOCTYPE, which is not allowed")
        self._end = seen[-_DOCTYPE_BYTES:]
        return piece


class Package:
    """An XLSX file: its parts by name, which are read as streams.

    Args:
        file: the file, which must stay open.

    Raises:
        MessageError: the file is damaged, too large, or not a workbook.
    """

    def __init__(self, file: IO[bytes]) -> None:
        begin = file.read(len(old_workbooks.MAGIC))
        if begin == old_workbooks.MAGIC:
            raise MessageError(f"reading an XLSX file: {old_workbooks.ADVICE}")
        try:
            self._zip = zipfile.ZipFile(file)
        except _DAMAGE as error:
            raise failed(f"it is damaged ({str(error)[:200]})") from None
        if len(self._zip.infolist()) > _MAX_PARTS:
            raise failed(f"it has more than {_MAX_PARTS:,} parts")
        self._left = 2 * MAX_PART
        self._read_bytes = 0
        self._names = {name.lower(): name for name in reversed(self._zip.namelist())}

    @property
    def done(self) -> float:
        """Return the fraction of the file that has been read."""
        total = sum(one.file_size for one in self._zip.infolist())
        return min(1.0, self._read_bytes / max(total, 1))

    def elements(self, name: str, *tags: str) -> Iterator[etree._Element]:
        """Yield the complete elements with these local names in a part; each is released after its use."""
        found = self._names.get(name.lower())
        if found is None:
            return
        entry = self._zip.getinfo(found)
        if not zip_methods.is_usual(entry):
            raise MessageError(f"reading an XLSX file: its part {name[:80]!r}: {zip_methods.ADVICE}")
        size = entry.file_size
        if size > MAX_PART or size > self._left:
            raise failed(
                f"its part {name[:80]!r} decompresses to {size:,} bytes, more than a workbook of structures needs"
            )
        self._left -= size
        try:
            member = self._zip.open(found)
        except _DAMAGE as error:
            raise _damaged(name, error) from None
        with member:
            yield from self._parsed(_PackagePart(member, name, size, self._count), name, tags)

    def _count(self, size: int) -> None:
        self._read_bytes += size

    def _parsed(self, part: _PackagePart, name: str, tags: Sequence[str]) -> Iterator[etree._Element]:
        try:
            for _, element in etree.iterparse(
                part, tag=[f"{{*}}{tag}" for tag in tags], resolve_entities=False, no_network=True,
                load_dtd=False, huge_tree=False, remove_comments=True, remove_pis=True,
            ):  # fmt: skip
                yield element
                element.clear()
                while element.getprevious() is not None:
                    del element.getparent()[0]
        except etree.XMLSyntaxError as error:
            raise failed(f"its part {name[:80]!r} is not well-formed at line {error.lineno} ({error.msg})") from None

    def sheets(self) -> list[tuple[str, str]]:
        """Return the name and part of each worksheet, in order. Raises MessageError if the file is not a workbook."""
        book = self._target("", "_rels/.rels", "/officeDocument") or "xl/workbook.xml"
        folder, _, file = book.rpartition("/")
        targets = {
            element.get("Id", ""): posixpath.normpath(posixpath.join("/", folder, element.get("Target", ""))).lstrip(
                "/"
            )
            for element in self.elements(f"{folder}/_rels/{file}.rels", "Relationship")
            if element.get("Type", "").endswith(_WORKSHEET)
        }
        found = []
        for sheet in self.elements(book, "sheet"):
            relation = sheet.get(_RELATION) or sheet.get(_STRICT_RELATION) or ""
            if relation in targets:
                found.append((sheet.get("name", ""), targets[relation]))
        if not found:
            raise self._not_a_workbook()
        return found

    def has_dates_since_1904(self) -> bool:
        """Return whether the days of dates are counted from 1904. Raises MessageError."""
        book = self._target("", "_rels/.rels", "/officeDocument") or "xl/workbook.xml"
        return any(element.get("date1904") in {"1", "true"} for element in self.elements(book, "workbookPr"))

    def shared_strings(self) -> list[str]:
        """Return the texts that cells refer to by number, without phonetic runs."""
        return [text_of(element) for element in self.elements("xl/sharedStrings.xml", "si")]

    def _not_a_workbook(self) -> MessageError:
        if "[content_types].xml" in self._names:  # ECMA-376 Part 2 requires it in every package
            return failed("it has no worksheet, so it is not a workbook")
        names = [repr(name[:80]) for name in self._zip.namelist()[:3]]
        more = ", ..." if len(self._names) > len(names) else ""
        return MessageError(
            f"reading a ZIP archive as an XLSX file: it contains {', '.join(names) or 'nothing'}{more} and is not a "
            "workbook; extract it and read its structure messages one by one"
        )

    def _target(self, folder: str, relations: str, kind: str) -> str | None:
        for element in self.elements(relations, "Relationship"):
            if element.get("Type", "").endswith(kind):
                return posixpath.normpath(posixpath.join("/", folder, element.get("Target", ""))).lstrip("/")
        return None


def text_of(element: etree._Element) -> str:
    """Return the text of a shared or inline string."""
    if len(element) == 1 and len(element[0]) == 0:
        return unescaped(element[0].text or "")
    texts = element.xpath(".//*[local-name() = 't'][not(ancestor::*[local-name() = 'rPh'])]/text()")
    return "".join(unescaped(str(text)) for text in texts) if isinstance(texts, list) else ""


def unescaped(text: str) -> str:
    """Return a text with the characters that XML cannot represent, such as a carriage return for ``_x000D_``.

    Half a pair of surrogates, and the character 0, stay as they are written.
    """
    return _ESCAPE.sub(_character, text) if "_x" in text else text


def _character(found: re.Match[str]) -> str:
    code = int(found[1], 16)
    return found[0] if code == 0 or 0xD800 <= code < 0xE000 else chr(code)
