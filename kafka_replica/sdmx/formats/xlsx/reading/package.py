"""The parts of an XLSX file, read securely: sizes are limited before decompression, and DTDs are rejected.

Source: ECMA-376 Part 2 (Open Packaging Conventions) and Part 1, "SpreadsheetML". A spreadsheet library would also read
styles, charts and formulas, which are not needed; the needed part is small.
"""

from __future__ import annotations

import io
import posixpath
import zipfile
import zlib
from collections.abc import Iterator
from typing import Final

from lxml import etree

from kafka_replica.sdmx.errors import MessageError
from kafka_replica.sdmx.formats.xlsx import old_workbooks

MAX_PART: Final = 64 << 20
"""The maximum decompressed size of a part in bytes; all parts together may have twice as many."""

_MAX_PARTS: Final = 10_000
_WORKSHEET: Final = "/worksheet"
_RELATION: Final = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_STRICT_RELATION: Final = "{http://purl.oclc.org/ooxml/officeDocument/relationships}id"
_DAMAGE: Final = (
    zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, RuntimeError, NotImplementedError, LookupError,
)  # fmt: skip


def failed(what: str) -> MessageError:
    """Return the error for a file that cannot be read."""
    return MessageError(f"reading an XLSX file: {what}; have it written again")


class Package:
    """An XLSX file: its parts by name.

    Raises:
        MessageError: the file is damaged, too large, or not a workbook.
    """

    def __init__(self, data: bytes) -> None:
        if data.startswith(old_workbooks.MAGIC):
            raise MessageError(f"reading an XLSX file: {old_workbooks.ADVICE}")
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        except _DAMAGE as error:
            raise failed(f"it is damaged ({str(error)[:200]})") from None
        if len(self._zip.infolist()) > _MAX_PARTS:
            raise failed(f"it has more than {_MAX_PARTS:,} parts")
        self._left = 2 * MAX_PART
        self._names = {name.lower(): name for name in reversed(self._zip.namelist())}

    def part(self, name: str) -> bytes | None:
        """Return the bytes of a part, or None if no part has this name; case is ignored."""
        found = self._names.get(name.lower())
        if found is None:
            return None
        size = self._zip.getinfo(found).file_size
        if size > MAX_PART or size > self._left:
            raise failed(
                f"its part {name[:80]!r} decompresses to {size:,} bytes, more than a workbook of structures needs"
            )
        self._left -= size
        try:
            with self._zip.open(found) as part:
                # The size in the directory may be wrong on purpose.
                read = part.read(size + 1)
        except _DAMAGE as error:
            raise failed(f"its part {name[:80]!r} is damaged ({str(error)[:200]})") from None
        if len(read) != size:
            raise failed(f"its part {name[:80]!r} does not have the stated size")
        return read

    def elements(self, name: str, *tags: str) -> Iterator[etree._Element]:
        """Yield the complete elements with these local names in a part; each is released after its use."""
        data = self.part(name)
        if data is None:
            return
        if b"<!DOCTYPE" in data or b"<\0!\0D\0O\0C" in data or b"\0<\0!\0D\0O\0C" in data:
            raise failed(f"its part {name[:80]!r} has a DOCTYPE, which is not allowed")
        try:
            for _, element in etree.iterparse(
                io.BytesIO(data), tag=[f"{{*}}{tag}" for tag in tags], resolve_entities=False, no_network=True,
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
            one.get("Id", ""): posixpath.normpath(posixpath.join("/", folder, one.get("Target", ""))).lstrip("/")
            for one in self.elements(f"{folder}/_rels/{file}.rels", "Relationship")
            if one.get("Type", "").endswith(_WORKSHEET)
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
        return any(one.get("date1904") in {"1", "true"} for one in self.elements(book, "workbookPr"))

    def shared_strings(self) -> list[str]:
        """Return the texts that cells refer to by number, without phonetic runs."""
        return [text_of(one) for one in self.elements("xl/sharedStrings.xml", "si")]

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
        for one in self.elements(relations, "Relationship"):
            if one.get("Type", "").endswith(kind):
                return posixpath.normpath(posixpath.join("/", folder, one.get("Target", ""))).lstrip("/")
        return None


def text_of(element: etree._Element) -> str:
    """Return the text of a shared or inline string."""
    if len(element) == 1 and len(element[0]) == 0:
        return element[0].text or ""
    texts = element.xpath(".//*[local-name() = 't'][not(ancestor::*[local-name() = 'rPh'])]/text()")
    return "".join(str(text) for text in texts) if isinstance(texts, list) else ""
