"""The one door for bytes: which format they are in, and reading them."""

from __future__ import annotations

from kafka_replica.errors import MessageError, UnreadableContentError
from kafka_replica.sdmx import fusion, ml
from kafka_replica.sdmx.formats import Format, of_content_type, unpacked
from kafka_replica.sdmx.json_tree import JsonMessage, opened
from kafka_replica.sdmx.message import Message


def read_message(data: bytes, content_type: str | None = None) -> Message:
    """The structure message in these bytes, plain or in gzip.

    What the bytes hold decides their format; ``content_type``, a media type, helps only where they leave
    it open, for registries send one edition under the name of another.

    Raises:
        MessageError: damaged, hostile, or not a structure message.
        UnreadableContentError: a format of SDMX that this version recognises but does not read.
    """
    kind, plain = kind_of(data, content_type)
    if kind == "xml":
        return ml.read_message(plain)
    message = opened_json(plain, content_type)
    if message.format is not Format.FUSION_JSON:
        raise unreadable(message.format)
    return fusion.read_message(message)


def kind_of(data: bytes, content_type: str | None) -> tuple[str, bytes]:
    """``xml`` or ``json``, and the bytes unpacked. Raises MessageError, UnreadableContentError."""
    plain = unpacked(data)
    start = plain[:64].lstrip()
    if start.startswith(b"<"):
        return "xml", plain
    if start.startswith((b"{", b"[")):
        return "json", plain
    if start.startswith((b"UNA", b"UNB+")):
        raise unreadable(Format.EDI)
    if start.startswith(b"PK\x03\x04"):
        raise unreadable(Format.XLSX)
    # The first 64 bytes may be blank.
    stripped = plain.lstrip()
    if start != stripped[:64] and stripped[:1] in {b"<", b"{"}:
        return ("xml" if stripped[:1] == b"<" else "json"), stripped
    claim = f" (its content type is {content_type[:80]!r})" if content_type else ""
    seen = "it is empty" if not stripped else f"it begins with {stripped[:20]!r}"
    raise MessageError(f"reading a structure message{claim}: {seen}, which is no format of SDMX")


def opened_json(plain: bytes, content_type: str | None) -> JsonMessage:
    """The outermost levels of a JSON message. Raises MessageError."""
    return opened(plain, of_content_type(content_type) if content_type else None)


def unreadable(format_: Format) -> UnreadableContentError:
    """The error for a format that is recognised and not read."""
    return UnreadableContentError(
        f"reading {format_.title}: this version reads Fusion-JSON and SDMX-ML 2.1, 3.0 and 3.1; the bytes are kept"
    )
