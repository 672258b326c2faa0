"""The one door for bytes: which format they are in, and reading them."""

from __future__ import annotations

from kafka_replica.errors import MessageError
from kafka_replica.sdmx.formats import MAX_BYTES, Format, of_content_type, unpacked
from kafka_replica.sdmx.message import Message
from kafka_replica.sdmx.readers import edi, fusion, markup, ml, sdmx_json, xlsx
from kafka_replica.sdmx.readers.collecting import STRICT, ErrorCollector, OnError
from kafka_replica.sdmx.readers.encodings import by_charset
from kafka_replica.sdmx.readers.json_short import short
from kafka_replica.sdmx.readers.json_tree import JsonMessage, opened

_OBJECT = (b'{"', b"{\n", b"{ ", b"{\r", b"{\t")  # as JSON in UTF-8 begins, and no other encoding of it
_UNZIPPED = 10  # workbooks are zipped XML


def read_message(data: bytes, content_type: str | None = None, *, on_error: OnError = "raise") -> Message:
    """Return the structure message in these bytes, plain or in gzip.

    What the bytes hold decides their format; ``content_type``, a media type, helps only where they leave
    it open, for registries send one edition under the name of another.

    Args:
        data: the message.
        content_type: its media type, if that is known.
        on_error: what an artefact that cannot be read means. ``raise``: its error is raised, so the message gives all
            of its artefacts or none. ``collect``: the message gives the others, and lists this one in ``errors``. A
            message that cannot be read as a whole (not well-formed, no structures) raises its error in both modes.

    Raises:
        MessageError: the message is damaged, hostile, or not a structure message.
        UnreadableContentError: a workbook that holds no structures.
    """
    collector = STRICT if on_error == "raise" else ErrorCollector(on_error)
    if content_type is None and data.startswith(_OBJECT):
        return _json_message(data, None, collector)
    if data[:1] == b"<":
        found = ml.read_short(data)
        if found is not None:
            return found
    kind, plain = kind_of(data, content_type)
    if kind == "xml":
        return markup.read_message(plain, collector)
    if kind == "edi":
        return edi.read_message(plain, collector)
    if kind == "xlsx":
        return xlsx.read_message(plain, collector)
    return _json_message(plain, content_type, collector)


def _json_message(plain: bytes, content_type: str | None, collector: ErrorCollector) -> Message:
    claimed = of_content_type(content_type) if content_type else None
    # A guess; the short way declines where it is wrong. Lists end the one, an object with lists the other.
    end = plain[-3:]
    is_fusion = end != b"]}}" and (end[1:] == b"]}" or plain.find(b'"data"', 0, 4096) < 0)
    found = short(fusion.read_short if is_fusion else sdmx_json.read_short, plain, claimed)
    if found is not None:
        return found
    message = opened(plain, claimed)
    if message.format is Format.FUSION_JSON:
        return fusion.read_message(message, collector)
    return sdmx_json.read_message(message, collector)


def kind_of(data: bytes, content_type: str | None) -> tuple[str, bytes]:
    """``xml``, ``json``, ``edi`` or ``xlsx``, and the bytes unpacked. Raises MessageError."""
    plain = unpacked(data)
    if content_type:
        plain = by_charset(plain, content_type)
    start = plain[:64]
    if start[:1].isspace():
        stripped = plain.lstrip()
        start = stripped[:64]
        # Nothing may stand before a declaration of XML; before all else blanks stay, so that errors tell lines.
        plain = stripped if start.startswith(b"<?xml") else plain
    if start.startswith(b"<"):
        return "xml", plain
    if start.startswith((b"{", b"[")):
        return "json", plain
    if start.startswith((b"UNA", b"UNB+", b"UNH+")):
        return "edi", plain
    if start.startswith(b"PK\x03\x04"):
        return "xlsx", plain
    claim = f" (its content type is {content_type[:80]!r})" if content_type else ""
    seen = f"it begins with {start[:20]!r}" if start else "it is empty"
    raise MessageError(f"reading a structure message{claim}: {seen}, which is no format of SDMX")


def opened_json(plain: bytes, content_type: str | None) -> JsonMessage:
    """The outermost levels of a JSON message. Raises MessageError."""
    return opened(plain, of_content_type(content_type) if content_type else None)


def size_of(data: bytes) -> int:
    """About how many bytes a message has when it is unpacked. Unpacks nothing."""
    if data[:2] == b"\x1f\x8b":  # gzip says it at its end (RFC 1952, ISIZE)
        return max(len(data), min(int.from_bytes(data[-4:], "little"), MAX_BYTES))
    return len(data) * (_UNZIPPED if data[:2] == b"PK" else 1)
