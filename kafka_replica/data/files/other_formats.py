"""Recognize, by its first bytes, data in another format than its name suggests, and explain what to do."""

from __future__ import annotations

import re
from typing import Final

from kafka_replica.data.errors import DatasetError
from kafka_replica.data.files.arrow_messages import ARROW_FILE
from kafka_replica.sdmx.formats.xlsx import old_workbooks
from kafka_replica.sdmx.messages.root_element import has_structure_root

_BYTES: Final = (
    (b"PAR1", "it is Parquet, not CSV; name it *.parquet"),
    (ARROW_FILE, "it is Arrow IPC, not CSV; name it *.arrow"),
    (b"PK\x03\x04", "it is a workbook or an archive, not CSV; name it *.xlsx or *.zip"),
    (old_workbooks.MAGIC, f"it is not CSV: {old_workbooks.ADVICE}"),
)
_TEXTS: Final = (
    (r"<\?xml|<!--|</?[A-Za-z_]", "it is XML, not CSV; name it *.xml"),
    (r'\{\s*["}]', "it is JSON, not CSV; name it *.json"),
    (
        r"\[\s*[\[{]",
        "it is JSON, not CSV, and not an SDMX-JSON message, which begins with a brace; export it as SDMX-CSV",
    ),
    (r"UNA:\+|UNB\+", "it is SDMX-EDI, not CSV; name it *.edi"),
)
_PAGE: Final = re.compile(
    r"<!doctype html|(?:<\?xml[^>]*>\s*|<!--(?:(?!-->).)*-->\s*|<!doctype[^>]*>\s*)*<html", re.IGNORECASE | re.DOTALL
)
_DOCUMENT_TYPE: Final = re.compile(
    rb"\s*+(?>(?:(?:<\?.*?\?>|<!--.*?-->)\s*+)*)<!DOCTYPE\s[^<>\[]*+(?:\[.*?\]\s*+)?>", re.DOTALL
)
_STRUCTURE_JSON: Final = re.compile(rb'\s*+\{.*?"schema"\s*+:\s*+"[^"]*sdmx-json-structure-schema', re.DOTALL)


def is_structure_message(head: bytes) -> bool:
    """Return whether data is a structure message of SDMX-ML, or one of SDMX-JSON that names its schema.

    A document type, with which messages are refused, does not matter here.

    Args:
        head: the first bytes.
    """
    start = head.lstrip(b"\xef\xbb\xbf\xff\xfe").replace(b"\0", b"")
    declared = _DOCUMENT_TYPE.match(start)
    if declared is not None:
        start = start[declared.end() :]
    return has_structure_root(start) or _STRUCTURE_JSON.match(start) is not None


def check_is_csv(head: bytes, start: str, where: str) -> None:
    """Check that the beginning of data does not show another format than CSV.

    Args:
        head: the first bytes.
        start: the first bytes as text.
        where: the file, for errors.

    Raises:
        DatasetError: the data has another format; the message says what to do.
    """
    check_no_page(start, where)
    found = [what for mark, what in _BYTES if head.startswith(mark)]
    found += [what for form, what in _TEXTS if re.match(form, start.lstrip())]
    if found:
        raise DatasetError(f"reading {where}: {found[0]}")


def check_no_page(start: str, where: str) -> None:
    """Check that a text is not a web page, such as one that reports an error instead of data.

    Raises:
        DatasetError: the text is a web page.
    """
    if _PAGE.match(start.lstrip()):
        raise DatasetError(
            f"reading {where}: it is an HTML page, not data; it may report an error or ask for a login. Open it in a "
            "browser, and download the data again"
        )


def encoding_in_words(start: str) -> str:
    """Return a description of a text with NUL characters, which a text in the right encoding does not have.

    Args:
        start: the beginning of the text, decoded as if each byte were a character.
    """
    width = 32 if "\0\0" in start else 16
    order = "be" if start.startswith("\0") else "le"
    return (
        f"it has NUL characters, as UTF-{width} without a byte order mark does; give its encoding (encoding=, or "
        f"--encoding), here utf-{width}{order}"
    )
