"""Formats: their names, their media types, and the detection of a format. This module does not parse."""

from __future__ import annotations

import re
import zlib
from enum import StrEnum
from functools import lru_cache
from typing import Final

from kafka_replica.sdmx.errors import MessageError
from kafka_replica.sdmx.messages.encodings import as_utf8

MAX_BYTES: Final = 256 * 1024 * 1024
"""The maximum size of a decompressed message, in bytes."""

_MAX_GZIPS: Final = 2  # a gzip file, within the gzip encoding of the transport


class Format(StrEnum):
    """The supported formats; the value is the media type."""

    FUSION_JSON = "application/vnd.fusion.json"
    SDMX_ML_1_0 = "application/vnd.sdmx.structure+xml;version=1.0"
    SDMX_ML_2_0 = "application/vnd.sdmx.structure+xml;version=2.0"
    SDMX_ML_2_1 = "application/vnd.sdmx.structure+xml;version=2.1"
    SDMX_ML_3_0 = "application/vnd.sdmx.structure+xml;version=3.0.0"
    SDMX_ML_3_1 = "application/vnd.sdmx.structure+xml;version=3.1.0"
    SDMX_JSON_1_0 = "application/vnd.sdmx.structure+json;version=1.0"
    SDMX_JSON_2_0 = "application/vnd.sdmx.structure+json;version=2.0.0"
    SDMX_JSON_2_1 = "application/vnd.sdmx.structure+json;version=2.1.0"
    EDI = "application/vnd.sdmx.structure;version=edi"
    XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"

    @property
    def title(self) -> str:  # type: ignore[override]
        """The display name: ``SDMX-ML 2.1``."""
        return _TITLES[self]


_TITLES: Final = {
    Format.FUSION_JSON: "Fusion-JSON",
    **{member: member.name.replace("_", "-", 1).replace("_", " ", 1).replace("_", ".")
       for member in Format if member.name.startswith("SDMX_")},
    Format.EDI: "SDMX-EDI",
    Format.XLSX: "XLSX",
}  # fmt: skip

_ML: Final = {"1.0": Format.SDMX_ML_1_0, "2.0": Format.SDMX_ML_2_0, "2.1": Format.SDMX_ML_2_1,
              "3.0": Format.SDMX_ML_3_0, "3.1": Format.SDMX_ML_3_1}  # fmt: skip
_JSON: Final = {"1.0": Format.SDMX_JSON_1_0, "2.0": Format.SDMX_JSON_2_0, "2.1": Format.SDMX_JSON_2_1}

_NAMESPACE = re.compile(r"https?://www\.sdmx\.org/resources/sdmxml/schemas/v([0-9])_([0-9])/").match


def of_namespace(namespace: str) -> Format | None:
    """Return the SDMX-ML format of a namespace, or None: ``.../schemas/v2_1/message`` -> SDMX-ML 2.1."""
    found = _NAMESPACE(namespace.lower())
    return _ML.get(f"{found[1]}.{found[2]}") if found else None


@lru_cache(maxsize=64)
def is_mistyped(namespace: str) -> bool:
    """Return whether a namespace resembles those of SDMX-ML, and is not one of them."""
    return "sdmx.org/resources/sdmxml" in namespace.lower() and of_namespace(namespace) is None


def of_json_schema(text: str) -> Format | None:
    """Return the SDMX-JSON format of a header's ``schema`` address, or None."""
    found = re.search(r"(?:structure|metadata)[/-]", text) and re.search(r"([12]\.[01])(\.[0-9]+)?", text)
    return _JSON.get(found[1]) if found else None


def of_content_type(text: str | bytes) -> Format | None:
    """Return the format of a media type, regardless of case and spaces; None if it is not a media type of SDMX.

    ``application/vnd.sdmx.structure+xml`` without a version is SDMX-ML 2.1, as SDMX REST 1.x defines; SDMX-JSON without
    a version is 2.0. ``application/vnd.sdmx.json`` and ``application/vnd.xlsx`` are names that registries use. Plain
    ``application/xml`` and ``application/json`` do not determine a format.
    """
    if isinstance(text, bytes):
        text = text.decode("latin-1")
    essence, _, rest = text.lower().partition(";")
    essence = re.sub(r"\s", "", essence)
    version = None
    for parameter in rest.split(";"):
        name, _, value = parameter.partition("=")
        if name.strip() == "version":
            version = value.strip().strip('"')
    if essence == "application/vnd.fusion.json":
        return Format.FUSION_JSON
    if essence in {Format.XLSX, "application/vnd.xlsx"}:
        return Format.XLSX
    if essence == "application/vnd.sdmx.structure+xml":
        return _ML.get((version or "2.1")[:3])
    if essence in {"application/vnd.sdmx.structure+json", "application/vnd.sdmx.json"}:
        return _JSON.get((version or "2.0")[:3])
    if essence == "application/vnd.sdmx.structure+edi" or (
        essence == "application/vnd.sdmx.structure" and version == "edi"
    ):
        return Format.EDI
    return None


def unpacked(data: bytes) -> bytes:
    """Return the bytes without gzip compression and byte order mark; convert UTF-16 and UTF-32 to UTF-8.

    Raises:
        MessageError: the gzip data is damaged, or expands to more than :data:`MAX_BYTES`; or the encoding is invalid.
    """
    for _ in range(_MAX_GZIPS):
        if data[:2] == b"\x1f\x8b":
            data = _gunzipped(data)
    return as_utf8(data)


def _gunzipped(data: bytes) -> bytes:
    done: list[bytes] = []
    room = MAX_BYTES
    while data:
        inflater = zlib.decompressobj(wbits=31)
        try:
            done.append(inflater.decompress(data, room + 1))
        except zlib.error as error:
            raise MessageError(f"unpacking a gzip message: it is damaged ({error}); publish it again") from None
        room -= len(done[-1])
        if room < 0:
            raise MessageError(f"unpacking a gzip message: it decompresses to more than {MAX_BYTES} bytes")
        if not inflater.eof:
            raise MessageError("unpacking a gzip message: it is truncated; publish it again")
        data = inflater.unused_data.lstrip(b"\0")
    return b"".join(done)
