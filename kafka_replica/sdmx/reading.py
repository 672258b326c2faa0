"""The one door for bytes: which format they are in, and reading them."""

from __future__ import annotations

from kafka_replica.errors import MessageError
from kafka_replica.sdmx import edi, fusion, markup, sdmx_json, xlsx
from kafka_replica.sdmx.formats import Format, of_content_type, unpacked
from kafka_replica.sdmx.json_tree import JsonMessage, opened
from kafka_replica.sdmx.message import Message


def read_message(data: bytes, content_type: str | None = None) -> Message:
    """The structure message in these bytes, plain or in gzip.

    What the bytes hold decides their format; ``content_type``, a media type, helps only where they leave
    it open, for registries send one edition under the name of another.

    Raises:
        MessageError: damaged, hostile, or not a structure message.
        UnreadableContentError: a workbook that holds no structures.
    """
    kind, plain = kind_of(data, content_type)
    if kind == "xml":
        return markup.read_message(plain)
    if kind == "edi":
        return edi.read_message(plain)
    if kind == "xlsx":
        return xlsx.read_message(plain)
    message = opened_json(plain, content_type)
    if message.format is Format.FUSION_JSON:
        return fusion.read_message(message)
    return sdmx_json.read_message(message)


def kind_of(data: bytes, content_type: str | None) -> tuple[str, bytes]:
    """``xml``, ``json``, ``edi`` or ``xlsx``, and the bytes unpacked. Raises MessageError."""
    plain = unpacked(data)
    start = plain[:64].lstrip()
    if start.startswith(b"<"):
        return "xml", plain
    if start.startswith((b"{", b"[")):
        return "json", plain
    if start.startswith((b"UNA", b"UNB+")):
        return "edi", plain
    if start.startswith(b"PK\x03\x04"):
        return "xlsx", plain
    # The first 64 bytes may be blank.
    stripped = plain.lstrip()
    if start != stripped[:64] and stripped.startswith((b"<", b"{", b"UNA", b"UNB+")):
        return kind_of(stripped, content_type)
    claim = f" (its content type is {content_type[:80]!r})" if content_type else ""
    seen = "it is empty" if not stripped else f"it begins with {stripped[:20]!r}"
    raise MessageError(f"reading a structure message{claim}: {seen}, which is no format of SDMX")


def opened_json(plain: bytes, content_type: str | None) -> JsonMessage:
    """The outermost levels of a JSON message. Raises MessageError."""
    return opened(plain, of_content_type(content_type) if content_type else None)
